//! Servers: a process with a state that answers calls, written as a few functions.
//!
//! What OTP calls a `gen_server`. A type becomes a server by saying what it is asked, told and sent,
//! and what it does about each; the loop, the start that waits for [`Server::init`], the orderly
//! stop, timeouts and crash reports are here.
//!
//! ```
//! use std::convert::Infallible;
//! use purlin::server::{self, Init, Mail, Next, Server};
//! use purlin::{ExitReason, Process, Reply};
//!
//! /// The state: how many tickets are left.
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
//! # A crash
//!
//! A server crashes when a handler panics, returns an error, or stops it with a reason that is not
//! orderly. [`Server::terminate`] is called, then the crash is reported through `tracing`, at level
//! `ERROR`, with the server's type, pid, last message, state and reason, as OTP's.

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

/// What handlers return: an error stops the server, and is the reason.
///
/// `?` works with any error, and with a text; an [`ExitReason`] stays what it is.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A server: its state is the type itself, and what it does is in the handlers.
///
/// Handlers are written as `async fn`. One runs at a time; while one awaits, the server's other
/// messages wait. Those that are left out do what OTP's defaults do.
///
/// `me` is the process itself, for what it alone can do: its own pid, links, monitors. A handler may
/// also receive selectively from it; see [`Mail`].
pub trait Server: fmt::Debug + Send + Sized + 'static {
    /// What it is started with.
    type Args: Send + 'static;
    /// What it is asked: an enum whose variants carry a [`Reply`](crate::Reply) each.
    type Call: fmt::Debug + Send + 'static;
    /// What it is told, without an answer.
    type Cast: fmt::Debug + Send + 'static;
    /// What it is sent by those who are no clients: timers, `Down`, `Exit`.
    type Info: fmt::Debug + Send + 'static;
    /// What it goes on with by itself, between two messages.
    type Continue: fmt::Debug + Send + 'static;

    /// How many bytes of a message are kept, as its `Debug` text, for the report of a crash; 0 for none.
    ///
    /// COST: the text is written before each message is handled, into one buffer of this size at
    /// most: a few hundred instructions for a small message, about 1600 for one with two fields and a
    /// string (a call costs about 1700 without). Of one that is longer the rest is not written, but
    /// collections in it are walked to their end; where that takes more than a microsecond, so many
    /// of the messages that follow are not kept that it is less on average.
    const LAST_MESSAGE: usize = 256;

    /// Makes the state. Whoever starts the server waits until this returns.
    ///
    /// # Errors
    /// Why the server cannot be started; it ends with this reason, and `terminate` is not called.
    fn init(
        args: Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Init<Self>>> + Send;

    /// Handles a call. The answer may be given here, or later by whoever has the `Reply` then.
    ///
    /// By default a call stops the server: it is one that nobody should have made.
    ///
    /// # Errors
    /// Why the server stops.
    fn handle_call(
        &mut self,
        call: Self::Call,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_call: {call:?}").into()) }
    }

    /// Handles a cast. By default it stops the server.
    ///
    /// # Errors
    /// Why the server stops.
    fn handle_cast(
        &mut self,
        cast: Self::Cast,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_cast: {cast:?}").into()) }
    }

    /// Handles what others have sent. By default it is logged and dropped.
    ///
    /// # Errors
    /// Why the server stops.
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

    /// Goes on after [`Next::Continue`], before any message. By default it stops the server.
    ///
    /// # Errors
    /// Why the server stops.
    fn handle_continue(
        &mut self,
        term: Self::Continue,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        let _ = me;
        async move { Err(format!("bad_continue: {term:?}").into()) }
    }

    /// No message came within the time of [`Next::Timeout`]. By default that is logged.
    ///
    /// # Errors
    /// Why the server stops.
    fn handle_timeout(
        &mut self,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        async move {
            report::unhandled::<Self>(me.id(), &"timeout");
            Ok(Next::Wait)
        }
    }

    /// Clears up: called when the server is stopped, when a handler has stopped it, failed or
    /// panicked, and when its parent has told it to end and it traps exits.
    ///
    /// It is not called when the server is killed, or ended by an exit signal that it does not trap;
    /// its state is dropped in any case.
    fn terminate(
        &mut self,
        reason: &ExitReason,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (reason, me);
        async {}
    }
}

/// What [`Server::init`] has made.
pub enum Init<S: Server> {
    /// The server is ready and waits for messages.
    Ready(S),
    /// The server is ready and does something else first.
    Then(S, Next<S>),
    /// There is to be no server, and nothing is wrong.
    Ignore,
}

/// What a server does after a handler has returned.
pub enum Next<S: Server> {
    /// It waits for the next message.
    Wait,
    /// It waits, and if no message comes for that long [`Server::handle_timeout`] is called.
    Timeout(Duration),
    /// It goes on with [`Server::handle_continue`], before any message.
    Continue(S::Continue),
    /// It stops: [`Server::terminate`] is called and the process ends with this reason.
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
