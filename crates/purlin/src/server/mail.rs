//! Messages of a server's mailbox.

use std::fmt;

use super::Server;
use crate::{Down, Exit, ExitReason};

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

/// System message, which no handler receives: a state inspection, a stop request, or an exit signal
/// that may be the parent's.
pub struct System<S: Server>(pub(super) Request<S>);

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
}

impl<S: Server<Info: From<Down>>> From<Down> for Mail<S> {
    fn from(down: Down) -> Self {
        Self::Info(down.into())
    }
}

impl<S: Server<Info: From<Exit>>> From<Exit> for Mail<S> {
    fn from(exit: Exit) -> Self {
        Self::System(System(Request::Exit(exit, S::Info::from)))
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
        match &self.0 {
            Request::Inspect(_) => f.write_str("Inspect"),
            Request::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
            Request::Exit(exit, _) => f.debug_tuple("Exit").field(exit).finish(),
        }
    }
}
