//! Limits: of batches, clients and refusals.

use purlin_log::simulated::Disk;
use purlin_log::{Block, Client, Error, Log, Options, Record, Refusal, repair_to};

use crate::common::{Part, commit, message, open, read, storage};

fn part(client: [u8; 16], epoch: u64, ids: &[u64], refused: &[u64]) -> Part {
    let messages = ids.iter().map(|id| (*id, b"hello".to_vec())).collect();
    let refused = refused.iter().map(|id| Refusal { id: *id, reason: 1 }).collect();
    Part { client: Some(Client { id: client, epoch }), messages, refused }
}

#[test]
fn block_of_incomplete_messages_is_refused_and_the_log_goes_on() {
    let mut log = open(&Disk::new(1), &Options::default()).expect("it is new");
    let whole = message(0, b"hello");
    for cut in 1..whole.len() {
        let block = Block { messages: &whole[..cut], ..Block::default() };
        let refused = log.commit(&[block], true);
        assert!(matches!(refused, Err(Error::Malformed)), "{cut}: {refused:?}");
    }
    log.commit(&[Block { messages: &whole, ..Block::default() }], true).expect("it is whole");
    assert_eq!(read(&log).expect("it is whole").len(), 1);
}

#[test]
fn later_epoch_replaces_the_position_and_an_earlier_one_is_ignored() {
    let disk = Disk::new(1);
    let options = Options::default();
    let mut log = open(&disk, &options).expect("it is new");
    let id = [1; 16];
    commit(&mut log, &[part(id, 1, &[0, 1, 3], &[2])], true).expect("it works");
    let position = log.position(id).expect("it works").expect("it is known");
    assert_eq!((position.epoch, position.newest, position.refused.len()), (1, 3, 1));
    commit(&mut log, &[part(id, 2, &[0], &[])], true).expect("it works");
    commit(&mut log, &[part(id, 1, &[4], &[])], true).expect("it works");
    let due = log.position(id).expect("it works").expect("it is known");
    assert_eq!((due.epoch, due.newest, due.refused.len()), (2, 0, 0));
    let mut log = open(&disk.kill(), &options).expect("it is whole");
    assert_eq!(log.position(id).expect("it works"), Some(due));
}

#[test]
fn message_of_a_session_is_stored_once() {
    let disk = Disk::new(1);
    // WHY one byte: each batch is in a separate segment, and a checkpoint precedes it.
    let options = Options { segment_bytes: 1, ..Options::default() };
    let mut log = open(&disk, &options).expect("it is new");
    let id = [1; 16];
    commit(&mut log, &[part(id, 1, &[0, 1], &[])], true).expect("it works");
    // Two connections have sent the same messages: in one batch, and in another one.
    let both = [part(id, 1, &[1, 2], &[3]), part(id, 1, &[2, 4], &[3])];
    commit(&mut log, &both, true).expect("it works");
    commit(&mut log, &[part(id, 1, &[2, 4], &[3])], true).expect("it works");
    commit(&mut log, &[part(id, 2, &[0], &[]), part(id, 2, &[0], &[])], true).expect("it works");
    // Messages without a session have any ids.
    let other = [Part { client: None, ..part(id, 2, &[0, 0], &[]) }];
    commit(&mut log, &other, true).expect("it works");
    for mut log in [log, open(&disk.kill(), &options).expect("it is whole")] {
        let position = log.position(id).expect("it works").expect("it is known");
        assert_eq!((position.epoch, position.newest), (2, 0));
        let records = read(&log).expect("it is whole");
        let epoch = |record: &Record| record.client.map(|client| client.epoch);
        let ids: Vec<_> = records.iter().map(|record| (epoch(record), record.id)).collect();
        let [one, two] = [Some(1), Some(2)];
        assert_eq!(ids, [(one, 0), (one, 1), (one, 2), (one, 4), (two, 0), (None, 0), (None, 0)]);
        assert!(records.iter().map(|record| record.sequence).eq(0..7));
    }
}

