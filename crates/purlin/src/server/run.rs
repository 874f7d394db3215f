//! The loop of a server.
//!
//! Runs as the function of the server's process. One handler at a time is polled; its panic ends the
//! server and not the loop, which then has `terminate` called and the crash reported.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use purlin_raw::Answer;

use super::caught::Caught;
use super::mail::{Mail, Request, System};
use super::report::{self, LastMessage};
use super::start::{Boot, Unclaimed, Up};
use super::{Init, Next, Result, Server};
use crate::deadline::Deadline;
use crate::exit::catch;
use crate::{ExitReason, Process, ProcessId, Reply};

/// What comes next, or why the server stops.
type Outcome<S> = std::result::Result<Next<S>, ExitReason>;

/// The whole life of a server; gives the reason of its end.
pub(super) async fn serve<S: Server>(mut me: Process<Mail<S>>, boot: Boot<S>) -> ExitReason {
    let Boot { args, name, parent, up, given_up } = boot;
    if let Some(Err(error)) = name.as_deref().map(|name| me.register(name)) {
        up.send(Up::NotNamed(error));
        return ExitReason::Normal;
    }
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

/// The output of a future, unless it is given up before.
async fn unless<F: Future>(mut given_up: Answer<Infallible>, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => given_up.poll(cx).map(|_| None),
    })
    .await
}

struct Loop<S: Server> {
    server: S,
    me: Process<Mail<S>>,
    /// Whose exit ends a server that traps exits.
    parent: Option<ProcessId>,
    last: LastMessage,
}

impl<S: Server> Loop<S> {
    async fn run(mut self, first: Next<S>) -> ExitReason {
        let mut next = first;
        loop {
            match self.step(next).await {
                Ok(then) => next = then,
                Err(reason) => return self.end(reason).await,
            }
        }
    }

    /// Does what comes next.
    async fn step(&mut self, next: Next<S>) -> Outcome<S> {
        let mut patience = match next {
            Next::Wait => None,
            Next::Timeout(time) => Some(Deadline::after(time)),
            Next::Stop(reason) => return Err(reason),
            Next::Continue(term) => {
                self.last.note("continue", &term);
                return handled(self.server.handle_continue(term, &mut self.me)).await;
            }
        };
        loop {
            match receive(&mut self.me, &mut patience).await {
                None => {
                    self.last.note("timeout", &());
                    return handled(self.server.handle_timeout(&mut self.me)).await;
                }
                Some(Mail::Call(call)) => {
                    self.last.note("call", &call);
                    return handled(self.server.handle_call(call, &mut self.me)).await;
                }
                Some(Mail::Cast(cast)) => {
                    self.last.note("cast", &cast);
                    return handled(self.server.handle_cast(cast, &mut self.me)).await;
                }
                Some(Mail::Info(info)) => return self.info(info).await,
                Some(Mail::System(System(Request::Stop(reason)))) => return Err(reason),
                Some(Mail::System(System(Request::Exit(exit, info)))) => {
                    // Above the parent is the node, which is no process.
                    if exit.from.is_none() || exit.from == self.parent {
                        return Err(exit.reason);
                    }
                    return self.info(info(exit)).await;
                }
                // A look changes nothing, not even how long the server has waited.
                Some(Mail::System(System(Request::State(reply)))) => self.show(reply),
            }
        }
    }

    async fn info(&mut self, info: S::Info) -> Outcome<S> {
        self.last.note("info", &info);
        handled(self.server.handle_info(info, &mut self.me)).await
    }

    /// Shows the state. A panic on the way is the asker's loss.
    fn show(&self, reply: Reply<String>) {
        if let Ok(state) = catch::panics(|| format!("{:?}", self.server)) {
            reply.send(state);
        }
    }

    /// Ends the server, which has `terminate` to say, or to change, its last word.
    async fn end(mut self, mut reason: ExitReason) -> ExitReason {
        let terminate = self.server.terminate(&reason, &mut self.me);
        if let Err(worse) = Caught::new(terminate).await {
            reason = worse;
        }
        if !reason.is_orderly() {
            report::crash(&self.me, &self.server, &self.last, &reason);
        }
        reason
    }
}

/// Polls a handler to its end, whatever that is.
async fn handled<S: Server>(handler: impl Future<Output = Result<Next<S>>>) -> Outcome<S> {
    match Caught::new(handler).await {
        Ok(Ok(next)) => Ok(next),
        Ok(Err(error)) => Err(ExitReason::error(error)),
        Err(reason) => Err(reason),
    }
}

/// The next message; `None` when patience is at its end.
async fn receive<M: Send + 'static>(
    me: &mut Process<M>,
    patience: &mut Option<Deadline>,
) -> Option<M> {
    let mut receive = me.receive();
    poll_fn(|cx| match (Pin::new(&mut receive).poll(cx), &mut *patience) {
        (Poll::Ready(message), _) => Poll::Ready(Some(message)),
        (Poll::Pending, Some(patience)) => patience.poll(cx).map(|()| None),
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}
