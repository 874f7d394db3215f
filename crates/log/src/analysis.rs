//! Analysis of a log: its segments, the states of its clients, a torn end, damage. Changes nothing.
//!
//! A crash leaves the end of the last segment torn: the unsynced writes after the last sync are there,
//! missing, or there in part, and in any order. Everything else that is not whole is damage. The
//! bytes at an offset of the last segment were synced, and are damaged if they are not whole, if
//!
//! - a checkpoint covers them,
//! - a later whole batch says that they were synced when it was written, or
//! - the next segment was being created.
//!
//! Damage to what the last sync of a log that was not closed has written looks like a torn end, because
//! nothing was written after it.

use std::path::PathBuf;

use crate::clients::Clients;
use crate::error::{Damage, Error};
use crate::format::checkpoint::{self, Checkpoint};
use crate::format::names;
use crate::format::segment::{self, Header, Invalid};
use crate::scan::{self, Batch, Scanner, Step};
use crate::storage::{File, Storage};

/// How much of a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// All headers, the last segment, and what the checkpoint does not cover, up to the first damaged
    /// segment. This number of clients is remembered.
    Recovery(usize),
    /// Everything. All clients are remembered.
    Whole,
}

impl Depth {
    /// Returns the number of clients that are remembered.
    fn clients(self) -> usize {
        match self {
            Self::Recovery(clients) => clients,
            // WHY no limit: the log may have been opened with any, which applies again to the first
            // commit after an opening.
            Self::Whole => usize::MAX,
        }
    }
}

/// Segment of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Name of the file.
    pub name: String,
    /// Sequence number of its first record.
    pub base: u64,
    /// Length of the file in bytes.
    pub length: u64,
    /// Milliseconds since 1970 at which it was created.
    pub created: u64,
    /// Number of whole batches and records that were read.
    pub batches: u64,
    /// Number of records in these batches.
    pub records: u64,
    pub(crate) marker: u64,
}

/// Torn end of the last segment, left by a crash: bytes that were never synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The file.
    pub path: PathBuf,
    /// Offset of the first byte that does not belong to a whole batch.
    pub offset: u64,
    /// Number of bytes from there on.
    pub bytes: u64,
    /// Whether all of these are zeros.
    pub zeros: bool,
}

/// Result of the analysis.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) segments: Vec<Segment>,
    pub(crate) torn: Option<Torn>,
    /// Whether the last segment was being created: nothing was written to it.
    pub(crate) unfinished: Option<String>,
    pub(crate) damage: Vec<Damage>,
    /// Names of checkpoints that are not whole.
    pub(crate) damaged_checkpoints: Vec<String>,
    /// Base and synced length of the last segment in the newest whole checkpoint.
    pub(crate) covered: Option<(u64, u64)>,
    pub(crate) clients: Clients,
    /// Sequence number after the last record, also if the record is damaged.
    pub(crate) next: u64,
    /// Length of the last segment that is known to have been synced.
    pub(crate) synced: u64,
}

pub(crate) fn io(
    storage: &dyn Storage,
    action: &'static str,
    name: &str,
) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let path = storage.path().join(name);
    move |error| Error::Io { action, path, error }
}

/// Reads a file as a whole.
pub(crate) fn contents(storage: &dyn Storage, name: &str) -> Result<Vec<u8>, Error> {
    let read = || whole(&*storage.open(name, true)?);
    read().map_err(io(storage, "read", name))
}

/// Returns the bytes of a file. WHY no limit: a checkpoint is as long as its clients need, and the
/// writer of the log had memory for it.
fn whole(file: &dyn File) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(file.length()?).map_err(std::io::Error::other)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    bytes.resize(length, 0);
    file.read(&mut bytes, 0)?;
    Ok(bytes)
}

/// Reads a log, again whenever a file that was listed has been removed: the log may be appended to
/// meanwhile, which removes old segments and checkpoints.
pub(crate) fn repeat<T>(
    storage: &dyn Storage,
    mut read: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    loop {
        let read = read();
        if let Err(Error::Io { path, error, .. }) = &read
            && error.kind() == std::io::ErrorKind::NotFound
        {
            let names = storage.names().map_err(io(storage, "list", ""))?;
            if !names.iter().any(|name| path.ends_with(name)) {
                continue;
            }
        }
        return read;
    }
}

/// Analyses a log.
pub(crate) fn analyse(storage: &dyn Storage, depth: Depth) -> Result<Analysis, Error> {
    repeat(storage, || analyse_once(storage, depth))
}

