//! Servers: processes with a state that handle calls, casts and infos. OTP's `gen_server`.
//!
//! A type becomes a server by implementing [`Server`]: the types of its messages and a handler for
//! each. This module provides the message loop, the synchronous start that waits for
//! [`Server::init`], the orderly stop, timeouts and crash reports.
//!
//! ```
//! use std::convert::Infallible;
//! use purlin::server::{self, Init, Mail, Next, Server};
//! use purlin::{ExitReason, Process, Reply};
//!
//! /// The state: the number of tickets left.
//! #[derive(Debug)]
//! struct Tickets(u32);
//!
//! #[derive(Debug)]
//! enum Call { Left(Reply<u32>), Buy(u32, Reply<bool>) }
//!
//! #[derive(Debug)]
//! enum Cast { Print(u32), Close }
//!
//! impl Server for Tickets {
//!     type Args = u32;
//!     type Call = Call;
//!     type Cast = Cast;
//!     type Info = Infallible;
//!     type Continue = Infallible;
//!
//!     async fn init(left: u32, _me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
//!         Ok(Init::Ready(Tickets(left)))
//!     }
//!
//!     async fn handle_call(
//!         &mut self,
//!         call: Call,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Next<Self>> {
//!         match call {
//!             Call::Left(reply) => reply.send(self.0),
//!             Call::Buy(n, reply) => {
//!                 let sold = n <= self.0;
//!                 self.0 -= if sold { n } else { 0 };
//!                 reply.send(sold);
//!             }
//!         }
//!         Ok(Next::Wait)
//!     }
//!
//!     async fn handle_cast(
//!         &mut self,
//!         cast: Cast,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Next<Self>> {
//!         match cast {
//!             Cast::Print(n) => self.0 += n,
//!             Cast::Close => return Ok(Next::Stop(ExitReason::Normal)),
//!         }
//!         Ok(Next::Wait)
//!     }
//! }
//!
//! #[purlin::main]
//! async fn main() -> server::Result<()> {
//!     let tickets = server::start::<Tickets>(10).await?;
//!     assert!(tickets.call(|reply| Call::Buy(7, reply)).await?);
//!     assert!(!tickets.call(|reply| Call::Buy(7, reply)).await?);
//!     tickets.cast(Cast::Print(100));
//!     assert_eq!(tickets.call(Call::Left).await?, 103);
//!     assert_eq!(tickets.state().await?, "Tickets(103)");
//!     tickets.cast(Cast::Close);
//!     assert_eq!(tickets.pid().ended().await, ExitReason::Normal);
//!     Ok(())
//! }
//! ```
//!
//! | in OTP | here |
//! |---|---|
//! | `{reply, Reply, State}` | `reply.send(answer)`, then [`Next::Wait`]; the [`Reply`](crate::Reply) may be kept and sent later |
//! | `{noreply, State}` | `Ok(Next::Wait)` |
//! | `{noreply, State, Timeout}`, then `timeout` | `Ok(Next::Timeout(time))`, then [`Server::handle_timeout`] |
//! | `{noreply, State, {continue, Term}}` | `Ok(Next::Continue(term))` |
//! | `{stop, Reason, State}` | `Ok(Next::Stop(reason))`, or an error by `?` |
//! | `ignore` | `Ok(Init::Ignore)` |
//! | `gen_server:start`, `start_link` | [`start`], [`start_link`] |
//! | `call`, `cast`, `stop` | [`ServerRef::call`], [`ServerRef::cast`], [`ServerRef::stop`] |
//! | `sys:get_state` | [`ServerRef::state`] |
//!
//! # Crash reports
//!
//! A server crashes when a handler panics, returns an error, or stops it with a reason that is not
//! orderly. [`Server::terminate`] is called first. Then, as in OTP, the crash is reported: through
//! `tracing`, at level `ERROR`, with the server's type, pid, last message, state and reason.

mod mail;
mod report;
mod run;
mod server_ref;
mod start;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

pub use mail::{Mail, System};
pub use server_ref::ServerRef;
pub use start::{Start, StartError, start, start_link};

use crate::{ExitReason, Process};