#[test]
fn refusal_of_a_message_is_stored_once() {
    let mut log = open(&Disk::new(1), &Options::default()).expect("it is new");
    let refused = || part([1; 16], 1, &[], &[0, 1]);
    commit(&mut log, &[refused(), refused()], true).expect("it works");
    commit(&mut log, &[refused()], true).expect("it works");
    let position = log.position([1; 16]).expect("it works").expect("it is known");
    assert_eq!(position.refused.iter().map(|one| one.id).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn block_without_messages_and_refusals_changes_no_position() {
    let (disk, options) = (Disk::new(1), Options::default());
    let mut log = open(&disk, &options).expect("it is new");
    let (unknown, known) = ([1; 16], [2; 16]);
    commit(&mut log, &[part(known, 1, &[0, 7], &[])], true).expect("it works");
    let empty = [part(unknown, 1, &[], &[]), part(known, 2, &[], &[])];
    commit(&mut log, &empty, true).expect("it works");
    for mut log in [log, open(&disk.kill(), &options).expect("it is whole")] {
        assert_eq!(log.position(unknown).expect("it works"), None);
        let position = log.position(known).expect("it works").expect("it is known");
        assert_eq!((position.epoch, position.newest), (1, 7));
    }
}

#[test]
fn refusals_below_the_window_are_forgotten() {
    let mut log = open(&Disk::new(1), &Options::default()).expect("it is new");
    let id = [1; 16];
    commit(&mut log, &[part(id, 1, &[], &[0, 1 << 20])], true).expect("it works");
    commit(&mut log, &[part(id, 1, &[(1 << 20) + 1], &[])], true).expect("it works");
    let position = log.position(id).expect("it works").expect("it is known");
    assert_eq!(position.refused.iter().map(|one| one.id).collect::<Vec<_>>(), [1 << 20]);
}

#[test]
fn least_recently_written_clients_are_forgotten_first() {
    let options = Options { clients: 16, ..Options::default() };
    let mut log = open(&Disk::new(1), &options).expect("it is new");
    for client in 0..100_u8 {
        // The first client is written again and again.
        commit(&mut log, &[part([client; 16], 1, &[0], &[])], true).expect("it works");
        commit(&mut log, &[part([0; 16], 1, &[u64::from(client)], &[])], true).expect("it works");
    }
    let mut known = |client| log.position([client; 16]).expect("it works").is_some();
    assert!(known(0) && known(99) && known(90) && !known(80) && !known(1));
}

/// Requires that these clients are known, and no others, with the same positions when the log is opened
/// again, after a crash and after a close.
fn require_known(mut log: Log, disk: &Disk, options: &Options, due: &[u8]) {
    let positions = |log: &mut Log| {
        let all = (0..=u8::MAX).map(|id| (id, log.position([id; 16]).expect("it works")));
        all.filter_map(|(id, position)| Some((id, position?))).collect::<Vec<_>>()
    };
    let known = positions(&mut log);
    assert_eq!(known.iter().map(|(id, _)| *id).collect::<Vec<_>>(), due);
    let mut log = open(&disk.kill(), options).expect("it is whole");
    assert_eq!(positions(&mut log), known, "after a crash");
    let disk = disk.kill();
    open(&disk, options).expect("it is whole").close().expect("it works");
    let mut log = open(&disk.kill(), options).expect("it is whole");
    assert_eq!(positions(&mut log), known, "after a close");
}

/// Options of a log that remembers eight clients.
fn eight() -> Options {
    Options { clients: 8, ..Options::default() }
}

#[test]
fn client_of_the_last_commit_is_remembered_if_no_commit_has_a_message() {
    let (disk, options) = (Disk::new(1), eight());
    let mut log = open(&disk, &options).expect("it is new");
    // WHY descending: the order of the commits decides, not that of the ids.
    for client in (1..10).rev() {
        commit(&mut log, &[part([client; 16], 1, &[], &[0])], true).expect("it works");
    }
    // One more than allowed, and an eighth.
    require_known(log, &disk, &options, &[1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn message_after_the_refusals_of_other_clients_is_stored_once() {
    let (disk, options) = (Disk::new(1), eight());
    let mut log = open(&disk, &options).expect("it is new");
    for client in (2..10).rev() {
        commit(&mut log, &[part([client; 16], 1, &[], &[0])], true).expect("it works");
    }
    for _ in 0..2 {
        commit(&mut log, &[part([1; 16], 1, &[0], &[])], true).expect("it works");
    }
    let records = read(&log).expect("it is whole");
    assert_eq!(records.iter().map(|record| record.id).collect::<Vec<_>>(), [0]);
    require_known(log, &disk, &options, &[1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn clients_of_a_commit_with_more_than_the_limit_are_remembered_until_the_next_one() {
    let (disk, options) = (Disk::new(1), eight());
    let mut log = open(&disk, &options).expect("it is new");
    commit(&mut log, &[part([0; 16], 1, &[0], &[])], true).expect("it works");
    let all: Vec<Part> = (1..12).map(|client| part([client; 16], 1, &[0], &[])).collect();
    commit(&mut log, &all, true).expect("it works");
    let all: Vec<u8> = (1..12).collect();
    require_known(log, &disk, &options, &all);
    // The same if the clients are in a checkpoint.
    let disk = disk.kill();
    open(&disk, &options).expect("it is whole").close().expect("it works");
    let mut log = open(&disk, &options).expect("it is whole");
    commit(&mut log, &[part([0; 16], 1, &[0], &[])], true).expect("it works");
    require_known(log, &disk, &options, &[0, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn first_commit_after_a_repair_applies_the_limit_of_the_log() {
    let (disk, target) = (Disk::new(1), Disk::new(2));
    let mut log = open(&disk, &Options { clients: 16, ..eight() }).expect("it is new");
    for client in 1..13 {
        commit(&mut log, &[part([client; 16], 1, &[], &[0])], true).expect("it works");
    }
    repair_to(&storage(&disk), &storage(&target)).expect("the target is empty");
    let log = open(&target, &eight()).expect("it is whole");
    let all: Vec<u8> = (1..13).collect();
    require_known(log, &target, &eight(), &all);
    let target = target.kill();
    let mut log = open(&target, &eight()).expect("it is whole");
    commit(&mut log, &[part([0; 16], 1, &[], &[0])], true).expect("it works");
    require_known(log, &target, &eight(), &[0, 7, 8, 9, 10, 11, 12]);
}
