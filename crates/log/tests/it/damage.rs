//! Damaged logs: nothing is changed, the error names the place, `Summary` and `repair` do what they
//! say.

use std::collections::BTreeMap;

use fastrand::Rng;
use purlin_log::simulated::Disk;
use purlin_log::storage::Storage as _;
use purlin_log::{Client, Error, Omitted, Options, Reader, Record, Summary, repair_to};

use crate::common::{Part, cases, commit, open, read, storage};

const FIRST: &str = "00000000000000000000.log";

/// Log of one case, and what it holds.
struct Made {
    disk: Disk,
    options: Options,
    records: Vec<Record>,
    closed: bool,
}

/// Writes durable batches over some segments, and closes or kills the writer.
fn make(random: &mut Rng) -> Made {
    let disk = Disk::new(random.u64(..));
    let options = Options { segment_bytes: random.u64(300..3000), ..Options::default() };
    let mut log = open(&disk, &options).expect("it is new");
    for id in 0..random.u64(5..40) {
        let client = Some(Client { id: [random.u8(1..4); 16], epoch: 0 });
        let payload = (0..random.usize(..60)).map(|_| random.u8(..)).collect();
        let part = Part { client, messages: vec![(id, payload)], refused: Vec::new() };
        commit(&mut log, &[part], true).expect("nothing fails");
    }
    let records = read(&log).expect("it is whole");
    let closed = random.bool();
    if closed {
        log.close().expect("nothing fails");
    }
    Made { disk: disk.kill(), options, records, closed }
}

/// Returns the names of the segments, the oldest first.
fn segments(disk: &Disk) -> Vec<String> {
    let names = disk.names().expect("it works").into_iter();
    names.filter(|name| name.ends_with(".log")).collect()
}

fn files(disk: &Disk) -> BTreeMap<String, Option<Vec<u8>>> {
    let names = disk.names().expect("it works").into_iter();
    names.map(|name| (name.clone(), disk.contents(&name))).collect()
}

/// Damage of one case.
struct Place {
    name: String,
    offset: u64,
    /// Number of records that were lost at most, if the file lost or changed synced bytes.
    harm: usize,
}

fn damage(random: &mut Rng, disk: &Disk) -> Place {
    let names = segments(disk);
    let name = random.choice(&names).expect("there are some").clone();
    let mut bytes = disk.contents(&name).expect("it is there");
    let at = random.usize(..bytes.len());
    let (offset, harm) = match random.u8(..7) {
        0 | 1 => {
            bytes[at] ^= 1 << random.u8(..8);
            (at, 1)
        }
        2 => {
            let end = (at + random.usize(1..600)).min(bytes.len());
            let harmful = bytes[at..end].iter().any(|byte| *byte != 0);
            bytes[at..end].fill(0);
            (at, if harmful { usize::MAX } else { 0 })
        }
        3 => {
            bytes.truncate(at);
            (at, usize::MAX)
        }
        4 => {
            let last = names.last().expect("there are some").clone();
            let mut bytes = disk.contents(&last).expect("it is there");
            let offset = bytes.len() as u64;
            bytes.resize(bytes.len() + random.usize(1..2000), 0);
            disk.store(&last, bytes);
            return Place { name: last, offset, harm: 0 };
        }
        5 if names.len() > 2 => {
            let missing = random.usize(1..names.len() - 1);
            disk.remove(&names[missing]).expect("it is there");
            return Place { name: names[missing + 1].clone(), offset: 0, harm: usize::MAX };
        }
        _ => {
            // A copy of the segment, under a name that sorts behind it.
            let copy = name.replacen("0000", "0001", 1);
            disk.store(&copy, bytes);
            return Place { name: copy, offset: 0, harm: usize::MAX };
        }
    };
    disk.store(&name, bytes);
    Place { name, offset: offset as u64, harm }
}

/// Requires that these are records of the log, in order, none twice. Returns their number.
fn subset(found: &[Record], of: &[Record]) -> usize {
    let ascending = found.windows(2).all(|pair| pair[0].sequence < pair[1].sequence);
    assert!(ascending, "in order, none twice");
    for record in found {
        let due = of.get(record.sequence as usize).expect("a record of the log");
        // WHY not the time: it is the model's.
        assert_eq!(record, due);
    }
    found.len()
}

