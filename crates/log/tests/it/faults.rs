//! Random programs with crashes, power losses and errors of the storage, against a model.
//!
//! After each crash, the log holds every batch that was acknowledged as durable, once and in order, and
//! the positions of clients agree with it. A crash alone never damages a log.

use std::collections::BTreeMap;

use fastrand::Rng;
use purlin_log::simulated::{Disk, Fault};
use purlin_log::{Client, Error, Log, Options, Reader, Refusal, Retention};

use crate::common::{Expected, Part, Stored, cases, commit, open, read, storage};

/// Program, model and random numbers of one case.
struct Case {
    random: Rng,
    disk: Disk,
    options: Options,
    /// Batches in the log, and one that a failed operation may have written.
    batches: Vec<Vec<Part>>,
    /// Number of batches that were promised to be durable.
    durable: usize,
    /// Record before which all are confirmed, and may have been removed.
    confirmed: u64,
    epochs: BTreeMap<u8, u64>,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let retention = Retention { confirmed: random.bool(), ..Retention::default() };
        let segment_bytes = random.u64(300..3000);
        let options = Options { segment_bytes, retention, ..Options::default() };
        let disk = Disk::new(random.u64(..));
        Self {
            random,
            disk,
            options,
            batches: Vec::new(),
            durable: 0,
            confirmed: 0,
            epochs: BTreeMap::new(),
        }
    }

    /// Generates a batch that continues the numbering of each client.
    fn batch(&mut self) -> Vec<Part> {
        let mut batch: Vec<Vec<Part>> = self.batches.clone();
        let mut parts = Vec::new();
        for _ in 0..self.random.usize(1..4) {
            let who = self.random.u8(..4);
            let mut part = Part::default();
            let mut next = self.random.u64(..1000);
            if who > 0 {
                if self.random.u8(..20) == 0 {
                    *self.epochs.entry(who).or_default() += 1;
                }
                let (id, epoch) = ([who; 16], *self.epochs.entry(who).or_default());
                part.client = Some(Client { id, epoch });
                let known = Expected::after(&batch).positions.get(&id).cloned();
                let known = known.filter(|known| known.epoch == epoch);
                next = known.map_or(0, |known| known.newest + 1);
            }
            for _ in 0..self.random.usize(..4) {
                let length = if self.random.u8(..30) == 0 { 6000 } else { self.random.usize(..40) };
                let payload = (0..length).map(|_| self.random.u8(..)).collect();
                part.messages.push((next, payload));
                next += 1;
            }
            if part.client.is_some() && (part.messages.is_empty() || self.random.u8(..8) == 0) {
                part.refused.push(Refusal { id: next, reason: self.random.u32(..9) });
            }
            if !part.messages.is_empty() || !part.refused.is_empty() {
                parts.push(part);
                batch.push(parts.last().cloned().into_iter().collect());
            }
        }
        parts
    }

    /// Opens the log after a crash, and checks it against the model.
    fn recover(&mut self) -> Log {
        let mut log = open(&self.disk, &self.options).expect("a crash damages nothing");
        // WHY: a power loss may have removed records that a reader has confirmed.
        self.confirmed = self.confirmed.min(log.next_sequence());
        let recovery = log.recovery().clone();
        assert!(recovery.damaged_checkpoints.is_empty(), "a checkpoint is replaced as a whole");
        self.check(&mut log);
        log
    }

    /// Finds the number of batches that are there, and requires that all that was promised is.
    fn check(&mut self, log: &mut Log) {
        let records = read(log).expect("the log is whole");
        let first = records.first().map_or(log.next_sequence(), |record| record.sequence);
        assert!(first == 0 || first <= self.confirmed, "unconfirmed records were removed");
        let stored: BTreeMap<_, _> = (1..4)
            .map(|who| [who; 16])
            .filter_map(|id| Some((id, log.position(id).expect("it did not fail")?)))
            .collect();
        let found: Vec<Stored> = records.iter().map(Stored::from).collect();
        let there = (self.durable..=self.batches.len()).find(|count| {
            let expected = Expected::after(&self.batches[..*count]);
            expected.records.get(first as usize..) == Some(&found) && expected.positions == stored
        });
        let sequences = records.iter().map(|record| record.sequence);
        assert!(
            sequences.eq(first..first + found.len() as u64),
            "sequence numbers are consecutive"
        );
        let there = there.unwrap_or_else(|| {
            panic!(
                "{} batches were durable, {} written: {} records from {first} on, positions {stored:?}",
                self.durable,
                self.batches.len(),
                found.len(),
            )
        });
        self.batches.truncate(there);
        // WHY: the positions that clients were sent must survive, too.
        self.durable = there;
    }

    fn run(&mut self) {
        let mut log = self.recover();
        for _ in 0..self.random.usize(1..40) {
            if self.random.u8(..12) == 0 {
                let fault = *self.random.choice(&Fault::ALL).expect("there are some");
                self.disk.fail(self.random.u64(1..12), fault);
            }
            let done = match self.random.u8(..24) {
                0 => {
                    self.disk = self.disk.power_loss();
                    log = self.recover();
                    Ok(())
                }
                1 => {
                    self.disk = self.disk.kill();
                    log = self.recover();
                    Ok(())
                }
                2 => {
                    let closed = log.close();
                    if closed.is_ok() {
                        self.durable = self.batches.len();
                    }
                    self.disk =
                        if self.random.bool() { self.disk.kill() } else { self.disk.power_loss() };
                    log = self.recover();
                    Ok(())
                }
                3 => log.sync().map(|()| self.durable = self.batches.len()),
                4 => self.confirm(&log),
                5 => self.ask(&mut log),
                _ => self.commit(&mut log),
            };
            self.disk.advance(7);
            if let Err(error) = done {
                self.after_failure(log, &error);
                log = self.recover();
            }
        }
        self.disk = self.disk.power_loss();
        self.recover();
    }

    fn commit(&mut self, log: &mut Log) -> Result<(), Error> {
        let batch = self.batch();
        let durable = self.random.u8(..3) > 0;
        let done = commit(log, &batch, durable);
        self.batches.push(batch);
        if done.is_ok() && durable {
            self.durable = self.batches.len();
        }
        done
    }

    /// Asks for a position, which must survive from then on.
    fn ask(&mut self, log: &mut Log) -> Result<(), Error> {
        let id = [self.random.u8(1..4); 16];
        let stored = log.position(id)?;
        assert_eq!(stored, Expected::after(&self.batches).positions.get(&id).cloned());
        self.durable = self.batches.len();
        Ok(())
    }

    fn confirm(&mut self, log: &Log) -> Result<(), Error> {
        let mut reader = if self.random.bool() {
            log.reader(self.confirmed)?
        } else {
            Reader::open_on(storage(&self.disk), self.confirmed)?
        };
        for _ in 0..self.random.usize(..20) {
            reader.next()?;
        }
        let sequence = reader.next_sequence();
        self.confirmed = self.confirmed.max(sequence);
        reader.confirm(sequence)
    }

    /// Requires that a failed log fails for good, and crashes.
    fn after_failure(&mut self, mut log: Log, error: &Error) {
        assert!(matches!(error, Error::Io { .. } | Error::Failed { .. }), "{error}");
        // WHY not after a confirmation: it is written by a reader.
        if self.random.bool() {
            let batch = self.batch();
            if commit(&mut log, &batch, true).is_ok() {
                // The failure was not one of the log.
                self.batches.push(batch);
                self.durable = self.batches.len();
            } else {
                for _ in 0..3 {
                    let again = commit(&mut log, &[], true);
                    assert!(matches!(again, Err(Error::Failed { .. })), "{again:?}");
                }
                self.batches.push(batch);
            }
        }
        drop(log);
        self.disk = if self.random.bool() { self.disk.kill() } else { self.disk.power_loss() };
    }
}

