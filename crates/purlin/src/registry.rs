//! Registry: table of processes by key, as Elixir's `Registry`.
//!
//! ```
//! use purlin::registry::Registry;
//! use purlin::{Pid, Process, Reply, spawn};
//!
//! # #[purlin::main] async fn main() -> purlin::server::Result<()> {
//! let rooms: Registry<(u32, String), Pid<Reply<usize>>, &str> = Registry::unique();
//! let room = spawn(async |mut me: Process<Reply<usize>>| me.receive().await.send(7));
//! rooms.register((1, "lobby".into()), &room, "the first room")?;
//!
//! let key = (1, "lobby".to_string());
//! let found = rooms.whereis(&key).expect("the room has not ended");
//! assert_eq!(rooms.lookup(&key), [(found.clone(), "the first room")]);
//! assert_eq!(found.call(|reply| reply).await, Ok(7));
//!
//! // The room has replied and ends, which removes its entries.
//! room.ended().await;
//! assert_eq!(rooms.whereis(&key), None);
//! # Ok(())
//! # }
//! ```
//!
//! A registry is a value: its clones share one table, which is in no node and under no name. It
//! holds local processes, including proxies of remote ones.

use std::borrow::Borrow;
use std::fmt::{self, Display};
use std::hash::Hash;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Place;
use dashmap::mapref::one::RefMut;
use rustc_hash::FxBuildHasher;

use crate::node::erlang_types::Peer;
use crate::process::process_ref::sealed::ToProcess as _;
use crate::process::unwind::contain;
use crate::process::yielding::without_wait;
use crate::signals::signal::{EndWatch, Signal};
use crate::supervisor::{ChildHandle, DynamicSupervisorRef, StartChildError};
use crate::{ProcessId, ToProcess};

/// Table of processes by key: Elixir's `Registry`.
///
/// `K` is the type of the keys, `P` that of the processes' handles
/// ([`Pid<M>`](crate::Pid), [`ServerRef<S>`](crate::server::ServerRef),
/// [`Recipient<T>`](crate::Recipient) or [`ProcessId`]), and `V` that of a value stored with each
/// entry. A process may be registered under any number of keys. Its end removes its entries, and a
/// look-up never returns a process that has ended (N4).
///
/// No method may be called from the implementations of [`Hash`], [`Eq`], [`Clone`] and [`Drop`] of
/// `K` and `V`, nor from the function given to [`update_value`](Self::update_value): these run under
/// a lock of the table, and the call may wait for itself.
///
/// COST: the table is divided into shards with a lock each. A look-up takes the read lock of one
/// shard and sends nothing. The first registration of a process sends it a signal, and a
/// registration allocates its keys. Removing the entries of a process, as its end does, reads all
/// entries under each of its keys.
pub struct Registry<K, P, V = ()> {
    tables: Arc<Tables<K, P, V>>,
}

struct Tables<K, P, V> {
    /// Whether a key has at most one live process.
    unique: bool,
    /// Entries by key, in the order of registration.
    entries: DashMap<K, Vec<Entry<P, V>>>,
    /// Keys of each registered process. INVARIANT: locked before `entries`.
    processes: DashMap<ProcessId, Registered<K>, FxBuildHasher>,
}

struct Entry<P, V> {
    peer: Peer,
    process: P,
    value: V,
}

struct Registered<K> {
    /// A key for each entry.
    keys: Vec<K>,
    /// Wakes [`Leave`]. Dropping it tells the process that it is not needed any longer.
    _at_end: Arc<EndWatch>,
}

/// Error of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A live process has the key, and keys are unique: Elixir's `already_registered`.
    AlreadyRegistered(ProcessId),
    /// The process has ended.
    NoProcess(ProcessId),
}

impl Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyRegistered(by) => {
                write!(f, "already_registered: process {by} has the key")
            }
            Self::NoProcess(id) => write!(f, "noproc: process {id} has ended"),
        }
    }
}

impl std::error::Error for RegisterError {}

