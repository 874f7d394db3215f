//! Starting servers, and waiting until they are up.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::Waker;
use std::time::Duration;

use purlin_raw::{Answer, oneshot};

use super::mail::{Mail, Request, System};
use super::run::serve;
use super::{Server, ServerRef};
use crate::call::Patience;
use crate::{ExitReason, Name, Node, Pid, Process, ProcessId, RegisterError, Reply, spawn};

/// How long a server has to end whose start was given up.
const LET_GO: Duration = Duration::from_millis(500);

/// Starts a server and, when awaited, waits until its [`Server::init`] has returned.
///
/// ```
/// # use std::convert::Infallible;
/// # use purlin::Process;
/// # use purlin::server::{self, Init, Mail, Server};
/// # #[derive(Debug)] struct Clerk;
/// # impl Server for Clerk {
/// #     type Args = u32; type Call = Infallible; type Cast = Infallible;
/// #     type Info = Infallible; type Continue = Infallible;
/// #     async fn init(_: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
/// #         Ok(Init::Ready(Clerk))
/// #     }
/// # }
/// # #[purlin::main] async fn main() -> server::Result<()> {
/// use std::time::Duration;
///
/// let clerk = server::start::<Clerk>(7).await?;
/// let patient = server::start::<Clerk>(7).timeout(Duration::from_secs(1)).await?;
/// # let _ = (clerk, patient);
/// # Ok(())
/// # }
/// ```
///
/// Nothing is started before it is awaited. The server is on the current node ([`Node::start`] takes
/// another) and has no parent: its end harms nobody. [`start_link`] starts one that has.
///
/// *Cancellation*: where the starter gives up, by dropping the future or by its timeout, `init` is
/// dropped where it next awaits, and the process ends with the reason `normal`; a server that is up
/// by then is stopped.
///
/// # Errors
/// [`StartError`] says why there is no server. By then its process has ended; only after a timeout one
/// that does not let go is left, half a second later, with a warning (L7).
///
/// # Panics
/// As [`spawn()`](crate::spawn()), when it is awaited where there is no node.
///
/// COST: a process, and a few blocks of memory while it starts.
pub fn start<S: Server>(args: S::Args) -> Start<'static, S> {
    Start::new(args, None, Box::new(|boot| spawn(move |me| serve(me, boot))))
}

/// [`start`]s a server that is linked to the caller, its parent: whichever ends first, the other is
/// sent an exit signal with the reason, also where `init` fails.
///
/// A server that traps exits ([`Process::trap_exit`], as a rule in `init`) is stopped through
/// [`Server::terminate`] by an exit signal of its parent's, whatever the reason; that of anybody else
/// is an info.
///
/// ```
/// # use std::convert::Infallible;
/// # use purlin::{Exit, ExitReason, Process};
/// # use purlin::server::{self, Init, Mail, Server};
/// # #[derive(Debug)] struct Clerk;
/// # impl Server for Clerk {
/// #     type Args = (); type Call = Infallible; type Cast = Infallible;
/// #     type Info = Infallible; type Continue = Infallible;
/// #     async fn init(_: (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
/// #         Ok(Init::Ready(Clerk))
/// #     }
/// # }
/// # #[purlin::main] async fn main() -> server::Result<()> {
/// let (tell, told) = tokio::sync::oneshot::channel();
/// let parent = purlin::spawn(async move |mut me: Process<()>| {
///     let clerk = server::start_link::<Clerk>(&me, ()).await;
///     let _ = tell.send(clerk.expect("it starts"));
///     me.receive().await;
/// });
/// let clerk = told.await?;
/// parent.exit(ExitReason::error("lost"));
/// assert_eq!(clerk.pid().ended().await, ExitReason::error("lost"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`start`].
///
/// # Panics
/// Outside of the caller's own turn, when it is awaited, as receiving does.
pub fn start_link<S: Server>(me: &Process<impl Send + 'static>, args: S::Args) -> Start<'_, S> {
    let spawn = move |boot| me.spawn_link(move |child| serve(child, boot));
    Start::new(args, Some(me.id()), Box::new(spawn))
}

impl Node {
    /// [`start`](crate::server::start)s a server on this node, from any thread or task.
    ///
    /// # Errors
    /// As there.
    pub fn start<S: Server>(&self, args: S::Args) -> Start<'_, S> {
        Start::new(args, None, Box::new(|boot| self.spawn(move |me| serve(me, boot))))
    }
}

/// A server that is about to be started, by [`start`] or [`start_link`]. Awaiting it starts it.
#[must_use = "a server is started by awaiting this"]
pub struct Start<'a, S: Server> {
    args: S::Args,
    name: Option<Name>,
    parent: Option<ProcessId>,
    timeout: Duration,
    spawn: Spawn<'a, S>,
}

