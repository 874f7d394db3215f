//! Simulated storage for tests: power loss, torn and reordered writes, errors.
//!
//! A [`Disk`] keeps what was written apart from what is durable. A power loss persists a random part of
//! each unsynced write, in pieces of a random size, and a random selection of the unsynced names. The
//! same seed gives the same choices.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;

use crate::storage::{File, Storage};

/// Error that is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation happens in part or not at all, and no operation after it.
    PowerLoss,
    /// Writes and creations fail, after a part of the first one: `ENOSPC`.
    NoSpace,
    /// One write fails, after a part of it: `EIO`.
    WriteError,
    /// One sync fails: `EIO`. As in Linux, a part of the unsynced writes is regarded as clean and never
    /// written.
    SyncError,
    /// All changes fail: `EROFS`.
    ReadOnly,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 5] =
        [Self::PowerLoss, Self::NoSpace, Self::WriteError, Self::SyncError, Self::ReadOnly];
}

/// Simulated folder. Clones are the same folder.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a name is unlocked.
    unlocked: Condvar,
}

#[derive(Debug)]
struct State {
    random: Rng,
    nodes: Vec<Node>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    unsynced_names: Vec<NameChange>,
    /// Operations until the fault, and the fault.
    fault: Option<(u64, Fault)>,
    /// Fault that makes all later operations fail.
    lasting: Option<Fault>,
    locked: bool,
    locked_names: BTreeSet<String>,
    now: u64,
}

/// Contents of a file.
#[derive(Clone, Debug, Default)]
struct Node {
    cached: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
}

#[derive(Clone, Debug)]
enum NameChange {
    Link(String, usize),
    Unlink(String),
    Rename { from: String, to: String, node: usize },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Write,
    Create,
    Sync,
    Other,
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Truncate(length) => to.truncate(*length),
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*offset..end].copy_from_slice(bytes);
            }
        }
    }
}

impl NameChange {
    fn apply(&self, to: &mut BTreeMap<String, usize>) {
        match self {
            Self::Link(name, node) => {
                to.insert(name.clone(), *node);
            }
            Self::Unlink(name) => {
                to.remove(name);
            }
            Self::Rename { from, to: name, node } => {
                to.remove(from);
                to.insert(name.clone(), *node);
            }
        }
    }
}

impl Node {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.cached);
        self.unsynced.push(change);
    }

    fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    /// Persists each piece of the unsynced changes with this probability.
    fn persist(&mut self, random: &mut Rng, probability: f64, piece: usize) {
        for change in std::mem::take(&mut self.unsynced) {
            match change {
                Change::Truncate(_) => {
                    if random.f64() < probability {
                        change.apply(&mut self.durable);
                    }
                }
                Change::Write { offset, bytes } => {
                    let mut start = 0;
                    while start < bytes.len() {
                        let end = (start + piece - (offset + start) % piece).min(bytes.len());
                        if random.f64() < probability {
                            let bytes = bytes[start..end].to_vec();
                            Change::Write { offset: offset + start, bytes }
                                .apply(&mut self.durable);
                        }
                        start = end;
                    }
                }
            }
        }
    }
}

impl State {
    /// Counts an operation. Returns the fault that happens in it.
    fn fault(&mut self, operation: Operation) -> Option<Fault> {
        let fits = |fault: Fault| match fault {
            Fault::PowerLoss | Fault::ReadOnly => true,
            Fault::NoSpace => matches!(operation, Operation::Write | Operation::Create),
            Fault::WriteError => operation == Operation::Write,
            Fault::SyncError => operation == Operation::Sync,
        };
        if let Some(fault) = self.lasting {
            return fits(fault).then_some(fault);
        }
        let (left, fault) = self.fault.as_mut()?;
        *left = left.saturating_sub(1);
        let fault = (*left == 0 && fits(*fault)).then_some(*fault)?;
        self.fault = None;
        self.lasting =
            matches!(fault, Fault::PowerLoss | Fault::NoSpace | Fault::ReadOnly).then_some(fault);
        Some(fault)
    }

    fn change_names(&mut self, change: NameChange) -> io::Result<()> {
        let create = matches!(change, NameChange::Link(..));
        let fault = self.fault(if create { Operation::Create } else { Operation::Other });
        match fault {
            Some(Fault::PowerLoss) if self.random.bool() => self.unsynced_names.push(change),
            Some(_) => {}
            None => {
                change.apply(&mut self.names);
                self.unsynced_names.push(change);
                return Ok(());
            }
        }
        Err(error(fault))
    }

