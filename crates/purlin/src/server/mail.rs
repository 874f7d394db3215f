//! What a server's mailbox receives.

use std::fmt;

use super::Server;
use crate::{Down, Exit, ExitReason};

/// What a server's mailbox receives.
///
/// The server sorts it into its handlers. It matters to those who send without a
/// [`ServerRef`](super::ServerRef), as a timer does, and to a handler that receives by itself:
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
///     // Whatever else has come waits meanwhile.
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
/// A server whose `Info` can be made from a [`Down`] may monitor, and one whose `Info` can be made
/// from an [`Exit`] may trap exits.
pub enum Mail<S: Server> {
    /// For [`Server::handle_call`].
    Call(S::Call),
    /// For [`Server::handle_cast`].
    Cast(S::Cast),
    /// For [`Server::handle_info`].
    Info(S::Info),
    /// For the server itself.
    System(System<S>),
}

/// What no handler sees: a look at the state, a stop, an exit signal that may be the parent's.
pub struct System<S: Server>(pub(super) Request<S>);

/// What is done with a server's state between two messages.
pub(super) type Look<S> = Box<dyn FnOnce(&S) + Send>;

/// What the server itself is asked.
pub(super) enum Request<S: Server> {
    /// To show its state to somebody.
    Look(Look<S>),
    /// To stop with this reason.
    Stop(ExitReason),
    /// An exit signal; the function makes an info of it, if it is not the parent's.
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
            Request::Look(_) => f.write_str("Look"),
            Request::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
            Request::Exit(exit, _) => f.debug_tuple("Exit").field(exit).finish(),
        }
    }
}
