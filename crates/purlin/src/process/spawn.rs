//! Spawning of processes.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use purlin_raw::{NodeCore, Owner, is_traced};

use crate::node::context::with_context;
use crate::node::erlang_types::ErlangTypes;
use crate::process::body::Body;
use crate::process::exit_status::ExitStatus;
use crate::process::function_name::function_name;
use crate::process::shared::{Parent, Shared};
use crate::process::unwind::contain;
use crate::signals::local_state::LocalState;
use crate::signals::signal::Signal;
use crate::trace::hooks;
use crate::{ExitReason, Node, Outcome, Pid, Process, RegisterError};

/// Error of a spawn, with what was to be spawned: the function of a process or the future of a task.
pub enum SpawnError<F> {
    /// The node has reached its maximum number of processes.
    SystemLimit(F),
    /// The node is stopping or has stopped.
    Stopping(F),
    /// The bound is outside 1 to 4,294,967,295 messages.
    BadBound(F),
    /// The process cannot have the requested name.
    Name(RegisterError, F),
}

impl<F> SpawnError<F> {
    /// Returns the function that was to be spawned.
    pub fn into_inner(self) -> F {
        match self {
            Self::SystemLimit(function)
            | Self::Stopping(function)
            | Self::BadBound(function)
            | Self::Name(_, function) => function,
        }
    }

    /// Returns the same error with what `convert` makes of the function.
    pub(crate) fn map<G>(self, convert: impl FnOnce(F) -> G) -> SpawnError<G> {
        match self {
            Self::SystemLimit(function) => SpawnError::SystemLimit(convert(function)),
            Self::Stopping(function) => SpawnError::Stopping(convert(function)),
            Self::BadBound(function) => SpawnError::BadBound(convert(function)),
            Self::Name(error, function) => SpawnError::Name(error, convert(function)),
        }
    }

    /// Drops the function, which owns user values, whose destructors may panic.
    pub(crate) fn without_function(self) -> SpawnError<()> {
        self.map(|function| contain(|| drop(function)))
    }
}

impl SpawnError<()> {
    /// Returns the exit reason of a child or a server whose process was not spawned.
    pub(crate) fn into_reason(self) -> ExitReason {
        match self {
            Self::SystemLimit(()) | Self::Stopping(()) => ExitReason::SystemLimit,
            Self::BadBound(()) => ExitReason::error(self.to_string()),
            Self::Name(error, ()) => ExitReason::error(error),
        }
    }
}

impl<F> fmt::Debug for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemLimit(_) => f.write_str("SystemLimit(..)"),
            Self::Stopping(_) => f.write_str("Stopping(..)"),
            Self::BadBound(_) => f.write_str("BadBound(..)"),
            Self::Name(error, _) => write!(f, "Name({error:?}, ..)"),
        }
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SystemLimit(_) => {
                f.write_str("system_limit: the node has as many processes as it may have")
            }
            Self::Stopping(_) => f.write_str("the node is stopping"),
            Self::BadBound(_) => {
                f.write_str("the bound of a mailbox is from 1 to 4,294,967,295 messages")
            }
            Self::Name(error, _) => fmt::Display::fmt(error, f),
        }
    }
}

impl<F> std::error::Error for SpawnError<F> {}

/// Spawns a process on the current node and returns its address immediately (P1).
///
/// The function receives a [`Process`], its handle on itself. It may be a named `async fn` or an
/// async closure:
///
/// ```
/// # use purlin::{Process, spawn};
/// async fn greeter(mut me: Process<String>) {
///     println!("hello {}", me.receive().await);
/// }
///
/// # #[purlin::main] async fn main() {
/// let pid = spawn(greeter);
/// pid.send("world".into());
/// let other = spawn(async |mut me: Process<u32>| assert_eq!(me.receive().await, 7));
/// other.send(7);
/// # pid.ended().await; assert_eq!(other.ended().await, purlin::ExitReason::Normal);
/// # }
/// ```
///
/// An `async fn` that spawns itself does not compile (E0283), because whether its future is `Send`
/// depends on itself. It calls a function that is not `async`, which spawns it:
///
/// ```
/// # use purlin::{Pid, Process, spawn};
/// async fn folder(_me: Process<()>, depth: u32) {
///     if depth > 0 {
///         spawn_folder(depth - 1).ended().await;
///     }
/// }
///
/// fn spawn_folder(depth: u32) -> Pid<()> {
///     spawn(move |me| folder(me, depth))
/// }
/// # #[purlin::main] async fn main() { spawn_folder(3).ended().await; }
/// ```
///
/// If the node has reached its maximum number of processes or is stopping, the address returned is
/// that of a process that has already ended, with the reason `system_limit`;
/// [`SpawnOptions::spawn`](crate::SpawnOptions::spawn) returns the function instead (E2).
///
/// # Panics
/// Panics on a thread that runs no process; use [`Node::spawn`](crate::Node::spawn) there.
///
/// COST: one block of memory, usually from this thread's free list.
#[inline]
#[track_caller]
pub fn spawn<M, F, Fut>(function: F) -> Pid<M>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    // WHY a comment behind the bound: the compiler shows that line for the mistake.
    Fut: Future + Send + 'static, // an `async fn` that spawns itself: see the documentation
    Fut::Output: Outcome,
{
    spawn_here(|node_core, parent| {
        try_spawn_on(node_core, parent, LocalState::default(), (), function, Body::new)
            .unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
    })
}