    fn node(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn error(fault: Option<Fault>) -> io::Error {
    match fault {
        Some(Fault::NoSpace) => io::ErrorKind::StorageFull.into(),
        Some(Fault::ReadOnly) => io::ErrorKind::ReadOnlyFilesystem.into(),
        Some(Fault::PowerLoss) => io::Error::other("power loss"),
        _ => io::Error::other("input/output error"),
    }
}

impl Disk {
    /// Creates an empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::of(State {
            random: Rng::with_seed(seed),
            nodes: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            unsynced_names: Vec::new(),
            fault: None,
            lasting: None,
            locked: false,
            locked_names: BTreeSet::new(),
            now: 0,
        })
    }

    fn of(state: State) -> Self {
        Self(Arc::new(Shared { state: Mutex::new(state), unlocked: Condvar::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a fault happen at the first operation that it can affect, the `operations`-th from now on
    /// or later. Replaces an earlier one.
    pub fn fail(&self, operations: u64, fault: Fault) {
        self.state().fault = Some((operations.max(1), fault));
    }

    /// Returns the disk as the next process finds it after this one was killed.
    #[must_use]
    pub fn kill(&self) -> Self {
        let mut state = self.state();
        let next = State {
            random: state.random.fork(),
            nodes: state.nodes.clone(),
            names: state.names.clone(),
            durable_names: state.durable_names.clone(),
            unsynced_names: state.unsynced_names.clone(),
            fault: None,
            lasting: None,
            locked: false,
            locked_names: BTreeSet::new(),
            now: state.now,
        };
        // WHY: an operation of the killed process must not succeed.
        state.lasting = Some(Fault::PowerLoss);
        Self::of(next)
    }

    /// Returns the disk as it is after a power loss.
    #[must_use]
    pub fn power_loss(&self) -> Self {
        let next = self.kill();
        {
            let state = &mut *next.state();
            let random = &mut state.random;
            let probability = [0.0, 1.0, 0.5, random.f64()][random.usize(..4)];
            let piece = [1, 16, 512, 4096][random.usize(..4)];
            for node in &mut state.nodes {
                let length = node.cached.len();
                node.persist(random, probability, piece);
                // The length may be durable before the contents.
                if random.u8(..4) == 0 && node.durable.len() < length {
                    node.durable.resize(length, 0);
                }
                node.cached = node.durable.clone();
            }
            for change in std::mem::take(&mut state.unsynced_names) {
                if random.f64() < probability {
                    change.apply(&mut state.durable_names);
                }
            }
            state.names = state.durable_names.clone();
        }
        next
    }

    /// Returns the contents of a file, or `None` if there is no file of that name.
    #[must_use]
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(name).map(|node| state.nodes[*node].cached.clone())
    }

    /// Stores a file durably, replacing one of that name.
    pub fn store(&self, name: &str, contents: Vec<u8>) {
        let mut state = self.state();
        let node = state.nodes.len();
        state.nodes.push(Node {
            cached: contents.clone(),
            durable: contents,
            unsynced: Vec::new(),
        });
        state.names.insert(name.into(), node);
        state.durable_names.insert(name.into(), node);
    }

    /// Moves the clock.
    pub fn advance(&self, milliseconds: u64) {
        self.state().now += milliseconds;
    }
}

/// Open file of a disk.
#[derive(Debug)]
struct Handle {
    disk: Disk,
    node: usize,
}

/// Lock of a disk.
struct Lock(Disk);

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

/// Lock of a name.
struct NameLock(Disk, String);

impl Drop for NameLock {
    fn drop(&mut self) {
        self.0.state().locked_names.remove(&self.1);
        self.0.0.unlocked.notify_all();
    }
}

impl Storage for Disk {
    fn path(&self) -> PathBuf {
        "disk".into()
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send>> {
        let mut state = self.state();
        if state.locked {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.locked = true;
        Ok(Box::new(Lock(self.clone())))
    }

    fn wait_for_lock(&self, name: &str) -> io::Result<Box<dyn Any + Send>> {
        let is_locked = |state: &mut State| state.locked_names.contains(name);
        let unlocked = self.0.unlocked.wait_while(self.state(), is_locked);
        let mut state = unlocked.unwrap_or_else(PoisonError::into_inner);
        state.locked_names.insert(name.into());
        Ok(Box::new(NameLock(self.clone(), name.into())))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn open(&self, name: &str, _: bool) -> io::Result<Box<dyn File>> {
        let node = self.state().node(name)?;
        Ok(Box::new(Handle { disk: self.clone(), node }))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn File>> {
        let mut state = self.state();
        let node = state.nodes.len();
        state.nodes.push(Node::default());
        state.change_names(NameChange::Link(name.into(), node))?;
        Ok(Box::new(Handle { disk: self.clone(), node }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        let node = state.node(from)?;
        state.change_names(NameChange::Rename { from: from.into(), to: to.into(), node })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.node(name)?;
        state.change_names(NameChange::Unlink(name.into()))
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.state();
        if let Some(fault) = state.fault(Operation::Sync) {
            return Err(error(Some(fault)));
        }
        let names = state.names.clone();
        state.durable_names = names;
        state.unsynced_names.clear();
        Ok(())
    }

    fn now(&self) -> u64 {
        self.state().now
    }

    fn random(&self) -> io::Result<u64> {
        Ok(self.state().random.u64(..))
    }
}

impl File for Handle {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.state().nodes[self.node].cached.len() as u64)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.disk.state();
        let start = offset as usize;
        let range = start..start + bytes.len();
        let from = state.nodes[self.node].cached.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let state = &mut *self.disk.state();
        let offset = offset as usize;
        let fault = state.fault(Operation::Write);
        let written = match fault {
            None => bytes.len(),
            Some(Fault::ReadOnly) => 0,
            Some(_) => state.random.usize(..=bytes.len()),
        };
        let bytes = bytes[..written].to_vec();
        state.nodes[self.node].change(Change::Write { offset, bytes });
        fault.map_or(Ok(()), |fault| Err(error(Some(fault))))
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let state = &mut *self.disk.state();
        if let Some(fault) = state.fault(Operation::Other) {
            return Err(error(Some(fault)));
        }
        state.nodes[self.node].change(Change::Truncate(length as usize));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let state = &mut *self.disk.state();
        match state.fault(Operation::Sync) {
            None => {
                state.nodes[self.node].sync();
                Ok(())
            }
            Some(Fault::SyncError) => {
                let State { nodes, random, .. } = state;
                nodes[self.node].persist(random, 0.5, 16);
                Err(error(Some(Fault::SyncError)))
            }
            fault => Err(error(fault)),
        }
    }
}
