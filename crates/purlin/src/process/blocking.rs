//! Processes that may block their thread.
//!
//! Such a process has a pid, a mailbox and an exit reason like any other. The difference: its
//! worker hands each turn to a thread of tokio's blocking pool (`Workers`), so the code between two
//! awaits may take any amount of time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::{InTurn, Owner};

use crate::node::erlang_types::ErlangTypes;
use crate::process::body::Body;
use crate::process::exit_status::ExitStatus;
use crate::process::shared::Parent;
use crate::process::spawn::{ended_placeholder, spawn_here, try_spawn_on};
use crate::signals::local_state::LocalState;
use crate::{Node, Outcome, Pid, Process, SpawnError};

pin_project! {
    /// Body of a process that may block.
    pub(crate) struct Blocking<B> {
        #[pin]
        body: B,
    }
}

impl<M: Send + 'static, B: purlin_raw::Body<ErlangTypes, M>> purlin_raw::Body<ErlangTypes, M>
    for Blocking<B>
{
    const BLOCKING: bool = true;
    type Bound = B::Bound;

    fn turn(
        self: Pin<&mut Self>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        self.project().body.turn(me, cx)
    }

    fn name() -> &'static str {
        B::name()
    }
}

/// Creates the body of a process that may block; `E` is the bound of its mailbox.
pub(crate) fn blocking<M, F, Fut, E>(
    function: F,
    me: Owner<ErlangTypes, M>,
) -> Blocking<Body<M, F, Fut, E>>
where
    M: Send + 'static,
{
    Blocking { body: Body::new(function, me) }
}

/// Spawns a process on the current node that may block its thread between two awaits.
///
/// Use it for code without an async form: files, blocking libraries, computations of seconds. The
/// process is otherwise like any other, and may use [`Pid::call_blocking`], [`Node::block_on`] and
/// `std::thread::sleep`. Each of its turns runs on a thread of tokio's blocking pool, which has up
/// to 512 threads per node. A process that blocks although it was spawned otherwise is tolerated
/// (F2).
///
/// ```
/// # use purlin::{Process, Reply, spawn_blocking};
/// # #[purlin::main] async fn main() {
/// let files = spawn_blocking(async |mut me: Process<(&'static str, Reply<bool>)>| {
///     loop {
///         let (path, reply) = me.receive().await;
///         reply.send(std::fs::metadata(path).is_ok());
///     }
/// });
/// assert_eq!(files.call(|reply| ("/no/such/file", reply)).await, Ok(false));
/// # }
/// ```
///
/// If the node is full or stopping, the returned pid belongs to a process that has already ended,
/// as with [`spawn()`](crate::spawn()). If the process blocks while the node stops, the stop waits
/// as long as for any other process, names it in the report and continues (E1).
///
/// # Panics
/// Panics on a thread that runs no process; use [`Node::spawn_blocking`] there.
///
/// COST: as `spawn`. Each turn costs a tokio task and usually a thread switch, some microseconds.
#[track_caller]
pub fn spawn_blocking<M, F, Fut>(function: F) -> Pid<M>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    spawn_here(|node_core, parent| {
        try_spawn_on(node_core, parent, LocalState::default(), (), function, blocking)
            .unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
    })
}

impl Node {
    /// Spawns a process that may block its thread, from any thread; see
    /// [`spawn_blocking()`](crate::spawn_blocking()).
    pub fn spawn_blocking<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (node_core, parent) = (self.node_core(), Parent::current());
        let spawned = match self.begin_spawn() {
            None => Err(SpawnError::Stopping(function)),
            Some(_spawning) => {
                try_spawn_on(node_core, parent, LocalState::default(), (), function, blocking)
            }
        };
        spawned.unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
    }
}
