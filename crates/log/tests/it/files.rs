//! The log on the file system.

use std::fs;

use purlin_log::{Block, Client, Error, Log, Options, Reader, Summary, repair};

use crate::common::message;

fn block(messages: &[u8]) -> Block<'_> {
    Block { client: Some(Client { id: [7; 16], epoch: 1 }), messages, refused: &[] }
}

#[test]
fn log_is_read_while_it_is_appended_to_over_all_segments() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let options = Options { segment_bytes: 1000, ..Options::default() };
    let mut log = Log::open(&path, options.clone()).expect("it is new");
    let mut reader = Reader::open(&path, 0).expect("it is there");
    let mut durable = log.reader(0).expect("it is there");
    for id in 0..100 {
        log.commit(&[block(&message(id, b"hello"))], false).expect("there is room");
        assert_eq!(durable.next().expect("it is whole"), None, "it is not durable");
        let record = reader.next().expect("it is whole").expect("it is written");
        assert_eq!((record.sequence, record.id), (id, id));
        log.sync().expect("it works");
        let record = durable.next().expect("it is whole").expect("it is durable");
        assert_eq!((record.sequence, &record.payload[..]), (id, &b"hello"[..]));
        assert_eq!(reader.next().expect("it is whole"), None);
    }
    let mut late = Reader::open(&path, 50).expect("it is there");
    assert_eq!(late.next().expect("it is whole").map(|record| record.sequence), Some(50));
    let again = Log::open(&path, options.clone());
    assert!(matches!(again, Err(Error::Locked { .. })), "{again:?}");
    log.close().expect("it works");

    let summary = Summary::of(&path).expect("it is there");
    assert!(summary.is_whole() && summary.segments.len() > 5);
    assert_eq!((summary.records(), summary.next, summary.clients), (100, 100, 1));
    let mut log = Log::open(&path, options).expect("it is whole");
    let position = log.position([7; 16]).expect("it works").expect("it is known");
    assert_eq!((position.epoch, position.newest), (1, 99));
}

#[test]
fn repair_needs_an_empty_folder_and_leaves_the_source_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, new) = (folder.path().join("log"), folder.path().join("new"));
    let mut log = Log::open(&path, Options::default()).expect("it is new");
    for id in 0..3 {
        log.commit(&[block(&message(id, b"hello"))], true).expect("there is room");
    }
    drop(log);
    let segment = path.join("00000000000000000000.log");
    let mut bytes = fs::read(&segment).expect("it is there");
    bytes[60] ^= 1;
    fs::write(&segment, &bytes).expect("there is room");
    let error = Log::open(&path, Options::default()).expect_err("it is damaged").to_string();
    assert!(error.contains("00000000000000000000.log is damaged at byte 52: "), "{error}");
    let repaired = repair(&path, &new).expect("there is room");
    assert_eq!((repaired.records, repaired.omitted.len()), (2, 1));
    assert_eq!(fs::read(&segment).expect("it is there"), bytes);
    let mut reader = Reader::open(&new, 0).expect("it is there");
    let next = |reader: &mut Reader| reader.next().expect("it is whole").map(|one| one.sequence);
    assert_eq!((next(&mut reader), next(&mut reader), next(&mut reader)), (Some(1), Some(2), None));
    let error = repair(&path, &new).expect_err("it is not empty").to_string();
    assert!(error.contains("not empty"), "{error}");
    let error = repair(folder.path().join("none"), &new).expect_err("there is none").to_string();
    assert!(error.starts_with("cannot open "), "{error}");
}
