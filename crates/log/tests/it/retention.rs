//! Which segments are removed.

use std::time::Duration;

use purlin_log::simulated::Disk;
use purlin_log::storage::Storage as _;
use purlin_log::{Client, Log, Options, Retention};

use crate::common::{Part, commit, open, read};

fn send(log: &mut Log, id: u64) {
    let client = Some(Client { id: [1; 16], epoch: 1 });
    let part = Part { client, messages: vec![(id, vec![0; 100])], refused: Vec::new() };
    commit(log, &[part], true).expect("it works");
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