fn analyse_once(storage: &dyn Storage, depth: Depth) -> Result<Analysis, Error> {
    let names = storage.names().map_err(io(storage, "list", ""))?;
    let mut analysis = Analysis::default();
    let mut checkpoint = analysis.checkpoint(storage, &names, depth)?;
    analysis.headers(storage, &names, checkpoint.as_ref())?;
    if let Some(checkpoint) = &mut checkpoint {
        analysis.clients = std::mem::take(&mut checkpoint.clients);
        analysis.covered = Some((checkpoint.base, checkpoint.length));
        analysis.next = checkpoint.next;
        if !analysis.segments.iter().any(|segment| segment.base == checkpoint.base) {
            let name = names::segment(checkpoint.base);
            analysis.report(storage, &name, 0, "the segment is missing".into());
        }
    } else if let Some(first) = analysis.segments.first()
        && first.base > 0
    {
        let (name, what) = (
            first.name.clone(),
            "earlier segments are missing, and no checkpoint has their clients",
        );
        analysis.report(storage, &name, 0, what.into());
    }
    let last = analysis.segments.len().saturating_sub(1);
    let covered = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.base);
    let first = match depth {
        Depth::Whole => 0,
        Depth::Recovery(_) => {
            let first = analysis.segments.iter().position(|segment| segment.base >= covered);
            first.unwrap_or(last)
        }
    };
    for index in first..analysis.segments.len() {
        if depth != Depth::Whole && !analysis.damage.is_empty() {
            break;
        }
        analysis.scan(storage, index, checkpoint.as_ref(), depth.clients())?;
    }
    Ok(analysis)
}

impl Analysis {
    fn report(&mut self, storage: &dyn Storage, name: &str, offset: u64, what: String) {
        self.damage.push(Damage { path: storage.path().join(name), offset, what });
    }

    /// Reads the newest whole checkpoint.
    fn checkpoint(
        &mut self,
        storage: &dyn Storage,
        names: &[String],
        depth: Depth,
    ) -> Result<Option<Checkpoint>, Error> {
        let mut newest = None;
        for sequence in names::checkpoints(names).into_iter().rev() {
            if newest.is_some() && depth != Depth::Whole {
                break;
            }
            let name = names::checkpoint(sequence);
            match checkpoint::decode(&contents(storage, &name)?) {
                Some(checkpoint) => newest = newest.or(Some(checkpoint)),
                None => self.damaged_checkpoints.push(name),
            }
        }
        Ok(newest)
    }

