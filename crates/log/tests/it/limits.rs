//! Limits: of batches, clients and refusals.

use purlin_log::simulated::Disk;
use purlin_log::{Block, Client, Error, Options, Record, Refusal};

use crate::common::{Part, commit, message, open, read};

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