/// Makes the server's process.
type Spawn<'a, S> = Box<dyn FnOnce(Boot<S>) -> Pid<Mail<S>> + 'a>;

/// What a server's process is given.
pub(super) struct Boot<S: Server> {
    pub(super) args: S::Args,
    /// What it is to be called.
    pub(super) name: Option<Name>,
    /// Whose exit ends it, if it traps exits.
    pub(super) parent: Option<ProcessId>,
    /// Whom to tell when it is up.
    pub(super) up: Reply<Up<S>>,
    /// Ready when the starter has given up.
    pub(super) given_up: Answer<Infallible>,
}

/// What a server says of its start. Of one that fails the reason of its end says more.
pub(super) enum Up<S: Server> {
    Ready(Unclaimed<S>),
    Ignored,
    NotNamed(RegisterError),
}

/// A server that is up. If nobody takes it, because the starter has just given up, it is stopped.
pub(super) struct Unclaimed<S: Server> {
    pid: Pid<Mail<S>>,
    claimed: bool,
}

impl<S: Server> Unclaimed<S> {
    pub(super) fn new(pid: Pid<Mail<S>>) -> Self {
        Self { pid, claimed: false }
    }

    fn claim(mut self) -> ServerRef<S> {
        self.claimed = true;
        ServerRef::new(self.pid.clone())
    }
}

impl<S: Server> Drop for Unclaimed<S> {
    fn drop(&mut self) {
        if !self.claimed {
            self.pid.send(Mail::System(System(Request::Stop(ExitReason::Normal))));
        }
    }
}

/// Why there is no server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// It ended before it was up: `init` failed or panicked, or the node was full.
    Failed(ExitReason),
    /// `init` has decided that there is to be none: [`super::Init::Ignore`].
    Ignored,
    /// It did not get its name; where another has it that one's id is in the error. `init` was not
    /// called.
    Name(RegisterError),
    /// `init` has not returned in that time.
    Timeout(Duration),
}

impl<'a, S: Server> Start<'a, S> {
    fn new(args: S::Args, parent: Option<ProcessId>, spawn: Spawn<'a, S>) -> Self {
        Self { args, name: None, parent, timeout: Duration::MAX, spawn }
    }

    /// Gives it a name, before `init` is called (N1).
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(Name::from(name));
        self
    }

    /// To whom it is to be linked.
    pub(crate) fn parent(&self) -> Option<ProcessId> {
        self.parent
    }

    /// Gives it that long to be up; otherwise all the time it wants.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl<S: Server> IntoFuture for Start<'_, S> {
    type Output = Result<ServerRef<S>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { args, name, parent, timeout, spawn } = self;
        // Whoever polls these says whom to wake.
        let (up, mut news) = oneshot(Waker::noop().clone());
        let (patient, given_up) = oneshot(Waker::noop().clone());
        let pid = spawn(Boot { args, name, parent, up: Reply::new(up), given_up });
        Box::pin(async move {
            let mut patience = Patience::new(timeout);
            let news = patience.wait(|cx| news.poll(cx)).await;
            drop(patient);
            match news {
                Ok(Some(Up::Ready(server))) => Ok(server.claim()),
                Ok(Some(Up::Ignored)) => {
                    pid.ended().await;
                    Err(StartError::Ignored)
                }
                Ok(Some(Up::NotNamed(error))) => {
                    pid.ended().await;
                    Err(StartError::Name(error))
                }
                Ok(None) => Err(StartError::Failed(pid.ended().await)),
                Err(_) => {
                    // WHY: who starts it again wants its name to be free.
                    if pid.ended_within(LET_GO).await.is_none() {
                        tracing::warn!(pid = %pid.id(), "a server whose start was given up lives on");
                    }
                    Err(StartError::Timeout(timeout))
                }
            }
        })
    }
}

impl<S: Server> fmt::Debug for Start<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = std::any::type_name::<S>();
        f.debug_struct("Start").field("server", &server).finish_non_exhaustive()
    }
}

/// The reason, as a parent reports it; a server that was not to be has ended with `normal`.
impl From<StartError> for ExitReason {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Failed(reason) => reason,
            StartError::Ignored => Self::Normal,
            StartError::Timeout(_) => Self::Timeout,
            name @ StartError::Name(_) => Self::error(name),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(reason) => write!(f, "the server did not start: {reason}"),
            Self::Ignored => f.write_str("ignore: there is to be no server"),
            Self::Name(error) => write!(f, "the server did not start: {error}"),
            Self::Timeout(time) => write!(f, "timeout: the server was not up within {time:?}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed(reason) => Some(reason),
            Self::Name(error) => Some(error),
            Self::Ignored | Self::Timeout(_) => None,
        }
    }
}
