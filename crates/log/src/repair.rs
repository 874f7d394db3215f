//! Repair: copies the whole batches of a damaged log to a new one.
//!
//! Records keep their sequence numbers, and those of records that are left out are not used again. A new
//! segment begins after records that are left out, and its header says that they are missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::analysis::{self, Depth, Segment, io, open};
use crate::confirmed;
use crate::error::Error;
use crate::format::{batch, checkpoint, names, segment};
use crate::recovery::{create_after, lock, replace};
use crate::scan::{Scanner, Step};
use crate::storage::{File, Folder, Storage};

/// Result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Number of records copied.
    pub records: u64,
    /// Ranges of bytes that were left out.
    pub omitted: Vec<Omitted>,
}

/// Range of bytes that a repair left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// The file.
    pub path: PathBuf,
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Why the first of them are not part of a whole batch.
    pub what: String,
}

/// Copies what is whole from one log to a new one, whose folder must be absent or empty.
///
/// # Errors
/// Fails if the source cannot be read or has a newer version, or the target cannot be written or is
/// not empty.
pub fn repair(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Repaired, Error> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let source = Folder::existing(from);
    let source =
        source.map_err(|error| Error::Io { action: "open", path: from.to_owned(), error })?;
    let target = Folder::create(to);
    let target =
        target.map_err(|error| Error::Io { action: "create", path: to.to_owned(), error })?;
    repair_to(&(Arc::new(source) as Arc<dyn Storage>), &(Arc::new(target) as Arc<dyn Storage>))
}

/// Copies what is whole from one storage to another, which must be empty.
///
/// # Errors
/// As [`repair`].
pub fn repair_to(source: &Arc<dyn Storage>, target: &Arc<dyn Storage>) -> Result<Repaired, Error> {
    let (source, target) = (&**source, &**target);
    if !target.names().map_err(io(target, "list", ""))?.is_empty() {
        let error = std::io::Error::other("the folder is not empty");
        return Err(Error::Io { action: "repair to", path: target.path(), error });
    }
    let _lock = lock(target)?;
    let analysis = analysis::analyse(source, Depth::Whole)?;
    let mut copy = Copy { target, out: None, rotate: true, next: 0, records: 0 };
    let mut omitted = Vec::new();
    for segment in &analysis.segments {
        copy_segment(source, segment, &mut copy, &mut omitted)?;
    }
    let (records, next) = (copy.records, copy.next.max(analysis.next));
    let (base, length) = copy.finish(next)?;
    let bytes = checkpoint::encode(base, length, next, &analysis.clients);
    replace(target, names::WRITING, &names::checkpoint(next), &bytes)?;
    let confirmed = confirmed::read(source)?;
    if confirmed > 0 {
        confirmed::write(target, confirmed)?;
    }
    Ok(Repaired { records, omitted })
}

/// Log being written.
struct Copy<'a> {
    target: &'a dyn Storage,
    out: Option<(Segment, Box<dyn File>)>,
    /// Whether the next batch is the first one of a segment of the source.
    rotate: bool,
    /// Sequence number after the last record.
    next: u64,
    records: u64,
}

impl Copy<'_> {
    /// Begins a segment if a batch with this sequence number cannot follow in the last one.
    fn begin_if_due(&mut self, first: u64) -> Result<(), Error> {
        let (previous, gap) = match &self.out {
            None => (first, false),
            Some((segment, _)) if first != self.next || self.rotate && first > segment.base => {
                (segment.base, first != self.next)
            }
            Some(_) => return Ok(()),
        };
        self.sync()?;
        self.out = Some(create_after(self.target, first, previous, gap)?);
        self.next = first;
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        let Some((segment, file)) = &self.out else { return Ok(()) };
        file.sync().map_err(io(self.target, "sync", &segment.name))
    }

    /// Syncs the last segment, in which the record `next` will follow. Returns its base and its length.
    fn finish(mut self, next: u64) -> Result<(u64, u64), Error> {
        self.rotate = false;
        self.begin_if_due(next)?;
        self.sync()?;
        Ok(self.out.map_or((0, 0), |(segment, _)| (segment.base, segment.length)))
    }

    fn append(&mut self, batch: &crate::scan::Batch) -> Result<(), Error> {
        self.begin_if_due(batch.header.first)?;
        self.rotate = false;
        let Some((segment, file)) = &mut self.out else { return Ok(()) };
        let header = batch::Header {
            marker: segment.marker,
            synced: segment::HEADER as u64,
            ..batch.header
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend_from_slice(&batch.body);
        let name = &segment.name;
        file.write(&bytes, segment.length).map_err(io(self.target, "write", name))?;
        segment.length += bytes.len() as u64;
        self.next = batch.next();
        self.records += u64::from(batch.header.records);
        Ok(())
    }
}

/// Copies the whole batches of a segment.
fn copy_segment(
    source: &dyn Storage,
    segment: &Segment,
    copy: &mut Copy<'_>,
    omitted: &mut Vec<Omitted>,
) -> Result<(), Error> {
    let name = &segment.name;
    let path = source.path().join(name);
    let mut scanner =
        Scanner::new(open(source, name)?, segment.marker).map_err(io(source, "read", name))?;
    let mut omit = |offset: u64, bytes: u64, what: &str| {
        omitted.push(Omitted { path: path.clone(), offset, bytes, what: what.into() });
    };
    // A copy of another segment, or one out of order, brings nothing new.
    if segment.base < copy.next {
        omit(0, scanner.length(), "its records are in an earlier segment");
        return Ok(());
    }
    copy.rotate = true;
    loop {
        let offset = scanner.offset();
        match scanner.step().map_err(io(source, "read", name))? {
            Step::Batch(batch) if batch.header.first >= copy.next => copy.append(&batch)?,
            Step::Batch(batch) => {
                omit(offset, batch.end() - offset, "its records are in an earlier batch");
            }
            Step::End => return Ok(()),
            Step::Invalid(what) => {
                let next = copy.next;
                let found = scanner
                    .seek(offset + 1, |batch| batch.header.first >= next)
                    .map_err(io(source, "read", name))?;
                let end = if found { scanner.offset() } else { scanner.length() };
                omit(offset, end - offset, what);
                if !found {
                    return Ok(());
                }
            }
        }
    }
}
