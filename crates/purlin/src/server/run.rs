//! Message loop of a server.
//!
//! The loop runs in the process function of the server, one handler at a time. A panic in a handler
//! ends the loop, and the process function then calls `terminate` and reports the crash.
//!
//! WHY the panic is caught around the loop: a future around each handler took 41 instructions more
//! per message, and more memory.
//!
//! F1: `handle_continue` consumes budget, as receiving does, so a server that always continues lets
//! other processes run and can be ended.

use std::convert::Infallible;
use std::future::poll_fn;
use std::task::Context;
use std::time::Duration;

use super::behaviour::{Init, Inspection, Mail, Next, Request, Result, Server, System};
use super::handler::{Handled, handle};
use super::report::{self, LastMessage};
use super::server_ref::{ServerRef, stop};
use purlin_raw::{ReplyReceiver, Unopened};

use crate::mailbox::deadline::Deadline;
use crate::process::catch_unwind::CatchUnwind;
use crate::process::unwind::catch;
use crate::race::race;
use crate::{ExitReason, Pid, Process, ProcessId, Reply, consume_budget};

/// Arguments of a server's process.
pub(super) struct Boot<S: Server> {
    pub(super) args: S::Args,
    /// Parent, whose exit signal stops the server if it traps exits.
    pub(super) parent: Option<ProcessId>,
    /// Reports the result of the start to the starter.
    pub(super) up: Reply<Up<S>>,
    /// Resolves when the starter has given up.
    pub(super) given_up: ReplyReceiver<Infallible>,
}

/// Result of a start. A start that fails is reported by the exit reason of the process instead.
pub(super) enum Up<S: Server> {
    Ready(Unclaimed<S>),
    Ignored,
}

/// Handle to a server that is up. Dropping it unclaimed, because the starter has just given up,
/// stops the server.
pub(super) struct Unclaimed<S: Server> {
    pid: Pid<Mail<S>>,
    claimed: bool,
}

impl<S: Server> Unclaimed<S> {
    fn new(pid: Pid<Mail<S>>) -> Self {
        Self { pid, claimed: false }
    }

    pub(super) fn claim(mut self) -> ServerRef<S> {
        self.claimed = true;
        ServerRef::new(self.pid.clone())
    }
}

impl<S: Server> Drop for Unclaimed<S> {
    fn drop(&mut self) {
        if !self.claimed {
            self.pid.send_past_bound(stop(ExitReason::Normal));
        }
    }
}

/// Process function of a server; returns its exit reason.
pub(super) async fn serve<S: Server>(mut me: Process<Mail<S>>, boot: Boot<S>) -> ExitReason {
    let Boot { args, parent, up, mut given_up } = boot;
    let given_up = move |cx: &mut Context<'_>| given_up.poll(cx).map(drop);
    // WHY no variable for the result: it would be part of the future as long as the server runs.
    let (server, first) = match race(given_up, S::init(args, &mut me)).await {
        None => return ExitReason::Normal,
        Some(Ok(Init::Ready(server))) => (server, Next::Wait),
        Some(Ok(Init::Then(server, next))) => (server, next),
        Some(Ok(Init::Ignore)) => {
            up.send(Up::Ignored);
            return ExitReason::Normal;
        }
        Some(Err(error)) => return ExitReason::error(error),
    };
    up.send(Up::Ready(Unclaimed::new(me.pid())));
    let last = LastMessage::new(S::LAST_MESSAGE_LIMIT);
    let mut this = Loop { server, me, parent, last };
    let reason = match CatchUnwind::new(this.run(first)).await {
        Ok(Ok(reason)) => reason,
        Ok(Err(error)) => ExitReason::error(error),
        Err(reason) => reason,
    };
    this.end(reason).await
}

/// State of the message loop.
struct Loop<S: Server> {
    server: S,
    me: Process<Mail<S>>,
    /// Parent, whose exit signal stops a server that traps exits.
    parent: Option<ProcessId>,
    last: LastMessage,
}

