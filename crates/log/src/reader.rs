//! Reader of the records of a log, from any process, while it is appended to.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::analysis::{io, open, repeat};
use crate::confirmed;
use crate::error::{Damage, Error};
use crate::format::names;
use crate::format::segment::{HEADER, Invalid};
use crate::record::Record;
use crate::scan::{self, Batch, Scanner, Step};
use crate::storage::{Folder, Storage};

/// Reader of the records of a log, in order.
///
/// [`next`](Self::next) returns `None` after the last record, and can be called again later. A
/// reader of [`Log::reader`](crate::Log::reader) ends at the last durable record. A reader of
/// [`open`](Self::open) does not know which records are durable, and can read some that a power loss
/// removes.
pub struct Reader {
    storage: Arc<dyn Storage>,
    durable: Option<Arc<AtomicU64>>,
    segment: Option<Open>,
    /// Sequence number of the next record.
    next: u64,
    /// Records of the last batch.
    records: VecDeque<Record>,
    /// Bytes behind it that are not a whole batch.
    rest: Option<Damage>,
}

/// Segment being read.
struct Open {
    base: u64,
    /// Whether records before the segment were left out by a repair.
    gap: bool,
    /// Sequence number after the last batch that was read.
    next: u64,
    scanner: Scanner,
}

