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
use crate::signals::local_state::LocalState;
use crate::signals::signal::Signal;
use crate::trace::hooks;
use crate::{ExitReason, Node, Outcome, Pid, Process, RegisterError};

/// Error of a spawn, with the function.
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

    /// Drops the function.
    pub(crate) fn without_function(self) -> SpawnError<()> {
        match self {
            Self::SystemLimit(_) => SpawnError::SystemLimit(()),
            Self::Stopping(_) => SpawnError::Stopping(()),
            Self::BadBound(_) => SpawnError::BadBound(()),
            Self::Name(error, _) => SpawnError::Name(error, ()),
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
/// If the node has reached its maximum number of processes or is stopping, the address returned is
/// that of a process that has already ended, with the reason `system_limit`; [`try_spawn`] returns
/// the function instead (E2).
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
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    spawn_here(|node_core, parent| {
        try_spawn_on(node_core, parent, LocalState::default(), (), function, Body::new)
            .unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
    })
}

/// [`spawn()`], but returns the function if the node is full or stopping (E2).
///
/// # Errors
/// Returns [`SpawnError`], which contains the cause and the function.
///
/// # Panics
/// As [`spawn()`].
#[track_caller]
pub fn try_spawn<M, F, Fut>(function: F) -> Result<Pid<M>, SpawnError<F>>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    spawn_here(|node_core, parent| {
        try_spawn_on(node_core, parent, LocalState::default(), (), function, Body::new)
    })
}

impl Node {
    /// Spawns a process on this node, from any thread; see [`spawn()`](crate::spawn()).
    pub fn spawn<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.try_spawn(function)
            .unwrap_or_else(|error| ended_placeholder(self.node_core(), Parent::current(), error))
    }

    /// [`Node::spawn`], but returns the function if the node is full or stopping (E2).
    ///
    /// # Errors
    /// Returns [`SpawnError`], which contains the cause and the function.
    pub fn try_spawn<M, F, Fut>(&self, function: F) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(function));
        };
        let (parent, local) = (Parent::current(), LocalState::default());
        try_spawn_on(self.node_core(), parent, local, (), function, Body::new)
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
    panic!("spawned outside a node: this thread runs no process; use Node::spawn")
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
/// the function.
#[inline]
pub(crate) fn try_spawn_on<M, F, B>(
    node_core: &NodeCore<ErlangTypes>,
    parent: Parent,
    local: LocalState,
    bound: B::Bound,
    function: F,
    make: impl FnOnce(F, Owner<ErlangTypes, M>) -> B,
) -> Result<Pid<M>, SpawnError<F>>
where
    M: Send + 'static,
    B: purlin_raw::Body<ErlangTypes, M>,
{
    let node_state = node_core.state();
    if node_state.stopping.load(Ordering::SeqCst) {
        return Err(SpawnError::Stopping(function));
    }
    let shared = Shared::new(node_state.creation, parent);
    match node_core.spawn(shared, local, bound, function, make) {
        Ok(address) => {
            // ORDER: after the slot was filled, in the total order of SeqCst: either this load sees
            // that the node stops, or `Stopper::end_all`, which walks the table after the flag was
            // set, sees the process.
            if node_state.stopping.load(Ordering::SeqCst) {
                let _ = address.signal(Signal::Exit { from: None, reason: ExitReason::Shutdown });
            }
            // System processes are not traced.
            if is_traced() && !address.shared().is_system() {
                hooks::spawned(&address, function_name::<F>());
            }
            Ok(Pid::new(address))
        }
        Err(purlin_raw::SpawnError(function)) => Err(SpawnError::SystemLimit(function)),
    }
}
