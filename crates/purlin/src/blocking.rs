//! Processes that may block their thread.
//!
//! Such a process is one like any other, with a pid, a mailbox and an exit reason, except that a
//! worker which is to run it hands the turn to a thread of tokio's blocking pool (`Workers`). What
//! it does between two awaits may therefore take as long as it likes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::Owner;

use crate::body::Body;
use crate::home::{Erlang, Last, Parent};
use crate::local::Local;
use crate::spawn::{spawn_here, stillborn, try_spawn_as};
use crate::{Node, Outcome, Pid, Process};

pin_project! {
    /// The code of a process that may block.
    pub(crate) struct Blocking<B> {
        #[pin]
        body: B,
    }
}

impl<M: Send + 'static, B: purlin_raw::Body<Erlang, M>> purlin_raw::Body<Erlang, M>
    for Blocking<B>
{
    const BLOCKING: bool = true;
    type Edge = B::Edge;

    fn turn(self: Pin<&mut Self>, me: &Owner<Erlang, M>, cx: &mut Context<'_>) -> Poll<Last> {
        self.project().body.turn(me, cx)
    }

    fn name() -> &'static str {
        B::name()
    }
}

/// What is run for a function that may block, with `E` at the edge of its mailbox.
pub(crate) fn blocking<M, F, Fut, E>(
    function: F,
    me: Owner<Erlang, M>,
) -> Blocking<Body<M, F, Fut, E>>
where
    M: Send + 'static,
{
    Blocking { body: Body::new(function, me) }
}

/// Makes a process that may block its thread between two awaits, on the current node.
///
/// For what has no async form: files, a library that waits, a computation of seconds. The process
/// is one like any other, and may use [`Pid::call_blocking`], [`Node::block_on`] and
/// `std::thread::sleep`; each of its turns runs on a thread of tokio's blocking pool, of which the
/// node has up to 512. A process that blocks all the same without this is survived (F2).
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
/// A node that is full or stopping gives the pid of a process that has already ended, as
/// [`spawn()`](crate::spawn()) does. When the node stops while the process blocks, the stop waits as
/// long as for any other, names it in the report and goes on (E1).
///
/// # Panics
/// On a thread that runs no process; use [`Node::spawn_blocking`] there.
///
/// COST: as `spawn`; each turn costs a task of tokio's and as a rule a switch of threads, some
/// microseconds.
#[track_caller]
pub fn spawn_blocking<M, F, Fut>(function: F) -> Pid<M>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    spawn_here(|realm, parent| {
        try_spawn_as(realm, parent, Local::default(), (), function, blocking)
            .unwrap_or_else(|error| stillborn(realm, parent, error))
    })
}

impl Node {
    /// Makes a process that may block its thread, from any thread; see
    /// [`spawn_blocking()`](crate::spawn_blocking()).
    pub fn spawn_blocking<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.spawn_from_outside(function, |function| {
            try_spawn_as(self.realm(), Parent::current(), Local::default(), (), function, blocking)
        })
        .unwrap_or_else(|error| stillborn(self.realm(), Parent::current(), error))
    }
}