/// Waker of a process's end, which removes its entries.
struct Leave<K, P, V> {
    id: ProcessId,
    tables: Weak<Tables<K, P, V>>,
}

impl<K, P, V> Wake for Leave<K, P, V>
where
    K: Eq + Hash + Send + Sync + 'static,
    P: Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    fn wake(self: Arc<Self>) {
        if let Some(tables) = self.tables.upgrade() {
            tables.remove_process(self.id);
        }
    }
}

impl<K: Eq + Hash, P, V> Tables<K, P, V> {
    fn remove_process(&self, id: ProcessId) {
        let Some(mut registered) = self.processes.get_mut(&id) else { return };
        let keys = std::mem::take(&mut registered.keys);
        let mut taken = Vec::new();
        // WHY under the lock: the process may be registered again meanwhile.
        for key in &keys {
            contain(|| taken.push(self.take(key, id)));
        }
        if taken.len() < keys.len() {
            // `Hash` or `Eq` of a key has panicked: look for its entries without them.
            let entries = self.entries.iter_mut().flat_map(|mut left| take_of(&mut left, id));
            taken.push(Taken { entries: entries.collect(), key: None });
        }
        drop(registered);
        self.forget_unregistered(id);
        taken.into_iter().for_each(Taken::discard);
        discard(keys);
    }

    /// Removes a process that has no keys.
    fn forget_unregistered(&self, id: ProcessId) {
        self.processes.remove_if(&id, |_, registered| registered.keys.is_empty());
    }

    /// Takes the entries of a process out of a key. Takes none if `Hash` or `Eq` of the key panics.
    /// WHY: the caller drops them without a lock, because they hold user values.
    fn take<Q>(&self, key: &Q, id: ProcessId) -> Taken<K, P, V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let Some(mut left) = self.entries.get_mut(key) else {
            return Taken { entries: Vec::new(), key: None };
        };
        let entries = take_of(&mut left, id);
        drop(left);
        let mut removed = None;
        // After a panic here the key stays, with no entry.
        contain(|| removed = self.entries.remove_if(key, |_, left| left.is_empty()));
        Taken { entries, key: removed.map(|(key, _)| key) }
    }
}

/// Takes the entries of a process out of those under a key.
fn take_of<P, V>(entries: &mut Vec<Entry<P, V>>, id: ProcessId) -> Vec<Entry<P, V>> {
    entries.extract_if(.., |entry| ProcessId::of(&entry.peer) == id).collect()
}

/// What [`Tables::take`] has taken.
struct Taken<K, P, V> {
    entries: Vec<Entry<P, V>>,
    /// The table's key, if no entry is left under it.
    key: Option<K>,
}

impl<K, P, V> Taken<K, P, V> {
    fn discard(self) {
        discard(self.entries);
        discard(self.key);
    }
}

/// Drops user values, without a lock. Each panic is contained, so that it ends no other process.
fn discard<T>(values: impl IntoIterator<Item = T>) {
    for value in values {
        contain(|| drop(value));
    }
}

