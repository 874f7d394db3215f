//! Future of the handler that a message has.
//!
//! The handlers of calls, casts and infos are variants of one future, which is created from the
//! envelope. So a message is moved once, from the envelope into the future of its handler.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::behaviour::{Mail, Next, Result, Server, System};
use crate::Process;

pin_project! {
    /// Running handler, or a system message, which has none.
    #[project = Running]
    enum Handler<Call, Cast, Info, S: Server> {
        Call { #[pin] handler: Call },
        Cast { #[pin] handler: Cast },
        Info { #[pin] handler: Info },
        System { system: Option<System<S>> },
    }
}

/// Result of a handler, or a system message for the message loop.
pub(super) enum Handled<S: Server> {
    Next(Result<Next<S>>),
    System(System<S>),
}

impl<Call, Cast, Info, S> Future for Handler<Call, Cast, Info, S>
where
    Call: Future<Output = Result<Next<S>>>,
    Cast: Future<Output = Result<Next<S>>>,
    Info: Future<Output = Result<Next<S>>>,
    S: Server,
{
    type Output = Handled<S>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Handled<S>> {
        let polled = match self.project() {
            Running::Call { handler } => handler.poll(cx),
            Running::Cast { handler } => handler.poll(cx),
            Running::Info { handler } => handler.poll(cx),
            Running::System { system } => {
                return system.take().map_or(Poll::Pending, |it| Poll::Ready(Handled::System(it)));
            }
        };
        polled.map(Handled::Next)
    }
}

/// Calls the handler of a message.
#[inline(always)]
pub(super) fn handle<S: Server>(
    mail: Mail<S>,
    server: &mut S,
    me: &mut Process<Mail<S>>,
) -> impl Future<Output = Handled<S>> {
    match mail {
        Mail::Call(call) => Handler::Call { handler: server.handle_call(call, me) },
        Mail::Cast(cast) => Handler::Cast { handler: server.handle_cast(cast, me) },
        Mail::Info(info) => Handler::Info { handler: server.handle_info(info, me) },
        Mail::System(system) => Handler::System { system: Some(system) },
    }
}