impl<S: Server> Loop<S> {
    /// Runs one handler after another until the server stops or a handler fails.
    async fn run(&mut self, first: Next<S>) -> Result<ExitReason> {
        let mut next = first;
        loop {
            let mut limit = match next {
                Next::Wait => self.server.idle_timeout(),
                Next::Timeout(time) => Some(time),
                Next::Continue(term) => {
                    consume_budget().await;
                    self.last.note("continue", &term);
                    next = self.server.handle_continue(term, &mut self.me).await?;
                    continue;
                }
                Next::Stop(reason) => return Ok(reason),
            };
            // WHY a loop inside the loop: most handlers return `Wait`, and its case is then decided
            // without a `Next` in memory.
            next = loop {
                let mail = match limit {
                    None => poll_fn(|cx| self.me.poll_unopened(cx)).await,
                    Some(time) => match self.receive_within(time).await {
                        Some(mail) => mail,
                        None => {
                            self.last.note("timeout", &());
                            break self.server.handle_timeout(&mut self.me).await?;
                        }
                    },
                };
                match handle(mail, &mut self.last, &mut self.server, &mut self.me).await {
                    Handled::Wait => limit = self.server.idle_timeout(),
                    Handled::Next(handled) => break handled?,
                    Handled::System(System(request)) => break self.system(*request).await?,
                }
            };
        }
    }

    /// Handles a system message.
    async fn system(&mut self, request: Request<S>) -> Result<Next<S>> {
        Ok(match request {
            // A signal without a sender comes from the node, which ranks above every parent.
            Request::Exit(exit, _) if exit.from.is_none() || exit.from == self.parent => {
                Next::Stop(exit.reason)
            }
            Request::Exit(exit, info) => {
                let info = info(exit);
                self.last.note("info", &info);
                self.server.handle_info(info, &mut self.me).await?
            }
            Request::Stop(reason) => Next::Stop(reason),
            Request::Continue(term) => Next::Continue(term),
            Request::Inspect(inspection) => {
                self.show(inspection);
                Next::Wait
            }
        })
    }

    /// Returns the next message, or `None` if none arrives within `time`. State inspections are
    /// handled here and do not restart the timeout.
    async fn receive_within(&mut self, time: Duration) -> Option<Unopened<Mail<S>>> {
        let mut deadline = Deadline::after(time);
        loop {
            let take = Process::try_receive_unopened;
            let mail = poll_fn(|cx| self.me.poll_within(take, Some(&mut deadline), cx)).await?;
            if !mail.message().is_inspection() {
                return Some(mail);
            }
            if let Mail::System(System(request)) = mail.open()
                && let Request::Inspect(inspection) = *request
            {
                self.show(inspection);
            }
        }
    }

    /// Runs an inspection. If it panics, only the asker is affected: its call fails.
    fn show(&self, inspection: Inspection<S>) {
        let _ = catch(|| inspection(&self.server));
    }

    /// Ends the server: calls `terminate` and reports a crash. A panic or an `exit` in `terminate`
    /// replaces the exit reason.
    async fn end(&mut self, mut reason: ExitReason) -> ExitReason {
        let terminate = async { self.server.terminate(&reason, &mut self.me).await };
        if let Err(worse) = CatchUnwind::new(terminate).await {
            reason = worse;
        }
        if !reason.is_orderly() {
            report::crash(&self.me, &self.server, &self.last, &reason);
        }
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Idle;

    impl Server for Idle {
        type Args = ();
        type Call = ();
        type Cast = ();
        type Info = ();
        type Continue = ();

        async fn init((): (), _: &mut Process<Mail<Self>>) -> Result<Init<Self>> {
            Ok(Init::Ready(Self))
        }
    }

    #[test]
    fn loop_without_state_takes_at_most_448_bytes() {
        fn bytes<F>(_: impl Fn(Process<Mail<Idle>>, Boot<Idle>) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = bytes(serve::<Idle>);
        assert!(bytes <= 448, "a value that is live across an await is stored: {bytes}");
    }
}
