//! Which segments are removed.

use std::sync::Arc;
use std::time::Duration;

use purlin_log::simulated::{Disk, Fault};
use purlin_log::storage::{Folder, Storage};
use purlin_log::{Client, Error, Log, Options, Reader, Retention};

use crate::common::{Part, commit, open, read, storage};

fn send(log: &mut Log, id: u64) {
    send_as(log, id, true);
}

fn send_as(log: &mut Log, id: u64, durable: bool) {
    let client = Some(Client { id: [1; 16], epoch: 1 });
    let part = Part { client, messages: vec![(id, vec![0; 100])], refused: Vec::new() };
    commit(log, &[part], durable).expect("it works");
}

fn options(retention: Retention) -> Options {
    Options { segment_bytes: 1000, retention, ..Options::default() }
}

fn oldest(log: &Log) -> u64 {
    read(log).expect("it is whole")[0].sequence
}

#[test]
fn nothing_is_removed_by_default() {
    let mut log = open(&Disk::new(1), &options(Retention::default())).expect("it is new");
    (0..200).for_each(|id| send(&mut log, id));
    assert_eq!(oldest(&log), 0);
}

#[test]
fn oldest_segments_are_removed_above_the_size_and_the_client_is_remembered() {
    let disk = Disk::new(1);
    let options = options(Retention { bytes: Some(5000), ..Retention::default() });
    let mut log = open(&disk, &options).expect("it is new");
    (0..200).for_each(|id| send(&mut log, id));
    let names = disk.names().expect("it works").into_iter();
    let segments = names.filter(|name| name.ends_with(".log")).count();
    assert!((3..=6).contains(&segments) && oldest(&log) > 100, "{segments}");
    let mut log = open(&disk.kill(), &options).expect("it is whole");
    let position = log.position([1; 16]).expect("it works").expect("it is remembered");
    assert_eq!(position.newest, 199);
}

#[test]
fn segments_are_begun_and_removed_by_age() {
    let disk = Disk::new(1);
    let age = Some(Duration::from_secs(10));
    let retention = Retention { age, ..Retention::default() };
    let options = Options { segment_age: Some(Duration::from_secs(1)), ..options(retention) };
    let mut log = open(&disk, &options).expect("it is new");
    for id in 0..30 {
        send(&mut log, id);
        disk.advance(1000);
    }
    // Each segment holds one record; those of the last ten seconds are kept.
    assert!((17..=19).contains(&oldest(&log)), "{}", oldest(&log));
}

#[test]
fn segment_is_kept_until_its_records_are_confirmed() {
    let disk = Disk::new(1);
    for bytes in [None, Some(1)] {
        let options = options(Retention { confirmed: true, bytes, ..Retention::default() });
        let mut log = open(&disk, &options).expect("it is whole");
        let first = log.next_sequence();
        (0..50).for_each(|id| send(&mut log, first + id));
        let before = oldest(&log);
        assert!(before <= first);
        let mut reader = log.reader(first).expect("it works");
        for _ in 0..30 {
            reader.next().expect("it is whole").expect("it is there");
        }
        // A reader does not confirm what it has not read.
        reader.confirm(u64::MAX).expect("it works");
        (50..70).for_each(|id| send(&mut log, first + id));
        let after = oldest(&log);
        assert!(after > first + 20 && after <= first + 30, "{after}");
    }
    // A damaged confirmation confirms nothing.
    disk.store("confirmed", vec![0xff; 12]);
    let disk = disk.kill();
    let options = options(Retention { confirmed: true, ..Retention::default() });
    let mut log = open(&disk, &options).expect("it is whole");
    let before = oldest(&log);
    (0..50).for_each(|id| send(&mut log, 140 + id));
    assert_eq!(oldest(&log), before);
}

#[test]
fn confirmation_of_records_that_a_power_loss_has_removed_does_not_cover_later_ones() {
    let mut removed = 0;
    for seed in 0..20 {
        let disk = Disk::new(seed);
        let options = options(Retention { confirmed: true, ..Retention::default() });
        let mut log = open(&disk, &options).expect("it is new");
        (0..3).for_each(|id| send(&mut log, id));
        (3..6).for_each(|id| send_as(&mut log, id, false));
        let mut reader = Reader::open_on(storage(&disk), 0).expect("it works");
        while reader.next().expect("it is whole").is_some() {}
        reader.confirm(6).expect("it works");
        drop(log);
        let disk = disk.power_loss();
        let log = open(&disk, &options).expect("a crash damages nothing");
        let next = log.next_sequence();
        removed += 6 - next;
        let confirmed = log.reader(0).and_then(|reader| reader.confirmed()).expect("it works");
        assert_eq!(confirmed, next);
    }
    assert!(removed > 0);
}