impl<K, P, V> Registry<K, P, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    P: Clone + Send + Sync + 'static,
    for<'a> &'a P: ToProcess,
    V: Clone + Send + Sync + 'static,
{
    /// Creates a registry in which a key belongs to at most one live process.
    pub fn unique() -> Self {
        Self::new(true)
    }

    /// Creates a registry in which any number of processes may have the same key, and a process may
    /// have it several times.
    pub fn duplicate() -> Self {
        Self::new(false)
    }

    fn new(unique: bool) -> Self {
        let (entries, processes) = (DashMap::new(), DashMap::default());
        Self { tables: Arc::new(Tables { unique, entries, processes }) }
    }

    /// Registers a process under a key, with a value.
    ///
    /// # Errors
    /// Returns [`RegisterError`] if the process has ended, or if keys are unique and a live process
    /// has the key, be it the same one. A [`ProcessId`] is looked up on the current node: where no
    /// process runs, as in a task of tokio, it counts as ended.
    pub fn register(&self, key: K, process: &P, value: V) -> Result<(), RegisterError> {
        let id = process.id();
        let peer = process.find().0.ok_or(RegisterError::NoProcess(id))?;
        let mut registered = self.registered(id, &peer)?;
        let mut entries = self.tables.entries.entry(key.clone()).or_default();
        let is_live = |entry: &&Entry<P, V>| !entry.peer.has_ended();
        let mut ended = Vec::new();
        if self.tables.unique {
            if let Some(by) = entries.iter().find(is_live).map(|entry| ProcessId::of(&entry.peer)) {
                drop((entries, registered));
                self.tables.forget_unregistered(id);
                return Err(RegisterError::AlreadyRegistered(by));
            }
            // Processes that have ended and whose entries have not been removed yet.
            ended.append(&mut entries);
        }
        entries.push(Entry { peer, process: process.clone(), value });
        registered.keys.push(key);
        drop((entries, registered));
        discard(ended);
        Ok(())
    }

    /// Returns the keys of a live process, and has its end reported.
    fn registered(
        &self,
        id: ProcessId,
        peer: &Peer,
    ) -> Result<RefMut<'_, ProcessId, Registered<K>>, RegisterError> {
        match self.tables.processes.entry(id) {
            _ if peer.has_ended() => Err(RegisterError::NoProcess(id)),
            Place::Occupied(registered) => Ok(registered.into_ref()),
            Place::Vacant(place) => {
                let at_end = Arc::new(EndWatch::default());
                let leave = Leave { id, tables: Arc::downgrade(&self.tables) };
                at_end.set(Some(Waker::from(Arc::new(leave))));
                // WHY under the lock: the process may end immediately, and its end then waits until
                // the entry can be removed.
                let asked = peer.signal(Signal::WatchEnd(Arc::clone(&at_end)));
                asked.map_err(|_| RegisterError::NoProcess(id))?;
                Ok(place.insert(Registered { keys: Vec::new(), _at_end: at_end }))
            }
        }
    }

    /// Removes all entries of a process under a key. Returns whether there was one.
    pub fn unregister<Q>(&self, key: &Q, process: impl ToProcess) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let id = process.id();
        let Some(mut registered) = self.tables.processes.get_mut(&id) else { return false };
        // WHY first: comparing and hashing may panic.
        let matching: Vec<bool> = registered.keys.iter().map(|one| one.borrow() == key).collect();
        let taken = self.tables.take(key, id);
        let mut matching = matching.into_iter();
        let is_matching = |_: &mut K| matching.next().unwrap_or_default();
        let keys: Vec<K> = registered.keys.extract_if(.., is_matching).collect();
        drop(registered);
        self.tables.forget_unregistered(id);
        let is_registered = !taken.entries.is_empty();
        taken.discard();
        discard(keys);
        is_registered
    }

    /// Removes all entries of a process, as its end does.
    pub fn unregister_all(&self, process: impl ToProcess) {
        self.tables.remove_process(process.id());
    }

    /// Returns the live process that was registered first under a key.
    pub fn whereis<Q>(&self, key: &Q) -> Option<P>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entries = self.tables.entries.get(key)?;
        let live = entries.iter().find(|entry| !entry.peer.has_ended())?;
        Some(live.process.clone())
    }

    /// Returns the live processes under a key with their values, in the order of registration.
    pub fn lookup<Q>(&self, key: &Q) -> Vec<(P, V)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let Some(entries) = self.tables.entries.get(key) else { return Vec::new() };
        let live = entries.iter().filter(|entry| !entry.peer.has_ended());
        live.map(|entry| (entry.process.clone(), entry.value.clone())).collect()
    }

    /// Returns the keys of a process, one for each entry. Returns none once the end of the process
    /// has removed its entries.
    pub fn keys(&self, process: impl ToProcess) -> Vec<K> {
        let registered = self.tables.processes.get(&process.id());
        registered.map(|registered| registered.keys.clone()).unwrap_or_default()
    }

    /// Changes the values of a process under a key. Returns whether there was an entry.
    pub fn update_value<Q>(
        &self,
        key: &Q,
        process: impl ToProcess,
        mut update: impl FnMut(&mut V),
    ) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let id = process.id();
        let Some(mut entries) = self.tables.entries.get_mut(key) else { return false };
        let mut updated = false;
        for entry in entries.iter_mut().filter(|entry| ProcessId::of(&entry.peer) == id) {
            update(&mut entry.value);
            updated = true;
        }
        updated
    }

    /// Returns the number of entries of live processes. Reads the whole table.
    pub fn count(&self) -> usize {
        let live = |entries: &Vec<Entry<P, V>>| {
            entries.iter().filter(|entry| !entry.peer.has_ended()).count()
        };
        self.tables.entries.iter().map(|entries| live(&entries)).sum()
    }
}

