//! Behaviour of a server: the trait, the results of its handlers, and the messages of its mailbox.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::protocol::Protocol;
use crate::{Down, Exit, ExitReason, Process, ProcessId};

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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a server",
    note = "write `#[purlin::server]` before an `impl` block of the type, or implement `Server`"
)]
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
    /// a string (a call costs about 720 without it). Text beyond the limit is not written, but
    /// collections in the message are still walked to their end. If that walk takes more than a
    /// microsecond, the text of some of the following messages is skipped, so that the walk costs
    /// at most a microsecond per message on average. While a server handles more than a million
    /// messages per second, it records none. When it becomes slower, it records every message
    /// again, after at most 128 others.
    const LAST_MESSAGE_LIMIT: usize = 256;

    /// Name of the OTP behaviour that the server corresponds to, which `sys:get_status` shows on
    /// other nodes.
    const BEHAVIOUR: &'static str = "gen_server";

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
            unhandled::<Self>(me.id(), &info);
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

    /// Returns the idle timeout: how long [`Next::Wait`] waits for a message before
    /// [`Server::handle_timeout`] is called. The default, `None`, waits without limit.
    ///
    /// Called each time the server waits. [`Next::Timeout`] sets another time for one wait. A panic
    /// stops the server.
    ///
    /// COST: a timer for each wait that finds no message; those of a second or more share one.
    fn idle_timeout(&self) -> Option<Duration> {
        None
    }

    /// Called when no message has arrived within the time of [`Next::Timeout`] or
    /// [`Server::idle_timeout`]. The default logs it.
    ///
    /// # Errors
    /// An error stops the server and becomes its exit reason.
    fn handle_timeout(
        &mut self,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        async move {
            unhandled::<Self>(me.id(), &"timeout");
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

    /// Returns the description of the requests; `None` unless the server is declared by
    /// [`#[purlin::server]`](macro@crate::server).
    fn protocol() -> Option<&'static Protocol> {
        None
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
    /// Waits for the next message, within the time of [`Server::idle_timeout`] if it sets one.
    Wait,
    /// Waits; if no message arrives within this time, [`Server::handle_timeout`] is called.
    /// `Duration::MAX` waits without limit.
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

/// Message of a server's mailbox.
///
/// The server dispatches it to its handlers. It is needed to send without a
/// [`ServerRef`](super::ServerRef), as a timer does, and by a handler that receives:
///
/// ```
/// # use std::convert::Infallible;
/// # use std::time::Duration;
/// # use purlin::server::{self, Init, Mail, Next, Server};
/// # use purlin::{ExitReason, Process, receive};
/// # #[derive(Debug)] struct Clock { ticks: u32 }
/// #[derive(Debug)]
/// enum Info { Tick, Ready(u32) }
/// # impl Server for Clock {
/// #     type Args = (); type Call = Infallible; type Cast = (); type Info = Info;
/// #     type Continue = Infallible;
///
/// async fn init((): (), me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
///     me.pid().send_after(Duration::from_millis(5), Mail::Info(Info::Tick));
///     Ok(Init::Ready(Clock { ticks: 0 }))
/// }
///
/// async fn handle_info(
///     &mut self,
///     info: Info,
///     me: &mut Process<Mail<Self>>,
/// ) -> server::Result<Next<Self>> {
///     me.pid().send(Mail::Info(Info::Ready(7)));
///     // All other messages stay in the mailbox meanwhile.
///     let n = receive!(me, { Mail::Info(Info::Ready(n)) => n });
///     self.ticks += n;
/// #   assert!(matches!(info, Info::Tick));
///     Ok(Next::Stop(ExitReason::Normal))
/// }
/// # }
/// # #[purlin::main] async fn main() -> server::Result<()> {
/// # let clock = server::start::<Clock>(()).await?;
/// # assert_eq!(clock.pid().ended().await, ExitReason::Normal);
/// # Ok(())
/// # }
/// ```
///
/// A server whose `Info` implements `From<`[`Down`]`>` may monitor; one whose `Info` implements
/// `From<`[`Exit`]`>` may trap exits.
pub enum Mail<S: Server> {
    /// Handled by [`Server::handle_call`].
    Call(S::Call),
    /// Handled by [`Server::handle_cast`].
    Cast(S::Cast),
    /// Handled by [`Server::handle_info`].
    Info(S::Info),
    /// Handled by the server loop.
    System(System<S>),
}

/// System message, which no handler receives: a state inspection, a stop request, an exit signal
/// that may be the parent's, or a delayed call of [`Server::handle_continue`].
// WHY boxed: it is rare, and every message of the mailbox has the size of the largest.
pub struct System<S: Server>(pub(super) Box<Request<S>>);

impl<S: Server> System<S> {
    pub(super) fn new(request: Request<S>) -> Self {
        Self(Box::new(request))
    }

    /// Returns the message that has the server call [`Server::handle_continue`] in the order of its
    /// mailbox.
    pub(crate) fn handle_continue(term: S::Continue) -> Self {
        Self::new(Request::Continue(term))
    }
}

/// Function to run on a server's state between two messages.
pub(super) type Inspection<S> = Box<dyn FnOnce(&S) + Send>;

/// Contents of a [`System`] message.
pub(super) enum Request<S: Server> {
    /// Inspect the state.
    Inspect(Inspection<S>),
    /// Stop with this reason.
    Stop(ExitReason),
    /// Exit signal; the function converts it into an info if it is not the parent's.
    Exit(Exit, fn(Exit) -> S::Info),
    /// Call [`Server::handle_continue`].
    Continue(S::Continue),
}

impl<S: Server<Info: From<Down>>> From<Down> for Mail<S> {
    fn from(down: Down) -> Self {
        Self::Info(down.into())
    }
}

impl<S: Server<Info: From<Exit>>> From<Exit> for Mail<S> {
    fn from(exit: Exit) -> Self {
        Self::System(System::new(Request::Exit(exit, S::Info::from)))
    }
}

impl<S: Server> Mail<S> {
    /// Returns whether the message is a state inspection.
    pub(super) fn is_inspection(&self) -> bool {
        matches!(self, Self::System(System(request)) if matches!(**request, Request::Inspect(_)))
    }
}

impl<S: Server> fmt::Debug for Mail<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => f.debug_tuple("Call").field(call).finish(),
            Self::Cast(cast) => f.debug_tuple("Cast").field(cast).finish(),
            Self::Info(info) => f.debug_tuple("Info").field(info).finish(),
            Self::System(system) => f.debug_tuple("System").field(system).finish(),
        }
    }
}

impl<S: Server> fmt::Debug for System<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Request::Inspect(_) => f.write_str("Inspect"),
            Request::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
            Request::Exit(exit, _) => f.debug_tuple("Exit").field(exit).finish(),
            Request::Continue(term) => f.debug_tuple("Continue").field(term).finish(),
        }
    }
}

/// Logs a message for which the server has no handler.
#[cold]
fn unhandled<S>(pid: ProcessId, info: &dyn fmt::Debug) {
    let server = std::any::type_name::<S>();
    tracing::warn!(server, %pid, ?info, "a server was sent what it does not handle");
}
