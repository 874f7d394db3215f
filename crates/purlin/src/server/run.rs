//! The loop of a server.
//!
//! Runs as the function of the server's process. One handler at a time is polled; its panic ends the
//! server and not the loop, which then has `terminate` called and the crash reported.
//!
//! F1: what a server goes on with by itself spends its budget, as receiving does, so a server that
//! always goes on lets others run and can be ended.

use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use super::mail::{Look, Mail, Request, System};
use super::report::{self, LastMessage};
use super::start::{Boot, Unclaimed, Up};
use super::{Init, Next, Result, Server};
use crate::caught::Caught;
use crate::deadline::Deadline;
use crate::exit::catch;
use crate::unless::unless;
use crate::{ExitReason, Process, ProcessId, consume_budget};

/// The whole life of a server; gives the reason of its end.
pub(super) async fn serve<S: Server>(mut me: Process<Mail<S>>, boot: Boot<S>) -> ExitReason {
    let Boot { args, name, parent, up, mut given_up } = boot;
    if let Some(Err(error)) = name.as_deref().map(|name| me.register(name)) {
        up.send(Up::NotNamed(error));
        return ExitReason::Normal;
    }
    let given_up = move |cx: &mut Context<'_>| given_up.poll(cx).map(drop);
    let Some(made) = unless(given_up, S::init(args, &mut me)).await else {
        return ExitReason::Normal;
    };
    let (server, first) = match made {
        Ok(Init::Ready(server)) => (server, Next::Wait),
        Ok(Init::Then(server, next)) => (server, next),
        Ok(Init::Ignore) => {
            up.send(Up::Ignored);
            return ExitReason::Normal;
        }
        Err(error) => return ExitReason::error(error),
    };
    up.send(Up::Ready(Unclaimed::new(me.pid())));
    let last = LastMessage::new(S::LAST_MESSAGE);
    Loop { server, me, parent, last }.run(first).await
}

struct Loop<S: Server> {
    server: S,
    me: Process<Mail<S>>,
    /// Whose exit ends a server that traps exits.
    parent: Option<ProcessId>,
    last: LastMessage,
}

impl<S: Server> Loop<S> {
    /// One handler after the other, until one says stop.
    async fn run(mut self, first: Next<S>) -> ExitReason {
        let mut next = first;
        let reason = loop {
            let mail = match next {
                Next::Wait => self.me.receive().await,
                Next::Timeout(time) => match self.receive_within(time).await {
                    Some(mail) => mail,
                    None => {
                        self.last.note("timeout", &());
                        let handler = Caught::new(|| self.server.handle_timeout(&mut self.me));
                        next = after(handler.await);
                        continue;
                    }
                },
                Next::Continue(term) => {
                    consume_budget().await;
                    self.last.note("continue", &term);
                    let handler = || self.server.handle_continue(term, &mut self.me);
                    next = after(Caught::new(handler).await);
                    continue;
                }
                Next::Stop(reason) => break reason,
            };
            next = match mail {
                Mail::Call(call) => {
                    self.last.note("call", &call);
                    after(Caught::new(|| self.server.handle_call(call, &mut self.me)).await)
                }
                Mail::Cast(cast) => {
                    self.last.note("cast", &cast);
                    after(Caught::new(|| self.server.handle_cast(cast, &mut self.me)).await)
                }
                Mail::Info(info) => self.info(info).await,
                Mail::System(System(Request::Exit(exit, info))) => {
                    // Above the parent is the node, which is no process.
                    if exit.from.is_none() || exit.from == self.parent {
                        break exit.reason;
                    }
                    match catch::panics(|| info(exit)) {
                        Ok(info) => self.info(info).await,
                        Err(reason) => Next::Stop(reason),
                    }
                }
                Mail::System(System(Request::Stop(reason))) => break reason,
                Mail::System(System(Request::Look(look))) => {
                    self.show(look);
                    Next::Wait
                }
            };
        };
        self.end(reason).await
    }

    async fn info(&mut self, info: S::Info) -> Next<S> {
        self.last.note("info", &info);
        after(Caught::new(|| self.server.handle_info(info, &mut self.me)).await)
    }

    /// The next message; `None` if none comes in that time. A look changes nothing, not even how
    /// long the server has waited.
    async fn receive_within(&mut self, time: Duration) -> Option<Mail<S>> {
        let mut deadline = Deadline::after(time);
        loop {
            let came = poll_fn(|cx| {
                // WHY before the time: whose budget is used up has not looked.
                if !purlin_raw::spend() {
                    purlin_raw::poll_again(cx.waker());
                    return Poll::Pending;
                }
                if let Some(mail) = self.me.try_receive() {
                    return Poll::Ready(Some(mail));
                }
                // L7: a server that is to end does so here; its timeout does not save it.
                if self.me.is_over() {
                    return Poll::Pending;
                }
                if deadline.poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                self.me.wait(cx);
                Poll::Pending
            });
            match came.await {
                Some(Mail::System(System(Request::Look(look)))) => self.show(look),
                came => return came,
            }
        }
    }

    /// Shows the state. A panic on the way is the asker's loss.
    fn show(&self, look: Look<S>) {
        let _ = catch::panics(|| look(&self.server));
    }

    /// Ends the server, which has `terminate` to say, or to change, its last word.
    async fn end(mut self, mut reason: ExitReason) -> ExitReason {
        let terminate = Caught::new(|| self.server.terminate(&reason, &mut self.me));
        if let Err(worse) = terminate.await {
            reason = worse;
        }
        if !reason.is_orderly() {
            report::crash(&self.me, &self.server, &self.last, &reason);
        }
        reason
    }
}

/// What comes after a handler, however it ended.
fn after<S: Server>(handled: std::result::Result<Result<Next<S>>, ExitReason>) -> Next<S> {
    match handled {
        Ok(Ok(next)) => next,
        Ok(Err(error)) => Next::Stop(ExitReason::error(error)),
        Err(reason) => Next::Stop(reason),
    }
}