impl<K, P, V> Registry<K, P, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    P: ChildHandle + Clone + Sync,
    for<'a> &'a P: ToProcess,
    V: Clone + Send + Sync + 'static,
{
    /// Returns the process with this key, or starts a child of a dynamic supervisor.
    ///
    /// The children register themselves before they have started: a server in its `init`, a worker
    /// before its first await or its `InitAck`. While a process has the key, only the table is
    /// read. Otherwise the supervisor finds or starts the child with the text of the key
    /// ([`DynamicSupervisorRef::find_or_start`]), so that two callers get the same child. Two keys
    /// with the same text are one child.
    ///
    /// ```
    /// use purlin::registry::Registry;
    /// use purlin::server::{self, ServerRef};
    /// use purlin::supervisor::{ChildTemplate, Restart, SupervisorSpec};
    /// use purlin::Process;
    ///
    /// type Rooms = Registry<u64, ServerRef<Room>>;
    ///
    /// #[derive(Debug)]
    /// struct Room;
    ///
    /// #[purlin::server]
    /// impl Room {
    ///     #[init]
    ///     fn new(
    ///         number: u64,
    ///         rooms: Rooms,
    ///         me: &mut Process<server::Mail<Self>>,
    ///     ) -> server::Result<Self> {
    ///         rooms.register(number, &ServerRef::new(me.pid()), ())?;
    ///         Ok(Room)
    ///     }
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(me: Process<()>) {
    ///     let rooms = Rooms::unique();
    ///     let template = ChildTemplate::server("room", server::start_link::<Room>)
    ///         .restart(Restart::Transient);
    ///     let supervisor = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
    ///     let supervisor = supervisor.expect("it has no children yet");
    ///
    ///     let args = (7, rooms.clone());
    ///     let room = rooms.find_or_start(&7, &supervisor, args.clone()).await.expect("it starts");
    ///     assert_eq!(rooms.find_or_start(&7, &supervisor, args).await, Ok(room.clone()));
    ///     assert_eq!(rooms.whereis(&7), Some(room));
    /// }
    /// ```
    ///
    /// *Cancellation*: a dropped future may have started the child.
    ///
    /// # Errors
    /// As [`DynamicSupervisorRef::find_or_start`].
    pub async fn find_or_start<Q, A>(
        &self,
        key: &Q,
        supervisor: &DynamicSupervisorRef<A, P>,
        arguments: A,
    ) -> Result<P, StartChildError>
    where
        K: Borrow<Q>,
        Q: Display + Eq + Hash + ?Sized,
        A: Send + 'static,
    {
        match self.whereis(key) {
            Some(process) => without_wait(Ok(process)).await,
            None => supervisor.find_or_start(&key.to_string(), arguments).await,
        }
    }
}

impl<K, P, V> Clone for Registry<K, P, V> {
    fn clone(&self) -> Self {
        Self { tables: Arc::clone(&self.tables) }
    }
}

impl<K, P, V> fmt::Debug for Registry<K, P, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("unique", &self.tables.unique).finish_non_exhaustive()
    }
}
