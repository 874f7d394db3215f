//! Pool: a fixed number of equal children behind one handle, chosen by load or by key.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxBuildHasher;

use super::child::ChildSpec;
use super::handle::ChildHandle;
use super::mail::Start;
use super::spec::SupervisorSpec;
use crate::node::erlang_types::Peer;
use crate::process::process_ref::sealed::Found;
use crate::process::yielding::without_wait;
use crate::server::{Server, ServerRef};
use crate::{CALL_TIMEOUT, CallError, Pid, Reply, SendError};

/// A fixed number of children of one supervisor that run the same [`ChildSpec`]: a worker pool, or
/// a partitioned supervisor as Elixir's `PartitionSupervisor`.
///
/// [`Pool::spec`] is the supervisor's specification. The pool is the handle for clients: it knows
/// the process of each child, also after restarts.
///
/// ```
/// use purlin::supervisor::{ChildSpec, Pool};
/// use purlin::{CallError, Overflow, Process, Reply, SpawnOptions};
///
/// async fn square(mut me: Process<(u64, Reply<u64>)>) {
///     loop {
///         let (n, reply) = me.receive().await;
///         reply.send(n * n);
///     }
/// }
///
/// #[purlin::main]
/// async fn main(me: Process<()>) -> Result<(), CallError> {
///     let options = SpawnOptions::new().bound(100, Overflow::Reject);
///     let pool = Pool::new(4, ChildSpec::worker("square", square).options(options));
///     pool.spec().start_link(&me).await.expect("the workers start");
///     assert_eq!(pool.call(|reply| (12, reply)).await?, 144);
///     Ok(())
/// }
/// ```
///
/// The mailboxes of the children are the queue of the pool: with a bound of 100 messages for each
/// of 4 workers, at most 400 requests wait. A request is assigned when it is sent, so one behind a
/// long request waits even if another child becomes idle. A child that ends fails the requests in
/// its mailbox with its exit reason, and is restarted as its child spec says (G5). Messages without
/// a reply that wait there are dropped and counted (M4).
///
/// For children that keep a part of the data each, [`Pool::partition`] returns the child of a key.
/// Children may be supervisors, which divides the load of starting children:
///
/// ```
/// use purlin::supervisor::{ChildSpec, ChildTemplate, DynamicSupervisorRef, Pool, SupervisorSpec};
/// use purlin::{Pid, Process};
///
/// async fn room(mut me: Process<()>, _name: String) {
///     me.receive().await;
/// }
///
/// #[purlin::main]
/// async fn main(me: Process<()>) {
///     let rooms = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("room", room));
///     let pool = Pool::new(8, ChildSpec::supervisor("rooms", rooms));
///     pool.spec().start_link(&me).await.expect("they have no children yet");
///
///     let partition = pool.partition("lobby").expect("it has started");
///     let partition = DynamicSupervisorRef::<String, Pid<()>>::new(partition);
///     let lobby = partition.find_or_start("lobby", "lobby".into()).await;
///     assert!(lobby.expect("it starts").is_alive());
/// }
/// ```
///
/// COST: choosing the least loaded child reads a lock and the length of the mailbox of each;
/// choosing by key reads one lock.
pub struct Pool<C> {
    shared: Arc<Shared<C>>,
}

struct Shared<C> {
    spec: ChildSpec<C>,
    children: Box<[PoolChild]>,
    /// Child with which the next search for the least loaded one begins.
    next: AtomicUsize,
}

/// Child of a pool.
#[derive(Default)]
struct PoolChild {
    /// Its latest process.
    process: Mutex<Option<Peer>>,
    /// Calls by this pool that have not been answered.
    calls: AtomicUsize,
}

impl PoolChild {
    fn set(&self, process: Option<Peer>) {
        let before = std::mem::replace(&mut *self.lock(), process);
        drop(before);
    }

    /// Returns the process, unless it has ended.
    fn live(&self) -> Option<Peer> {
        self.lock().as_ref().filter(|process| !process.has_ended()).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Peer>> {
        // WHY: no code panics under the lock, so it is never poisoned.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the load of a process: its waiting messages, or its unanswered calls if these are
    /// more. WHY: the message that the child works on is in no mailbox.
    fn load(&self, process: &Peer) -> usize {
        process.mailbox_len().max(self.calls.load(Ordering::Relaxed))
    }
}

/// Counts a call of a child while it lasts.
struct Calling<'a>(&'a PoolChild);

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<C: ChildHandle> Pool<C> {
    /// Creates a pool of `size` children. They start with the supervisor of [`Pool::spec`], under
    /// the id of the spec and a number: `square-0`, `square-1`. The spec must not name its process,
    /// because only one child could have the name.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    pub fn new(size: usize, spec: ChildSpec<C>) -> Self {
        assert!(size > 0, "a pool needs at least one child");
        let children = (0..size).map(|_| PoolChild::default()).collect();
        Self { shared: Arc::new(Shared { spec, children, next: AtomicUsize::new(0) }) }
    }

    /// Returns the specification of the supervisor of the children, with the strategy
    /// `one_for_one`: to start, to change, or as the child of another supervisor by
    /// [`ChildSpec::supervisor`]. It is for one supervisor; of two supervisors of one pool, the
    /// children started last would be used.
    pub fn spec(&self) -> SupervisorSpec {
        let numbers = 0..self.shared.children.len();
        numbers.fold(SupervisorSpec::one_for_one(), |spec, number| spec.child(self.child(number)))
    }