#[test]
fn what_was_acknowledged_as_durable_is_there_once_and_in_order_after_any_crash() {
    let first = std::env::var("PURLIN_LOG_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    for seed in first..first + cases() {
        let outcome = std::panic::catch_unwind(|| Case::new(seed).run());
        assert!(outcome.is_ok(), "repeat with PURLIN_LOG_SEED={seed} PURLIN_LOG_CASES=1");
    }
}

#[test]
fn batch_after_a_failed_sync_is_refused_until_the_log_is_opened_again() {
    for fault in [Fault::NoSpace, Fault::WriteError, Fault::SyncError, Fault::ReadOnly] {
        let disk = Disk::new(1);
        let mut log = open(&disk, &Options::default()).expect("it is new");
        let part = |id| {
            let client = Some(Client { id: [1; 16], epoch: 0 });
            [Part { client, messages: vec![(id, b"hello".to_vec())], refused: Vec::new() }]
        };
        commit(&mut log, &part(0), true).expect("nothing fails");
        disk.fail(1, fault);
        let failed = commit(&mut log, &part(1), true);
        assert!(matches!(failed, Err(Error::Io { .. })), "{fault:?}: {failed:?}");
        let again = commit(&mut log, &part(1), true);
        assert!(matches!(again, Err(Error::Failed { .. })), "{fault:?}: {again:?}");
        assert!(matches!(log.position([1; 16]), Err(Error::Failed { .. })), "{fault:?}");
        drop(log);
        let disk = disk.kill();
        let mut log = open(&disk, &Options::default()).expect("the fault has passed");
        let position = log.position([1; 16]).expect("the fault has passed").expect("it is stored");
        assert!(position.newest <= 1, "{fault:?}: {position:?}");
        // What the client was sent survives a power loss, though the first sync has failed.
        drop(log);
        let mut log =
            open(&disk.power_loss(), &Options::default()).expect("a crash damages nothing");
        assert_eq!(log.position([1; 16]).expect("it works"), Some(position), "{fault:?}");
    }
}
