//! Future of the handler that a message has.
//!
//! The handlers of calls, casts and infos are variants of one future, which is created from the
//! envelope. So a message is moved once, from the envelope into the future of its handler.
//!
//! WHY one future: with an await for each kind of message, the compiler copied the message several
//! times through memory (`docs/internals/servers.md`).

use std::future::Future;
use std::mem::forget;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::Unopened;

use super::behaviour::{Mail, Next, Result, Server, System};
use super::report::LastMessage;
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
    /// The handler returned [`Next::Wait`], as most do.
    Wait,
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
        if matches!(polled, Poll::Ready(Ok(Next::Wait))) {
            // WHY forgotten: there is nothing to drop, and the compiler would call a function for it.
            forget(polled);
            return Poll::Ready(Handled::Wait);
        }
        polled.map(Handled::Next)
    }
}

/// Notes a message as the last one and calls its handler.
#[inline(always)]
pub(super) fn handle<S: Server>(
    mail: Unopened<Mail<S>>,
    last: &mut LastMessage,
    server: &mut S,
    me: &mut Process<Mail<S>>,
) -> impl Future<Output = Handled<S>> {
    let skipped = last.note_text(mail.message());
    match mail.open() {
        Mail::Call(call) => {
            last.set_kind("call", skipped);
            Handler::Call { handler: server.handle_call(call, me) }
        }
        Mail::Cast(cast) => {
            last.set_kind("cast", skipped);
            Handler::Cast { handler: server.handle_cast(cast, me) }
        }
        Mail::Info(info) => {
            last.set_kind("info", skipped);
            Handler::Info { handler: server.handle_info(info, me) }
        }
        Mail::System(system) => Handler::System { system: Some(system) },
    }
}
