//! An arbitrary segment, checkpoint and confirmation are read without a panic; a log that can be opened
//! is read to its end, and a repaired one is whole.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use purlin_log::simulated::Disk;
use purlin_log::storage::Storage;
use purlin_log::{Error, Log, Options, Summary, repair_to};

const HEADER: usize = 52;
const BATCH: usize = 48;

/// Puts valid checksums into a segment, so that the fields behind them are reached.
fn seal(segment: &mut [u8]) {
    let Some((header, mut rest)) = segment.split_at_mut_checked(HEADER) else { return };
    header[..8].copy_from_slice(b"PURLINLG");
    header[8..12].copy_from_slice(&1_u32.to_le_bytes());
    header[16..32].fill(0);
    header[40..48].fill(7);
    let crc = crc32c::crc32c(&header[..48]);
    header[48..].copy_from_slice(&crc.to_le_bytes());
    while let Some((batch, after)) = rest.split_at_mut_checked(BATCH) {
        batch[..8].fill(7);
        // Small lengths, so that a body is often whole.
        batch[9..12].fill(0);
        let length = usize::from(batch[8]);
        let Some((body, after)) = after.split_at_mut_checked(length) else { return };
        batch[40..44].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
        let crc = crc32c::crc32c(&batch[..44]);
        batch[44..].copy_from_slice(&crc.to_le_bytes());
        rest = after;
    }
}

fuzz_target!(|input: &[u8]| {
    let [settings, length, rest @ ..] = input else { return };
    let (checkpoint, segment) = rest.split_at(usize::from(*length).min(rest.len()));
    let mut segment = segment.to_vec();
    if settings & 1 != 0 {
        seal(&mut segment);
    }
    let disk = Disk::new(1);
    disk.store("00000000000000000000.log", segment);
    if settings & 2 != 0 {
        let mut checkpoint = checkpoint.to_vec();
        checkpoint.extend(crc32c::crc32c(&checkpoint).to_le_bytes());
        disk.store("00000000000000000000.clients", checkpoint);
    }
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let Ok(summary) = Summary::of_storage(&storage) else { return };
    let target: Arc<dyn Storage> = Arc::new(Disk::new(1));
    let repaired = repair_to(&storage, &target).expect("the target is empty");
    let whole = Summary::of_storage(&target).expect("it can be read");
    assert!(whole.is_whole() && whole.torn.is_none());
    assert_eq!(whole.records(), repaired.records);
    match Log::open_on(storage, Options::default()) {
        Ok(log) => {
            assert!(summary.is_whole());
            let mut reader = log.reader(0).expect("it can be read");
            let mut records = 0;
            while reader.next().expect("it is whole").is_some() {
                records += 1;
            }
            assert_eq!(records, summary.records());
        }
        Err(Error::Damaged(damage)) => assert!(summary.damage.contains(&damage)),
        Err(error) => panic!("{error}"),
    }
});