fn check(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let made = make(&mut random);
    let (disk, closed) = (&made.disk, made.closed);
    let place = damage(&mut random, disk);
    let before = files(disk);
    let summary = Summary::of_storage(&storage(disk)).expect("it can be read");
    // The last synced batch of a log that was not closed is the one exception.
    let last = *segments(disk).last().expect("there are some") == place.name;
    if place.harm > 0 {
        let found = !summary.is_whole() || (last && !closed);
        assert!(found, "damage at {} of {} is not found", place.offset, place.name);
        if let Some(first) = summary.damage.first() {
            let there = first.path.ends_with(&place.name);
            assert!(!there || first.offset <= place.offset, "{first}: {}", place.offset);
        }
    } else {
        assert!(summary.is_whole(), "{:?}", summary.damage);
        let zeros = summary.torn.as_ref().map(|torn| (torn.offset, torn.zeros));
        assert!(zeros.is_none() || zeros == Some((place.offset, true)), "{zeros:?}");
    }
    let whole = repaired(&made, &summary);
    let Made { disk, options, records, closed } = made;

    match open(&disk, &options) {
        Err(Error::Damaged(damage)) => {
            assert!(summary.damage.contains(&damage), "{damage}");
            assert!(files(&disk) == before, "a damaged log was changed");
        }
        Err(error) => panic!("{error}"),
        Ok(log) => {
            // What is not read when a log is opened is found when it is read.
            let found = match read(&log) {
                Ok(found) => found,
                Err(Error::Damaged(_)) if !summary.is_whole() => return,
                Err(error) => panic!("{error}"),
            };
            subset(&found, &records);
            let lost = records.len() - found.len();
            let allowed = if last && !closed { place.harm } else { 0 };
            assert!(lost <= allowed || !summary.is_whole(), "{lost} records are lost");
            assert!(whole >= found.len(), "the repair lost more");
        }
    }
}

/// Repairs the log. Returns the number of records of the new one, which is whole.
fn repaired(made: &Made, summary: &Summary) -> usize {
    let Made { disk, options, records, closed } = made;
    let before = files(disk);
    let target = Disk::new(1);
    let repaired = repair_to(&storage(disk), &storage(&target)).expect("it can be written");
    assert!(files(disk) == before, "the source was changed");
    let whole = Summary::of_storage(&storage(&target)).expect("it can be read");
    assert!(whole.is_whole() && whole.torn.is_none(), "{:?}", whole.damage);
    let log = open(&target, options).expect("it is whole");
    let found = read(&log).expect("it is whole");
    assert_eq!(repaired.records, found.len() as u64);
    assert!(!closed || log.next_sequence() >= records.len() as u64, "a number is used again");
    if summary.is_whole() && summary.torn.is_none() {
        assert_eq!(repaired.omitted, []);
    }
    subset(&found, records)
}

#[test]
fn damaged_log_is_refused_unchanged_and_repaired() {
    let first = std::env::var("PURLIN_LOG_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    for seed in first..first + cases() {
        let outcome = std::panic::catch_unwind(|| check(seed));
        assert!(outcome.is_ok(), "repeat with PURLIN_LOG_SEED={seed} PURLIN_LOG_CASES=1");
    }
}

#[test]
fn flipped_bit_anywhere_in_a_closed_log_is_found_and_costs_one_batch() {
    let mut random = Rng::with_seed(3);
    let disk = Disk::new(3);
    let options = Options::default();
    let mut log = open(&disk, &options).expect("it is new");
    for id in 0..5 {
        let part =
            Part { client: None, messages: vec![(id, b"hello".to_vec())], refused: Vec::new() };
        commit(&mut log, &[part], true).expect("nothing fails");
    }
    let records = read(&log).expect("it is whole");
    log.close().expect("nothing fails");
    let disk = disk.kill();
    let good = disk.contents(FIRST).expect("it is there");
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << random.u8(..8);
        disk.store(FIRST, bytes.clone());
        let Err(Error::Damaged(damage)) = open(&disk, &options) else { panic!("byte {at}") };
        assert!(damage.offset <= at as u64, "byte {at}: {damage}");
        assert_eq!(disk.contents(FIRST), Some(bytes), "byte {at}");
        let target = Disk::new(1);
        let repaired = repair_to(&storage(&disk), &storage(&target)).expect("it can be written");
        let log = open(&target, &options).expect("it is whole");
        let found = read(&log).expect("it is whole");
        let kept = subset(&found, &records);
        assert_eq!(kept, 5 - repaired.omitted.len(), "byte {at}");
        assert!(kept >= 4, "byte {at}: {kept}");
        if let [Omitted { offset, bytes, .. }] = repaired.omitted[..] {
            assert!((offset..offset + bytes).contains(&(at as u64)), "byte {at}");
        }
    }
}