impl Node {
    /// Spawns a process on this node, from any thread; see [`spawn()`](crate::spawn()).
    /// [`SpawnOptions::spawn_on`](crate::SpawnOptions::spawn_on) spawns one with options.
    pub fn spawn<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let placeholder = |error| ended_placeholder(self.node_core(), Parent::current(), error);
        self.try_spawn(function).unwrap_or_else(placeholder)
    }

    /// Spawns a process like [`Node::spawn`], or returns the function.
    pub(crate) fn try_spawn<M, F, Fut>(&self, function: F) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(function));
        };
        let (node_core, parent) = (self.node_core(), Parent::current());
        try_spawn_on(node_core, parent, LocalState::default(), (), function, Body::new)
    }

    /// Begins a spawn from any thread: counts it as in progress until the returned guard is dropped.
    /// Returns `None` if the node is stopping.
    pub(crate) fn begin_spawn(&self) -> Option<impl Drop> {
        struct UnderWay<'a>(&'a AtomicUsize);
        impl Drop for UnderWay<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        // WHY: checked before the spawn is counted, so that repeated attempts do not delay the
        // stop.
        if self.node_state().stopping.load(Ordering::Relaxed) {
            return None;
        }
        let spawns = &self.node_state().outside_spawns;
        spawns.fetch_add(1, Ordering::SeqCst);
        Some(UnderWay(spawns))
    }
}

/// Calls `spawn` with the current node and the process that spawns.
#[inline]
#[track_caller]
pub(crate) fn spawn_here<R>(spawn: impl FnOnce(&NodeCore<ErlangTypes>, Parent) -> R) -> R {
    match with_context(|here| spawn(&here.node_core, here.parent())) {
        Some(spawned) => spawned,
        None => not_in_a_process(),
    }
}

#[cold]
#[track_caller]
fn not_in_a_process() -> ! {
    panic!(
        "spawned outside a node: this thread runs no process; use Node::spawn, Node::start for a \
         server, or SpawnOptions::spawn_on"
    )
}

/// Returns the placeholder for a failed spawn: never in the table, never runs; every send fails.
#[cold]
pub(crate) fn ended_placeholder<M: Send + 'static, F>(
    node_core: &NodeCore<ErlangTypes>,
    parent: Parent,
    error: SpawnError<F>,
) -> Pid<M> {
    let function = function_name::<F>();
    tracing::error!(function, node = node_core.state().name, "no process was spawned: {error}");
    let shared = Shared::new(node_core.state().creation, parent);
    let number = node_core.state().failed_spawns.fetch_add(1, Ordering::Relaxed);
    Pid::new(node_core.spawn_ended(number, shared, ExitStatus::new(ExitReason::SystemLimit)))
}

/// Spawns a process with the initial private state `local` and the body that `make` creates from
/// `goods`, which an error returns.
#[inline]
pub(crate) fn try_spawn_on<M, G, B>(
    node_core: &NodeCore<ErlangTypes>,
    parent: Parent,
    local: LocalState,
    bound: B::Bound,
    goods: G,
    make: impl FnOnce(G, Owner<ErlangTypes, M>) -> B,
) -> Result<Pid<M>, SpawnError<G>>
where
    M: Send + 'static,
    B: purlin_raw::Body<ErlangTypes, M>,
{
    let node_state = node_core.state();
    if node_state.stopping.load(Ordering::SeqCst) {
        return Err(SpawnError::Stopping(goods));
    }
    let shared = Shared::new(node_state.creation, parent);
    match node_core.spawn(shared, local, bound, goods, make) {
        Ok(address) => {
            // ORDER: after the slot was filled, in the total order of SeqCst: either this load sees
            // that the node stops, or `Stopper::end_all`, which walks the table after the flag was
            // set, sees the process.
            if node_state.stopping.load(Ordering::SeqCst) {
                let _ = address.signal(Signal::Exit { from: None, reason: ExitReason::Shutdown });
            }
            // System processes are not traced.
            if is_traced() && !address.shared().is_system() {
                hooks::spawned(&address, B::name());
            }
            Ok(Pid::new(address))
        }
        Err(purlin_raw::SpawnError(goods)) => Err(SpawnError::SystemLimit(goods)),
    }
}
