//! Log that is open for appending.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crc32c::crc32c;

use crate::analysis::{Segment, io};
use crate::clients::Clients;
use crate::confirmed;
use crate::error::Error;
use crate::format::batch::{self, LARGEST_BATCH};
use crate::format::section::Section;
use crate::format::{checkpoint, names, segment};
use crate::options::Options;
use crate::reader::Reader;
use crate::record::{Block, Position};
use crate::recovery::{Recovered, Recovery, create, lock, recover, replace};
use crate::storage::{File, Folder, Storage};

/// Memory that is kept for the next batch, in bytes.
const BUFFER: usize = 4 << 20;
/// Checkpoints that are kept. WHY two: a damaged one is replaced by the one before.
const CHECKPOINTS: usize = 2;

/// A log that is open for appending.
///
/// [`commit`](Self::commit) writes blocks of any number of clients with one write and, on request, one
/// sync. A program with many writers collects their blocks while a commit runs, commits them together
/// and notifies all writers: group commit.
///
/// After a failed write or sync every further call fails: the kernel may have dropped the bytes, and a
/// repeated sync would succeed without writing them. Open the log again to continue.
pub struct Log {
    storage: Arc<dyn Storage>,
    options: Options,
    _lock: Box<dyn Any + Send>,
    recovery: Recovery,
    /// Segments before the last, the oldest first.
    older: Vec<Segment>,
    last: Segment,
    file: Box<dyn File>,
    /// Length of the last segment that is synced.
    synced: u64,
    next: u64,
    /// Sequence number up to which all records are synced, for readers.
    durable: Arc<AtomicU64>,
    clients: Clients,
    /// The first failure.
    failed: Option<String>,
    buffer: Vec<u8>,
}