/// Result of a handler. An error stops the server and becomes its exit reason.
///
/// `?` accepts any error and any string; an [`ExitReason`] is used unchanged.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A server. The implementing type is its state; its behaviour is defined by the handlers.
///
/// Handlers are written as `async fn`. One handler runs at a time; while it awaits, the server's
/// other messages wait. A handler that is not implemented does what OTP's default does.
///
/// `me` is the server's process, for operations that only it can perform: its pid, links, monitors.
/// A handler may also receive selectively from it; see [`Mail`].
pub trait Server: fmt::Debug + Send + Sized + 'static {
    /// Argument of [`Server::init`].
    type Args: Send + 'static;
    /// Calls: an enum whose variants each carry a [`Reply`](crate::Reply).
    type Call: fmt::Debug + Send + 'static;
    /// Casts: messages without a reply.
    type Cast: fmt::Debug + Send + 'static;
    /// Infos: messages of other origin, such as timers, `Down` and `Exit`.
    type Info: fmt::Debug + Send + 'static;
    /// Argument of [`Server::handle_continue`].
    type Continue: fmt::Debug + Send + 'static;

    /// Limit, in bytes, of the last message's `Debug` text in a crash report; 0 disables it.
    ///
    /// COST: before each message is handled, its text is written into one buffer of at most this
    /// size: a few hundred instructions for a small message, about 1600 for one with two fields and
    /// a string (a call costs about 1700 without it). Text beyond the limit is not written, but
    /// collections in the message are still walked to their end. If that walk takes more than a
    /// microsecond, the text of some of the following messages is skipped, so that the walk costs
    /// at most a microsecond per message on average.
    const LAST_MESSAGE_LIMIT: usize = 256;

    /// Creates the state. The starter waits until this returns.
    ///
    /// # Errors
    /// An error is the exit reason of the server, which does not start; `terminate` is not called.
    fn init(
        args: Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Init<Self>>> + Send;

    /// Handles a call. The reply may be sent here, or later by any holder of the `Reply`.
    ///
    /// The default stops the server with an error, since no call is expected.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_call(
        &mut self,
        call: Self::Call,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_call: {call:?}").into()) }
    }

    /// Handles a cast. The default stops the server with an error.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_cast(
        &mut self,
        cast: Self::Cast,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_cast: {cast:?}").into()) }
    }

    /// Handles any other message. The default logs and drops it.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_info(
        &mut self,
        info: Self::Info,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        async move {
            report::unhandled::<Self>(me.id(), &info);
            Ok(Next::Wait)
        }
    }

    /// Runs after [`Next::Continue`], before any message. The default stops the server with an
    /// error.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_continue(
        &mut self,
        term: Self::Continue,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_continue: {term:?}").into()) }
    }

    /// Called when no message has arrived within the time of [`Next::Timeout`]. The default logs
    /// it.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_timeout(
        &mut self,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        async move {
            report::unhandled::<Self>(me.id(), &"timeout");
            Ok(Next::Wait)
        }
    }

    /// Cleans up. Called when the server is stopped, when a handler has stopped it, failed or
    /// panicked, and when the server traps exits and receives an exit signal of its parent.
    ///
    /// Not called when the server is killed, or ended by an exit signal that it does not trap; its
    /// state is dropped in any case.
    fn terminate(
        &mut self,
        reason: &ExitReason,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (reason, me);
        async {}
    }
}

/// Result of [`Server::init`].
pub enum Init<S: Server> {
    /// The server is ready and waits for messages.
    Ready(S),
    /// The server is ready and first does what `Next` says.
    Then(S, Next<S>),
    /// The server is not needed; it ends without an error.
    Ignore,
}

/// What a server does after a handler has returned.
pub enum Next<S: Server> {
    /// Waits for the next message.
    Wait,
    /// Waits; if no message arrives within this time, [`Server::handle_timeout`] is called.
    Timeout(Duration),
    /// Calls [`Server::handle_continue`] before any message.
    Continue(S::Continue),
    /// Stops: calls [`Server::terminate`] and ends the process with this reason.
    Stop(ExitReason),
}

impl<S: Server> fmt::Debug for Init<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(server) => f.debug_tuple("Ready").field(server).finish(),
            Self::Then(server, next) => f.debug_tuple("Then").field(server).field(next).finish(),
            Self::Ignore => f.write_str("Ignore"),
        }
    }
}

impl<S: Server> fmt::Debug for Next<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait => f.write_str("Wait"),
            Self::Timeout(time) => f.debug_tuple("Timeout").field(time).finish(),
            Self::Continue(term) => f.debug_tuple("Continue").field(term).finish(),
            Self::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
        }
    }
}