    /// Returns the spec of a child, whose start publishes the process.
    fn child(&self, number: usize) -> ChildSpec<C> {
        let shared = Arc::clone(&self.shared);
        self.shared.spec.clone().in_pool(number, move |start: &Start, me| {
            let starting = start.call(me);
            let shared = Arc::clone(&shared);
            Box::pin(async move {
                let process = starting.await?;
                shared.children[number].set(process.clone());
                Ok(process)
            })
        })
    }

    /// Returns the number of children, running or not.
    pub fn size(&self) -> usize {
        self.shared.children.len()
    }

    /// Returns the running children.
    pub fn children(&self) -> Vec<C> {
        let live = self.shared.children.iter().filter_map(PoolChild::live);
        live.filter_map(|process| C::of(Found(Some(process)))).collect()
    }

    /// Returns the running child with the lowest load: the fewest waiting messages and unanswered
    /// calls of this pool. Of equal ones it returns them in turn. Returns `None` if none is
    /// running.
    pub fn least_loaded(&self) -> Option<C> {
        self.choose().map(|(_, child)| child)
    }

    fn choose(&self) -> Option<(&PoolChild, C)> {
        let children = &self.shared.children;
        let first = self.shared.next.fetch_add(1, Ordering::Relaxed) % children.len();
        let (before, after) = children.split_at(first);
        let live = |child: &PoolChild| {
            let process = child.live()?;
            Some((child.load(&process), process))
        };
        // `min_by_key` returns the first of equal ones.
        let all = after.iter().chain(before).enumerate();
        let loads = all.filter_map(|(passed_over, child)| {
            live(child).map(|(load, process)| (load, passed_over, child, process))
        });
        let (_, passed_over, child, process) = loads.min_by_key(|(load, ..)| *load)?;
        if passed_over > 0 {
            // WHY: the child behind a loaded one would be chosen twice as often as the others.
            self.shared.next.fetch_add(passed_over, Ordering::Relaxed);
        }
        Some((child, C::of(Found(Some(process)))?))
    }

    /// Chooses the least loaded child for a call, which counts until it ends.
    fn call_one(&self) -> Result<(Calling<'_>, C), CallError> {
        let (child, handle) = self.choose().ok_or(CallError::NoProcess)?;
        child.calls.fetch_add(1, Ordering::Relaxed);
        Ok((Calling(child), handle))
    }

    /// Returns the child for a key: always the same number, thus the same process until it is
    /// restarted. Returns `None` while it is not running.
    ///
    /// The number depends on the hash of the key and on the size of the pool only, in every run of
    /// a program that was built once. The hash is fast and not for keys by which a stranger could
    /// overload one child.
    pub fn partition<K: Hash + ?Sized>(&self, key: &K) -> Option<C> {
        let number = FxBuildHasher.hash_one(key) as usize % self.size();
        let process = self.shared.children[number].live()?;
        C::of(Found(Some(process)))
    }
}

impl<M: Send + 'static> Pool<Pid<M>> {
    /// Calls the least loaded worker, and waits for its reply at most five seconds; see
    /// [`Pid::call`].
    ///
    /// # Errors
    /// As [`Pid::call`]; [`CallError::NoProcess`] also if no worker is running.
    pub async fn call<T>(&self, message: impl FnOnce(Reply<T>) -> M) -> Result<T, CallError> {
        self.call_timeout(message, CALL_TIMEOUT).await
    }

    /// [`Pool::call`] with a given timeout; see [`Pid::call_timeout`].
    ///
    /// # Errors
    /// As [`Pool::call`].
    pub async fn call_timeout<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let (_calling, worker) = match self.call_one() {
            Ok(one) => one,
            Err(error) => return Err(without_wait(error).await),
        };
        worker.call_timeout(message, timeout).await
    }

    /// Sends a message to the least loaded worker; see [`Pid::try_send`].
    ///
    /// # Errors
    /// Returns [`SendError`] with the message if no worker is running, or if the mailbox of the
    /// least loaded one is full.
    pub fn try_send(&self, message: M) -> Result<(), SendError<M>> {
        match self.least_loaded() {
            Some(worker) => worker.try_send(message),
            None => Err(SendError::NoProcess(message)),
        }
    }

    /// Sends a message to the least loaded worker, and waits until its mailbox has capacity; see
    /// [`Pid::send_async`].
    ///
    /// # Errors
    /// Returns [`SendError`] with the message if no worker is running, or if the worker ends
    /// meanwhile.
    pub async fn send_async(&self, message: M) -> Result<(), SendError<M>> {
        match self.least_loaded() {
            Some(worker) => worker.send_async(message).await,
            None => without_wait(Err(SendError::NoProcess(message))).await,
        }
    }
}

impl<S: Server> Pool<ServerRef<S>> {
    /// Calls the least loaded server, and waits for its reply at most five seconds; see
    /// [`ServerRef::call`].
    ///
    /// # Errors
    /// As [`ServerRef::call`]; [`CallError::NoProcess`] also if no server is running.
    pub async fn call<T>(&self, call: impl FnOnce(Reply<T>) -> S::Call) -> Result<T, CallError> {
        self.call_timeout(call, CALL_TIMEOUT).await
    }

    /// [`Pool::call`] with a given timeout; see [`ServerRef::call_timeout`].
    ///
    /// # Errors
    /// As [`Pool::call`].
    pub async fn call_timeout<T>(
        &self,
        call: impl FnOnce(Reply<T>) -> S::Call,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let (_calling, server) = match self.call_one() {
            Ok(one) => one,
            Err(error) => return Err(without_wait(error).await),
        };
        server.call_timeout(call, timeout).await
    }
}

impl<C> Clone for Pool<C> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<C> fmt::Debug for Pool<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("spec", &self.shared.spec)
            .field("size", &self.shared.children.len())
            .finish_non_exhaustive()
    }
}