#[test]
fn log_that_lost_its_last_segment_or_checkpoints_is_refused_or_rebuilt() {
    let mut random = Rng::with_seed(5);
    let made = loop {
        let made = make(&mut random);
        if made.closed && segments(&made.disk).len() > 2 {
            break made;
        }
    };
    let Made { disk, options, records, .. } = made;
    let last = segments(&disk).pop().expect("there are some");
    let bytes = disk.contents(&last).expect("it is there");
    disk.remove(&last).expect("it is there");
    let Err(Error::Damaged(damage)) = open(&disk, &options) else { panic!("it lost a segment") };
    assert!(damage.path.ends_with(&last), "{damage}");
    disk.store(&last, bytes);

    let positions = |disk: &Disk| {
        let mut log = open(disk, &options).expect("it is whole");
        assert_eq!(read(&log).expect("it is whole"), records);
        let position = |client: u8| log.position([client; 16]).expect("it works");
        let positions: Vec<_> = (1..4).map(position).collect();
        (positions, log.recovery().damaged_checkpoints.len())
    };
    let (due, damaged) = positions(&disk);
    assert_eq!(damaged, 0);
    let names = disk.names().expect("it works").into_iter();
    let checkpoints: Vec<String> = names.filter(|name| name.ends_with(".clients")).collect();
    assert_eq!(checkpoints.len(), 2);
    for (number, name) in checkpoints.iter().rev().enumerate() {
        let mut bytes = disk.contents(name).expect("it is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        disk.store(name, bytes);
        let copy = disk.kill();
        assert_eq!(positions(&copy), (due.clone(), number + 1));
        // A new checkpoint has taken the place of the damaged ones.
        assert_eq!(positions(&copy.kill()), (due.clone(), 0));
    }
    let disk = disk.kill();
    for name in &checkpoints {
        disk.remove(name).expect("it is there");
    }
    assert_eq!(positions(&disk), (due, 0));
}

#[test]
fn segment_of_a_newer_version_is_not_read() {
    let disk = Disk::new(1);
    open(&disk, &Options::default()).expect("it is new");
    let mut bytes = disk.contents(FIRST).expect("it is there");
    bytes[8] = 2;
    let crc = crc32c::crc32c(&bytes[..48]).to_le_bytes();
    bytes[48..].copy_from_slice(&crc);
    disk.store(FIRST, bytes);
    let opened = open(&disk.kill(), &Options::default());
    assert!(matches!(opened, Err(Error::Version { version: 2, .. })), "{opened:?}");
    let opened = Reader::open_on(storage(&disk), 0);
    assert!(matches!(opened, Err(Error::Version { version: 2, .. })), "{opened:?}");
}

#[test]
fn reader_waits_for_a_segment_that_is_being_created_and_finds_a_missing_batch() {
    let disk = Disk::new(1);
    disk.store(FIRST, vec![0; 20]);
    let mut early = Reader::open_on(storage(&disk), 0).expect("it can be read");
    assert_eq!(early.next().expect("it is not damaged"), None);
    let mut log = open(&disk, &Options::default()).expect("it is new");
    let part = |id| Part { client: None, messages: vec![(id, Vec::new())], refused: Vec::new() };
    for id in 0..3 {
        commit(&mut log, &[part(id)], true).expect("nothing fails");
    }
    let mut reader = Reader::open_on(storage(&disk), 0).expect("it can be read");
    let next = format!("{:020}.log", 3);
    disk.store(&next, Vec::new());
    for reader in [&mut early, &mut reader] {
        for id in 0..3 {
            assert_eq!(reader.next().expect("it is whole").map(|record| record.id), Some(id));
        }
        assert_eq!(reader.next().expect("it is not damaged"), None);
    }
    // Without the middle batch.
    let mut bytes = disk.contents(FIRST).expect("it is there");
    let batch = (bytes.len() - 52) / 3;
    bytes.drain(52 + batch..52 + 2 * batch);
    disk.store(FIRST, bytes);
    let mut reader = Reader::open_on(storage(&disk), 0).expect("it can be read");
    assert!(reader.next().expect("it is whole").is_some());
    let read = reader.next();
    assert!(matches!(read, Err(Error::Damaged(_))), "{read:?}");
}

#[test]
fn sequence_number_over_the_limit_is_damage() {
    let disk = Disk::new(1);
    let mut log = open(&disk, &Options::default()).expect("it is new");
    let messages = vec![(0, Vec::new()), (1, Vec::new())];
    let part = Part { client: None, messages, refused: Vec::new() };
    commit(&mut log, &[part], true).expect("nothing fails");
    log.close().expect("nothing fails");
    let bytes = disk.contents(FIRST).expect("it is there");
    for number in [u64::MAX, u64::MAX - 1, (1 << 62) + 1] {
        let disk = disk.kill();
        let mut bytes = bytes.clone();
        bytes[68..76].copy_from_slice(&number.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[52..96]).to_le_bytes();
        bytes[96..100].copy_from_slice(&crc);
        disk.store(FIRST, bytes);
        let opened = open(&disk, &Options::default());
        assert!(matches!(opened, Err(Error::Damaged(_))), "{opened:?}");
        let target = Disk::new(1);
        repair_to(&storage(&disk), &storage(&target)).expect("it can be written");
        let log = open(&target, &Options::default()).expect("it is whole");
        assert_eq!(log.next_sequence(), 2);
    }
}

#[test]
fn last_batch_before_a_segment_that_was_being_created_is_not_cut() {
    let disk = Disk::new(1);
    let mut log = open(&disk, &Options::default()).expect("it is new");
    let part = Part { client: None, messages: vec![(0, vec![7])], refused: Vec::new() };
    commit(&mut log, &[part], true).expect("nothing fails");
    let mut bytes = disk.contents(FIRST).expect("it is there");
    *bytes.last_mut().expect("it has a batch") ^= 1;
    disk.store(FIRST, bytes);
    disk.store(&format!("{:020}.log", 1), Vec::new());
    let opened = open(&disk.kill(), &Options::default());
    assert!(matches!(opened, Err(Error::Damaged(_))), "{opened:?}");
}