impl Log {
    /// Opens the log in a folder, creating it if necessary.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if synced bytes are damaged or missing, [`Error::Locked`] if the log
    /// is open, [`Error::Version`] if a newer release has written it, and [`Error::Io`] if the
    /// folder cannot be read or written. Nothing is removed or changed if the log is damaged.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let path = path.as_ref();
        let folder = Folder::create(path);
        let folder =
            folder.map_err(|error| Error::Io { action: "open", path: path.to_owned(), error })?;
        Self::open_on(Arc::new(folder), options)
    }

    /// Opens the log in this storage.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(storage: Arc<dyn Storage>, options: Options) -> Result<Self, Error> {
        let lock = lock(&*storage)?;
        let Recovered { older, last, file, clients, next, covered, recovery } =
            recover(&storage, options.clients)?;
        let synced = last.length;
        let durable = Arc::new(AtomicU64::new(next));
        let log = Self {
            storage,
            options,
            _lock: lock,
            recovery,
            older,
            last,
            file,
            synced,
            next,
            durable,
            clients,
            failed: None,
            buffer: Vec::new(),
        };
        if !covered {
            log.checkpoint()?;
        }
        Ok(log)
    }

    /// Returns what the recovery found and did.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns the sequence number of the next record.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Writes blocks as one batch: after a crash all of it is there, or nothing. If it is `durable`, it
    /// is synced on return, and all batches before it. Messages and refusals of a session that the
    /// [position](Position) of their client covers are stored, and are left out.
    ///
    /// # Errors
    /// Returns [`Error::Malformed`] or [`Error::TooLarge`] if the blocks cannot be stored; nothing has
    /// been written then. After any other error the log has [failed](Error::Failed).
    pub fn commit(&mut self, blocks: &[Block<'_>], durable: bool) -> Result<(), Error> {
        self.check()?;
        let sections = blocks.iter().map(Section::of).collect::<Result<Vec<_>, _>>()?;
        let bytes = batch::HEADER as u64 + sections.iter().map(Section::length).sum::<u64>();
        if bytes > u64::from(LARGEST_BATCH) {
            return Err(Error::TooLarge { bytes });
        }
        let written = self.write(sections, bytes, durable);
        self.note(written)
    }

    /// Makes all batches durable.
    ///
    /// # Errors
    /// Fails if a write or sync failed, now or before.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.check()?;
        let synced = self.sync_file();
        self.note(synced)
    }

    /// Returns the position of a client. All that it covers is durable.
    ///
    /// # Errors
    /// Fails if a write or sync failed, now or before.
    pub fn position(&mut self, client: [u8; 16]) -> Result<Option<Position>, Error> {
        // WHY: the client does not send again what the position covers.
        self.sync()?;
        Ok(self.clients.get(client).cloned())
    }

    /// Returns a reader of the durable records from this sequence number on, or from the oldest record
    /// if that is newer.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn reader(&self, from: u64) -> Result<Reader, Error> {
        Reader::of(Arc::clone(&self.storage), from, Some(Arc::clone(&self.durable)))
    }

    /// Syncs and closes the log. The next opening does not read the whole log.
    ///
    /// # Errors
    /// Fails if a write or sync failed, now or before.
    pub fn close(mut self) -> Result<(), Error> {
        self.sync()?;
        self.checkpoint()
    }

    fn check(&self) -> Result<(), Error> {
        match &self.failed {
            None => Ok(()),
            Some(reason) => Err(Error::Failed { reason: reason.clone() }),
        }
    }

    /// Remembers the first failure.
    fn note<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.failed.get_or_insert(error.to_string());
        }
        result
    }

    /// Writes a batch of at most this length, and syncs it if it is `durable`.
    fn write(
        &mut self,
        mut sections: Vec<Section<'_>>,
        bytes: u64,
        durable: bool,
    ) -> Result<(), Error> {
        let now = self.storage.now();
        self.rotate_if_due(bytes, now)?;
        self.buffer.resize(batch::HEADER, 0);
        let (mut sequence, next_write) = (self.next, self.clients.next_write());
        for section in &mut sections {
            // WHY before the write, and after the rotation: the batch may have several blocks of a
            // client, and a checkpoint must not cover them yet.
            self.clients.apply(section, sequence);
            sequence += u64::from(section.records);
            section.encode(&mut self.buffer);
        }
        let (header, body) = self.buffer.split_at_mut(batch::HEADER);
        let of = batch::Header {
            marker: self.last.marker,
            length: body.len() as u32,
            records: (sequence - self.next) as u32,
            first: self.next,
            synced: self.synced,
            time: now,
            body: crc32c(body),
        };
        header.copy_from_slice(&of.to_bytes());
        let written = self.file.write(&self.buffer, self.last.length);
        written.map_err(io(&*self.storage, "write", &self.last.name))?;
        self.last.length += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER);
        self.next = sequence;
        self.clients.limit(self.options.clients, next_write);
        if durable { self.sync_file() } else { Ok(()) }
    }

    fn sync_file(&mut self) -> Result<(), Error> {
        let (length, name) = (self.last.length, self.last.name.clone());
        if self.synced < length {
            self.file.sync().map_err(io(&*self.storage, "sync", &name))?;
            self.synced = length;
            // ORDER: release, so that a reader that sees the number finds the records.
            self.durable.store(self.next, Ordering::Release);
        }
        Ok(())
    }

    fn rotate_if_due(&mut self, bytes: u64, now: u64) -> Result<(), Error> {
        let Options { segment_bytes, segment_age, .. } = self.options;
        let (next, last) = (self.next, &self.last);
        let full = last.length + bytes > segment_bytes;
        let age = u128::from(now.saturating_sub(last.created));
        let old = segment_age.is_some_and(|most| age >= most.as_millis());
        if (full || old) && next > last.base { self.rotate() } else { Ok(()) }
    }

    /// Begins the next segment. The one before is durable.
    fn rotate(&mut self) -> Result<(), Error> {
        self.sync_file()?;
        let (base, previous) = (self.next, self.last.base);
        let (segment, file) = create(&*self.storage, base, previous)?;
        self.older.push(std::mem::replace(&mut self.last, segment));
        self.file = file;
        self.synced = segment::HEADER as u64;
        self.checkpoint()?;
        self.retain()
    }

    /// Writes a checkpoint of the synced state.
    fn checkpoint(&self) -> Result<(), Error> {
        let (base, length) = (self.last.base, self.last.length);
        let bytes = checkpoint::encode(base, length, self.next, &self.clients);
        replace(&*self.storage, names::WRITING, &names::checkpoint(self.next), &bytes)?;
        let names = self.storage.names().map_err(io(&*self.storage, "list", ""))?;
        let written = names::checkpoints(&names);
        for old in &written[..written.len().saturating_sub(CHECKPOINTS)] {
            let name = names::checkpoint(*old);
            self.storage.remove(&name).map_err(io(&*self.storage, "remove", &name))?;
        }
        Ok(())
    }

    /// Removes the segments that the options allow to remove, the oldest first, but not the last two:
    /// those behind the older checkpoint.
    fn retain(&mut self) -> Result<(), Error> {
        let retention = self.options.retention;
        let confirmed =
            if retention.confirmed { confirmed::read(&*self.storage)? } else { u64::MAX };
        let now = self.storage.now();
        let older = self.older.iter().map(|segment| segment.length).sum::<u64>();
        let mut total = older + self.last.length;
        while let [first, following, ..] = &self.older[..] {
            let age = u128::from(now.saturating_sub(following.created));
            let large = retention.bytes.is_some_and(|most| total > most);
            let old = retention.age.is_some_and(|most| age >= most.as_millis());
            let unlimited = retention.bytes.is_none() && retention.age.is_none();
            let due = large || old || (retention.confirmed && unlimited);
            if !due || following.base > confirmed {
                break;
            }
            self.storage.remove(&first.name).map_err(io(&*self.storage, "remove", &first.name))?;
            // WHY after each: names that vanish in another order would leave a gap after a crash.
            self.storage.sync_names().map_err(io(&*self.storage, "sync", ""))?;
            total -= self.older.remove(0).length;
        }
        Ok(())
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { next, failed, .. } = self;
        f.debug_struct("Log")
            .field("path", &self.storage.path())
            .field("next", next)
            .field("failed", failed)
            .finish_non_exhaustive()
    }
}