    /// Reads the headers of all segments.
    fn headers(
        &mut self,
        storage: &dyn Storage,
        names: &[String],
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(), Error> {
        let bases = names::segments(names);
        for (index, base) in bases.iter().copied().enumerate() {
            let name = names::segment(base);
            let file = open(storage, &name)?;
            let read = || Ok((scan::header(&*file)?, file.length()?, scan::first_marker(&*file)?));
            let (header, length, marker) = read().map_err(io(storage, "read", &name))?;
            let covered = checkpoint.is_some_and(|checkpoint| checkpoint.base >= base);
            let last = index + 1 == bases.len();
            let mut segment =
                Segment { name, base, length, created: 0, batches: 0, records: 0, marker: 0 };
            match header {
                // WHY: the header is synced before a batch is written.
                Err(Invalid::Damaged) if last && !covered && length <= segment::HEADER as u64 => {
                    self.unfinished = Some(segment.name);
                    break;
                }
                Err(Invalid::Damaged) => {
                    let what = "the header of the segment is damaged".into();
                    self.report(storage, &segment.name, 0, what);
                    segment.marker = marker.unwrap_or_default();
                }
                Err(Invalid::Version(version)) => {
                    return Err(Error::Version {
                        path: storage.path().join(segment.name),
                        version,
                    });
                }
                Ok(header) => {
                    let before = index.checked_sub(1).and_then(|before| bases.get(before));
                    if let Some(what) = misplaced(header, base, before.copied()) {
                        self.report(storage, &segment.name, 0, what);
                    }
                    segment.created = header.created;
                    segment.marker = header.marker;
                }
            }
            self.segments.push(segment);
        }
        Ok(())
    }

    /// Reads the batches of a segment. Remembers `clients` clients.
    fn scan(
        &mut self,
        storage: &dyn Storage,
        index: usize,
        checkpoint: Option<&Checkpoint>,
        clients: usize,
    ) -> Result<(), Error> {
        let Segment { name, base, marker, .. } = self.segments[index].clone();
        let following = self.segments.get(index + 1).map(|segment| segment.base);
        // Length up to which the segment is known to have been synced.
        let durable = match (following, checkpoint) {
            (Some(_), _) => u64::MAX,
            (None, Some(checkpoint)) if checkpoint.base == base => checkpoint.length,
            (None, _) => 0,
        };
        let applied = |batch: &Batch| {
            checkpoint.is_some_and(|checkpoint| {
                base < checkpoint.base
                    || base == checkpoint.base && batch.offset < checkpoint.length
            })
        };
        let file = open(storage, &name)?;
        let mut scanner = Scanner::new(file, marker).map_err(io(storage, "read", &name))?;
        // WHY: a segment is synced before the next one is created.
        let durable = if self.unfinished.is_some() { scanner.length() } else { durable };
        // `None` behind damage, where any record may follow.
        let mut next = Some(base);
        self.synced = 0;
        loop {
            let step = scanner.step().map_err(io(storage, "read", &name))?;
            let what = match step {
                Step::Batch(batch) if next.is_none_or(|next| batch.header.first == next) => {
                    next = Some(batch.next());
                    let segment = &mut self.segments[index];
                    segment.batches += 1;
                    segment.records += u64::from(batch.header.records);
                    self.synced = batch.header.synced;
                    if !applied(&batch) {
                        let next_write = self.clients.next_write();
                        for (sequence, mut section) in batch.sections() {
                            self.clients.apply(&mut section, sequence);
                        }
                        self.clients.limit(clients, next_write);
                    }
                    continue;
                }
                Step::Batch(batch) => {
                    let what = format!("record {} is not the next one", batch.header.first);
                    self.report(storage, &name, batch.offset, what);
                    next = Some(batch.next());
                    continue;
                }
                Step::End => {
                    let offset = scanner.offset();
                    if following.is_none() && offset < durable {
                        let what = format!("the file ends, and had {durable} synced bytes");
                        self.report(storage, &name, offset, what);
                    } else if let (Some(next), Some(following)) = (next, following)
                        && following != next
                    {
                        self.gap(storage, index, offset)?;
                    }
                    break;
                }
                Step::Invalid(what) => what,
            };
            let offset = scanner.offset();
            let later = |batch: &Batch| durable > offset || batch.header.synced > offset;
            let found = scanner.seek(offset + 1, later).map_err(io(storage, "read", &name))?;
            if durable > offset || found {
                self.report(storage, &name, offset, what.into());
                if !found {
                    break;
                }
                next = None;
                continue;
            }
            let bytes = scanner.length() - offset;
            let zeros = scanner.zeros().map_err(io(storage, "read", &name))?;
            self.torn = Some(Torn { path: storage.path().join(&name), offset, bytes, zeros });
            break;
        }
        self.next = self.next.max(next.unwrap_or(0));
        Ok(())
    }

    /// Reports records missing at the end of a segment, unless a repair has left them out.
    fn gap(&mut self, storage: &dyn Storage, index: usize, offset: u64) -> Result<(), Error> {
        let (name, following) = (&self.segments[index].name, &self.segments[index + 1].name);
        let file = open(storage, following)?;
        let header = scan::header(&*file).map_err(io(storage, "read", following))?;
        if !header.is_ok_and(|header| header.gap) {
            let (name, what) = (name.clone(), format!("records before {following} are missing"));
            self.report(storage, &name, offset, what);
        }
        Ok(())
    }
}

/// Returns what is wrong with a whole header at this place, if anything.
fn misplaced(header: Header, base: u64, before: Option<u64>) -> Option<String> {
    if header.base != base {
        return Some(format!("this is a copy of segment {}", names::segment(header.base)));
    }
    let before = before?;
    (header.previous != before && !header.gap)
        .then(|| format!("the segment {} before it is missing", names::segment(header.previous)))
}

/// Opens a segment for reading.
pub(crate) fn open(storage: &dyn Storage, name: &str) -> Result<Box<dyn File>, Error> {
    storage.open(name, true).map_err(io(storage, "open", name))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::{Depth, File, analyse, whole};
    use crate::simulated::Disk;
    use crate::{Block, Client, Log, Options, Refusal};

    /// File of which only the length exists.
    struct Large(u64);

    impl File for Large {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0)
        }

        fn read(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            Ok(())
        }

        fn write(&self, _: &[u8], _: u64) -> io::Result<()> {
            Ok(())
        }

        fn truncate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn checkpoint_of_more_than_a_gibibyte_is_read_as_a_whole() {
        // COST: the zeros are mapped, and not touched.
        let length = (1 << 30) + 1;
        let read = whole(&Large(length)).expect("there is an address range for it");
        assert_eq!(read.len() as u64, length);
    }

    #[test]
    fn clients_are_limited_for_a_recovery_and_not_for_a_repair() {
        let disk = Disk::new(1);
        let options = Options { clients: usize::MAX, ..Options::default() };
        let mut log = Log::open_on(Arc::new(disk.clone()), options).expect("it is new");
        let refused = [Refusal { id: 0, reason: 1 }];
        for id in 0..9 {
            let client = Some(Client { id: [id; 16], epoch: 0 });
            let block = Block { client, refused: &refused, ..Block::default() };
            log.commit(&[block], true).expect("it works");
        }
        let found = |depth| analyse(&disk, depth).expect("it can be read").clients.len();
        assert_eq!((found(Depth::Recovery(8)), found(Depth::Whole)), (7, 9));
        // WHY not by a log: one with more clients than the default limit takes a minute.
        assert_eq!(Depth::Whole.clients(), usize::MAX);
    }
}