impl Reader {
    /// Opens the log in a folder for reading, from this sequence number on, or from the oldest record
    /// if that is newer.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn open(path: impl AsRef<Path>, from: u64) -> Result<Self, Error> {
        let path = path.as_ref();
        let folder = Folder::existing(path);
        let folder =
            folder.map_err(|error| Error::Io { action: "open", path: path.to_owned(), error })?;
        Self::open_on(Arc::new(folder), from)
    }

    /// Opens the log in this storage for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(storage: Arc<dyn Storage>, from: u64) -> Result<Self, Error> {
        Self::of(storage, from, None)
    }

    pub(crate) fn of(
        storage: Arc<dyn Storage>,
        from: u64,
        durable: Option<Arc<AtomicU64>>,
    ) -> Result<Self, Error> {
        let repeated = Arc::clone(&storage);
        let (next, records) = (from, VecDeque::new());
        let mut reader = Self { storage, durable, segment: None, next, records, rest: None };
        repeat(&*repeated, || reader.seek(from))?;
        Ok(reader)
    }

    /// Opens the segment of the record with this sequence number, or the oldest one.
    fn seek(&mut self, from: u64) -> Result<(), Error> {
        let names = self.storage.names().map_err(io(&*self.storage, "list", ""))?;
        let bases = names::segments(&names);
        self.next = from.max(bases.first().copied().unwrap_or(0));
        if let Some(base) = bases.iter().copied().rev().find(|base| *base <= self.next) {
            self.segment = self.segment(base, bases.last() == Some(&base))?;
        }
        Ok(())
    }

    /// Returns whether the log has a segment yet.
    pub fn has_segments(&self) -> bool {
        self.segment.is_some()
    }

    /// Returns the sequence number of the next record.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Returns the next record, or `None` if it is not yet written.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if a segment is not whole, [`Error::Removed`] if the next record was
    /// removed by the retention, and [`Error::Io`] if a file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "the end is not final")]
    pub fn next(&mut self) -> Result<Option<Record>, Error> {
        let durable = match &self.durable {
            // ORDER: acquire, see `Log::sync_file`.
            Some(durable) => durable.load(Ordering::Acquire),
            None => u64::MAX,
        };
        while self.next < durable {
            if let Some(record) = self.records.pop_front() {
                if record.sequence >= self.next {
                    self.next = record.sequence + 1;
                    return Ok(Some(record));
                }
            } else if !self.read_batch()? {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the place behind the last record if there are bytes that are not a whole batch: a batch
    /// that is being written, a torn end, or damage. [`Summary`](crate::Summary) tells them apart.
    pub fn rest(&self) -> Option<&Damage> {
        self.rest.as_ref()
    }

    /// Stores durably that the records before this sequence number are no longer needed, at most up to
    /// the next record of this reader. A log with [`Retention::confirmed`](crate::Retention) may
    /// remove them. A larger position that another reader has stored stays.
    ///
    /// # Errors
    /// Fails if the position cannot be stored.
    pub fn confirm(&self, sequence: u64) -> Result<(), Error> {
        confirmed::raise(&*self.storage, sequence.min(self.next))
    }

    /// Returns the position that was last confirmed, or 0.
    ///
    /// # Errors
    /// Fails if the position cannot be read.
    pub fn confirmed(&self) -> Result<u64, Error> {
        confirmed::read(&*self.storage)
    }

    /// Opens a segment. Returns `None` if it is the `last` and is being created.
    fn segment(&self, base: u64, last: bool) -> Result<Option<Open>, Error> {
        let name = names::segment(base);
        let file = open(&*self.storage, &name)?;
        let read = || Ok((file.length()?, scan::header(&*file)?));
        let (length, header) = read().map_err(io(&*self.storage, "read", &name))?;
        let header = match header {
            Ok(header) => header,
            Err(Invalid::Version(version)) => {
                return Err(Error::Version { path: self.storage.path().join(name), version });
            }
            Err(Invalid::Damaged) if last && length <= HEADER as u64 => return Ok(None),
            Err(Invalid::Damaged) => {
                let what = "the header of the segment is damaged";
                return Err(Error::Damaged(self.damage(base, 0, what)));
            }
        };
        let scanner = Scanner::new(file, header.marker);
        let scanner = scanner.map_err(io(&*self.storage, "read", &name))?;
        Ok(Some(Open { base, gap: header.gap, next: base, scanner }))
    }

    fn damage(&self, base: u64, offset: u64, what: &str) -> Damage {
        let path = self.storage.path().join(names::segment(base));
        Damage { path, offset, what: what.into() }
    }

    /// Reads the next batch. Returns whether there is one.
    fn read_batch(&mut self) -> Result<bool, Error> {
        if self.step(false)?.is_none() {
            return Ok(true);
        }
        let repeated = Arc::clone(&self.storage);
        repeat(&*repeated, || self.read_listed())
    }

    /// Reads the next batch, also of the segments behind the current one. Returns whether there is one.
    fn read_listed(&mut self) -> Result<bool, Error> {
        loop {
            // WHY before the end is looked at: a segment is not appended to once a later one exists.
            let names = self.storage.names().map_err(io(&*self.storage, "list", ""))?;
            let bases = names::segments(&names);
            let Some(Open { base, next, .. }) = self.segment else {
                let Some(first) = bases.first() else { return Ok(false) };
                self.segment = self.segment(*first, bases.len() == 1)?;
                if self.segment.is_none() {
                    return Ok(false);
                }
                continue;
            };
            let Some((offset, invalid)) = self.step(true)? else { return Ok(true) };
            match (bases.iter().copied().find(|other| *other > base), invalid) {
                (None, invalid) => {
                    self.rest = invalid.map(|what| self.damage(base, offset, what));
                    return Ok(false);
                }
                (Some(_), Some(what)) => {
                    return Err(Error::Damaged(self.damage(base, offset, what)));
                }
                (Some(following), None) => {
                    self.rest = None;
                    let Some(segment) =
                        self.segment(following, bases.last() == Some(&following))?
                    else {
                        return Ok(false);
                    };
                    if following != next && !bases.contains(&base) {
                        let (path, first) = (self.storage.path(), next);
                        return Err(Error::Removed { path, first, oldest: following });
                    }
                    if following != next && !segment.gap {
                        let what = format!("records before {following} are missing");
                        return Err(Error::Damaged(self.damage(base, offset, &what)));
                    }
                    self.segment = Some(segment);
                }
            }
        }
    }

    /// Reads the batch at the position in the segment, if it is there. Otherwise returns the offset, and
    /// what is wrong with the bytes there, if there are any.
    fn step(&mut self, refresh: bool) -> Result<Option<(u64, Option<&'static str>)>, Error> {
        let Some(Open { base, next, scanner, .. }) = &mut self.segment else {
            return Ok(Some((0, None)));
        };
        let read = io(&*self.storage, "read", &names::segment(*base));
        let refreshed = if refresh { scanner.refresh() } else { Ok(()) };
        match refreshed.and_then(|()| scanner.step()).map_err(read)? {
            Step::Batch(batch) if batch.header.first != *next => {
                let (base, what) = (*base, format!("record {next} is missing"));
                Err(Error::Damaged(self.damage(base, batch.offset, &what)))
            }
            Step::Batch(batch) => {
                *next = batch.next();
                self.records.extend(records(&batch));
                Ok(None)
            }
            Step::End => Ok(Some((scanner.offset(), None))),
            Step::Invalid(what) => Ok(Some((scanner.offset(), Some(what)))),
        }
    }
}

/// Returns the records of a batch.
fn records(batch: &Batch) -> impl Iterator<Item = Record> + '_ {
    let time = batch.header.time;
    batch.sections().flat_map(move |(first, section)| {
        let client = section.client;
        (first..).zip(section.messages).map(move |(sequence, message)| Record {
            sequence,
            time,
            client,
            id: message.id,
            payload: message.payload.to_vec(),
        })
    })
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("next", &self.next).finish_non_exhaustive()
    }
}
