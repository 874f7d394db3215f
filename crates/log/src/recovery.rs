//! Recovery: opens a log for appending after a close, a crash or a power loss.

use std::any::Any;
use std::io::ErrorKind;
use std::sync::Arc;

use crate::analysis::{self, Analysis, Depth, Segment, Torn, io};
use crate::clients::Clients;
use crate::confirmed;
use crate::error::Error;
use crate::format::{names, segment};
use crate::storage::{File, Storage};

/// Bytes per write.
const BLOCK: u64 = 1 << 20;

/// What the recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Torn end that was cut off. It was never synced.
    pub cut: Option<Torn>,
    /// Checkpoints that were damaged, and removed. An earlier one was used, or the log was read from its
    /// beginning.
    pub damaged_checkpoints: Vec<String>,
}

/// State of a log that is open for appending.
pub(crate) struct Recovered {
    /// Segments before the last.
    pub(crate) older: Vec<Segment>,
    pub(crate) last: Segment,
    pub(crate) file: Box<dyn File>,
    pub(crate) clients: Clients,
    pub(crate) next: u64,
    /// Whether a checkpoint covers all of it.
    pub(crate) covered: bool,
    pub(crate) recovery: Recovery,
}

/// Locks a log for writing.
pub(crate) fn lock(storage: &dyn Storage) -> Result<Box<dyn Any + Send>, Error> {
    storage.lock().map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => Error::Locked { path: storage.path() },
        _ => Error::Io { action: "lock", path: storage.path(), error },
    })
}

/// Analyses the log, refuses a damaged one, cuts a torn end off and makes the rest durable. Remembers
/// `clients` clients.
pub(crate) fn recover(storage: &Arc<dyn Storage>, clients: usize) -> Result<Recovered, Error> {
    let storage = &**storage;
    let analysis = analysis::analyse(storage, Depth::Recovery(clients))?;
    if let Some(damage) = analysis.damage.first() {
        return Err(Error::Damaged(damage.clone()));
    }
    let Analysis {
        mut segments,
        torn,
        unfinished,
        damaged_checkpoints,
        covered,
        clients,
        next,
        synced,
        ..
    } = analysis;
    for name in unfinished.iter().chain(&damaged_checkpoints) {
        storage.remove(name).map_err(io(storage, "remove", name))?;
    }
    let (last, file) = match segments.pop() {
        Some(mut last) => {
            let name = &last.name;
            let file = storage.open(name, false).map_err(io(storage, "open", name))?;
            if let Some(torn) = &torn {
                file.truncate(torn.offset).map_err(io(storage, "truncate", name))?;
                last.length = torn.offset;
            }
            persist(&*file, synced, last.length).map_err(io(storage, "sync", name))?;
            (last, file)
        }
        None => create(storage, next, next)?,
    };
    storage.sync_names().map_err(io(storage, "sync", ""))?;
    // WHY: a reader may have confirmed records that a power loss has removed. Later ones get their numbers.
    confirmed::lower(storage, next)?;
    let covered = covered == Some((last.base, last.length));
    let recovery = Recovery { cut: torn, damaged_checkpoints };
    Ok(Recovered { older: segments, last, file, clients, next, covered, recovery })
}

/// Makes a file durable that was synced up to `synced`.
///
/// WHY it is written again: if the sync of an earlier process failed, the kernel may hold the bytes in
/// pages that it regards as clean. A sync alone would succeed and write nothing.
fn persist(file: &dyn File, synced: u64, length: u64) -> std::io::Result<()> {
    let mut offset = synced;
    while offset < length {
        let mut bytes = vec![0; (length - offset).min(BLOCK) as usize];
        file.read(&mut bytes, offset)?;
        file.write(&bytes, offset)?;
        offset += bytes.len() as u64;
    }
    file.sync()
}

/// Creates a segment. Its header and its name are durable on return.
pub(crate) fn create(
    storage: &dyn Storage,
    base: u64,
    previous: u64,
) -> Result<(Segment, Box<dyn File>), Error> {
    create_after(storage, base, previous, false)
}

/// Creates a segment, after a `gap` that a repair leaves.
pub(crate) fn create_after(
    storage: &dyn Storage,
    base: u64,
    previous: u64,
    gap: bool,
) -> Result<(Segment, Box<dyn File>), Error> {
    let name = names::segment(base);
    let created = storage.now();
    let marker = storage.random().map_err(io(storage, "get a random number for", &name))?;
    let header = segment::Header { base, previous, gap, created, marker };
    let file = storage.create(&name).map_err(io(storage, "create", &name))?;
    file.write(&header.to_bytes(), 0).map_err(io(storage, "write", &name))?;
    file.sync().map_err(io(storage, "sync", &name))?;
    storage.sync_names().map_err(io(storage, "sync", ""))?;
    let length = segment::HEADER as u64;
    let segment = Segment { name, base, length, created, batches: 0, records: 0, marker };
    Ok((segment, file))
}

/// Replaces a file by one with these contents, or leaves it as it was. `writing` is the name of the new
/// file until it is whole.
pub(crate) fn replace(
    storage: &dyn Storage,
    writing: &str,
    name: &str,
    bytes: &[u8],
) -> Result<(), Error> {
    let file = storage.create(writing).map_err(io(storage, "create", writing))?;
    file.write(bytes, 0).map_err(io(storage, "write", writing))?;
    file.sync().map_err(io(storage, "sync", writing))?;
    storage.rename(writing, name).map_err(io(storage, "rename", writing))?;
    storage.sync_names().map_err(io(storage, "sync", ""))
}
