//! Start of a child process: when a worker, a server or a supervisor counts as started.

use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;

use purlin_raw::{ReplyReceiver, oneshot};

use super::mail::{Starting, SupervisorMail};
use super::order::KILL_GRACE;
use crate::call::request::CallDeadline;
use crate::node::erlang_types::Peer;
use crate::server::{self, Server, ServerRef, StartError};
use crate::{ExitReason, Outcome, Pid, Process, Reply, SpawnOptions};

/// Exit reason of a server that its start function does not link to the supervisor.
const NOT_LINKED: &str = "not linked to its supervisor: a child is started with start_link(me, …)";

/// Exit reason of a start whose function dropped its [`InitAck`] and did not end.
const NO_ACK: &str = "the worker dropped its InitAck: call ok, ignore, or end with an error";

/// Report of a worker's initialisation to its supervisor, once: OTP's `proc_lib:init_ack`.
///
/// The supervisor handles nothing else until the report: requests, a request to stop and the exit
/// signal of its parent wait too. A worker that may wait for long needs a timeout. If the process
/// ends before the report, the start has failed with the exit reason of the process.
pub struct InitAck(Reply<Started>);

/// Result of an initialisation.
enum Started {
    Ok,
    Ignored,
}

impl InitAck {
    /// Reports that the worker has started: OTP's `init_ack({ok, self()})`.
    pub fn ok(self) {
        self.0.send(Started::Ok);
    }

    /// Reports that no process is needed: OTP's `init_ack(ignore)`. The child has no process then,
    /// and the function is expected to return. The supervisor waits two seconds for that, and then
    /// kills the process with a warning; OTP does not wait and leaves the process running.
    pub fn ignore(self) {
        self.0.send(Started::Ignored);
    }
}

impl fmt::Debug for InitAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InitAck").finish_non_exhaustive()
    }
}

/// Starts a worker and waits until its first turn has ended: its function has reached its first
/// await or has ended.
///
/// A worker that computes for longer than [`KILL_GRACE`] before its first await counts as started,
/// with a warning. A worker whose turns may block is not waited for.
pub(super) fn start_worker<'a, M, F, Fut>(
    me: &'a Process<SupervisorMail>,
    options: SpawnOptions,
    function: F,
) -> Starting<'a>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    let blocks = options.is_blocking();
    // The first poll sets the waker.
    let (ended, mut first_turn) = oneshot::<()>();
    let pid = match options.link(me).spawn_guarded(function, ended) {
        Ok(pid) => pid,
        Err(error) => return Box::pin(ready(Err(error.without_function().into_reason()))),
    };
    let peer = pid.address().clone().untyped();
    if blocks {
        return Box::pin(ready(Ok(Some(peer))));
    }
    Box::pin(async move {
        // A process that ends before its first turn drops the reply, and has started as well: its
        // exit signal follows.
        if CallDeadline::new(KILL_GRACE).wait(|cx| first_turn.poll(cx)).await.is_err() {
            tracing::warn!(pid = %pid.id(), "a worker does not await: the supervisor continues");
        }
        Ok(Some(peer))
    })
}

/// Starts a worker, and waits for nothing.
pub(super) fn spawn_worker<M, F, Fut>(
    me: &Process<SupervisorMail>,
    options: SpawnOptions,
    function: F,
) -> Starting<'static>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    let spawned = options.link(me).spawn(function);
    let peer = spawned.map(|pid| Some(pid.address().clone().untyped()));
    Box::pin(ready(peer.map_err(|error| error.without_function().into_reason())))
}

/// Starts a worker and waits for its [`InitAck`].
pub(super) fn start_with_ack<M, F, Fut>(
    me: &Process<SupervisorMail>,
    options: SpawnOptions,
    function: F,
) -> Starting<'static>
where
    M: Send + 'static,
    F: FnOnce(Process<M>, InitAck) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    // The first poll sets the waker.
    let (ack, acked) = oneshot();
    let ack = InitAck(Reply::new(ack));
    match options.link(me).spawn(move |me| function(me, ack)) {
        Ok(pid) => Box::pin(await_ack(pid, acked)),
        Err(error) => Box::pin(ready(Err(error.without_function().into_reason()))),
    }
}

async fn await_ack<M: Send + 'static>(
    pid: Pid<M>,
    mut acked: ReplyReceiver<Started>,
) -> Result<Option<Peer>, ExitReason> {
    let mut ended = pin!(pid.ended());
    let acked = poll_fn(|cx| {
        if let Poll::Ready(acked) = acked.poll(cx) {
            return Poll::Ready(acked);
        }
        // WHY the end, too: another process may have the `InitAck`. WHY then once more: the process may
        // have reported in between.
        ended.as_mut().poll(cx).map(|_| match acked.poll(cx) {
            Poll::Ready(acked) => acked,
            Poll::Pending => None,
        })
    });
    match acked.await {
        Some(Started::Ok) => Ok(Some(pid.address().clone().untyped())),
        Some(Started::Ignored) => {
            if end(&pid).await.is_none() {
                tracing::warn!(pid = %pid.id(), "a worker is killed: it did not end after ignore");
            }
            Ok(None)
        }
        None => Err(end(&pid).await.unwrap_or_else(|| ExitReason::error(NO_ACK))),
    }
}

/// Waits for the end of a process that is not a child, and kills it after [`KILL_GRACE`].
async fn end<M: Send + 'static>(pid: &Pid<M>) -> Option<ExitReason> {
    let ended = pid.ended_within(KILL_GRACE).await;
    if ended.is_none() {
        pid.exit(ExitReason::Kill);
    }
    ended
}

/// Starts a server and waits until its `init` has returned.
pub(super) fn start_server<S: Server>(
    me: &Process<SupervisorMail>,
    start: server::Start<'_, S>,
    options: SpawnOptions,
) -> Starting<'static> {
    if start.parent() != Some(me.id()) {
        return Box::pin(ready(Err(ExitReason::error(NOT_LINKED))));
    }
    match start.options(options).begin() {
        Ok(starting) => Box::pin(async move { process_of(starting.up().await) }),
        Err(error) => Box::pin(ready(process_of::<S>(Err(error)))),
    }
}

/// Returns the process of a started server, or `None` if its `init` returned `Ignore`.
fn process_of<S: Server>(
    started: Result<ServerRef<S>, StartError>,
) -> Result<Option<Peer>, ExitReason> {
    match started {
        Ok(server) => Ok(Some(server.pid().address().clone().untyped())),
        Err(StartError::Ignored) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