/// Appends this number of records to a new log, and returns it with readers that have read all.
fn read_twice(storage: &Arc<dyn Storage>, records: u64) -> (Log, [Reader; 2]) {
    let mut log = Log::open_on(Arc::clone(storage), Options::default()).expect("it is new");
    (0..records).for_each(|id| send_as(&mut log, id, false));
    log.sync().expect("it works");
    let readers = [(); 2].map(|()| {
        let mut reader = Reader::open_on(Arc::clone(storage), 0).expect("it works");
        while reader.next().expect("it is whole").is_some() {}
        reader
    });
    (log, readers)
}

#[test]
fn confirmation_of_a_reader_does_not_move_that_of_another_one_back() {
    let (_log, [first, second]) = read_twice(&storage(&Disk::new(1)), 20);
    first.confirm(10).expect("it works");
    second.confirm(5).expect("it works");
    assert_eq!(first.confirmed().expect("it is whole"), 10);
    second.confirm(11).expect("it works");
    assert_eq!(first.confirmed().expect("it is whole"), 11);
}

#[test]
fn concurrent_confirmations_succeed_and_the_position_never_falls() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = Arc::new(Folder::existing(folder.path()).expect("it is there"));
    // WHY fewer in the file system: each confirmation waits for the disk.
    for (storage, records) in [(storage(&Disk::new(1)), 1000), (files as Arc<dyn Storage>, 100)] {
        let (log, readers) = read_twice(&storage, records);
        let confirm_all = |reader: &Reader| {
            let mut last = 0;
            for sequence in 1..=records {
                reader.confirm(sequence).expect("the other reader does not disturb it");
                let stored = reader.confirmed().expect("it is whole");
                assert!(stored >= last.max(sequence), "{stored} after {last} and {sequence}");
                last = stored;
            }
        };
        std::thread::scope(|scope| {
            for reader in readers {
                scope.spawn(move || confirm_all(&reader));
            }
        });
        let reader = log.reader(0).expect("it works");
        assert_eq!(reader.confirmed().expect("it is whole"), records);
    }
}

#[test]
fn older_checkpoint_is_used_after_crashes_during_rotations_and_a_removal() {
    for operations in 1..12 {
        let disk = Disk::new(1);
        let retention = Retention { bytes: Some(1), ..Retention::default() };
        let options = options(retention);
        let mut log = open(&disk, &options).expect("it is new");
        (0..30).for_each(|id| send(&mut log, id));
        let rotating = |log: &mut Log, disk: &Disk, fault: bool| {
            let segments = |disk: &Disk| {
                let names = disk.names().expect("it works").into_iter();
                names.filter(|name| name.ends_with(".log")).max()
            };
            let before = segments(disk);
            let client = Some(Client { id: [1; 16], epoch: 1 });
            if fault {
                disk.fail(operations, Fault::PowerLoss);
            }
            for id in 100.. {
                let part = Part { client, messages: vec![(id, vec![0; 100])], refused: Vec::new() };
                if commit(log, &[part], true).is_err() || segments(disk) != before {
                    break;
                }
            }
        };
        let mut disk = disk;
        for _ in 0..3 {
            rotating(&mut log, &disk, true);
            drop(log);
            disk = disk.kill();
            log = open(&disk, &options).expect("a crash damages nothing");
        }
        rotating(&mut log, &disk, false);
        drop(log);
        let names = disk.names().expect("it works").into_iter();
        let newest = names.filter(|name| name.ends_with(".clients")).max().expect("it is there");
        disk.store(&newest, vec![0; 10]);
        let log = open(&disk.kill(), &options).expect("the older checkpoint is whole");
        assert_eq!(log.recovery().damaged_checkpoints, [newest], "{operations}");
    }
}

#[test]
fn reader_of_removed_records_says_which() {
    let disk = Disk::new(1);
    let options = options(Retention { bytes: Some(1), ..Retention::default() });
    let mut log = open(&disk, &options).expect("it is new");
    send(&mut log, 0);
    let mut reader = Reader::open_on(storage(&disk), 0).expect("it works");
    (1..100).for_each(|id| send(&mut log, id));
    let mut sequence = 0;
    let error = loop {
        match reader.next() {
            Ok(record) => assert_eq!(record.map(|record| record.sequence), Some(sequence)),
            Err(error) => break error,
        }
        sequence += 1;
    };
    let Error::Removed { first, oldest: left, .. } = error else { panic!("{error}") };
    assert_eq!((first, left), (sequence, oldest(&log)));
}
