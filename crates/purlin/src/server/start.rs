//! Starting servers and waiting for their `init`.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use purlin_raw::{ReplyReceiver, ReplySender, oneshot};

use super::behaviour::{Mail, Server};
use super::run::{Boot, Up, serve};
use super::server_ref::ServerRef;
use crate::call::request::CallDeadline;
use crate::process::yielding::without_wait;
use crate::{
    ExitReason, Node, Pid, Process, ProcessId, RegisterError, Reply, SpawnError, SpawnOptions,
};

/// Time a server has to end after its start was abandoned.
const KILL_GRACE: Duration = Duration::from_millis(500);

/// Starts a server; awaiting it waits until [`Server::init`] has returned.
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
/// Nothing is started before the future is awaited. The server runs on the current node
/// ([`Node::start`] takes another node). It has no parent, so no process is affected by its exit;
/// [`start_link`] starts a server with a parent.
///
/// *Cancellation*: if the starter drops the future or its timeout expires, `init` is dropped at its
/// next await and the process ends with the reason `normal`. A server that is up by then is
/// stopped.
///
/// # Errors
/// Returns [`StartError`]. The process has ended by then, with one exception: after a timeout, a
/// process that does not reach an await is left running after half a second, and a warning is
/// logged (L7).
///
/// # Panics
/// As [`spawn()`](crate::spawn()), when awaited where there is no node.
///
/// COST: one process, and a few heap allocations during the start.
pub fn start<S: Server>(args: S::Args) -> Start<'static, S> {
    let spawn = |options: SpawnOptions, boot| {
        options.spawn(move |me| serve(me, boot)).map_err(StartError::not_spawned)
    };
    Start::new(args, None, Box::new(spawn))
}

/// [`start`]s a server that is linked to the caller, its parent. Whichever of the two ends first,
/// the other is sent an exit signal with the reason, also if `init` fails.
///
/// A server that traps exits ([`Process::trap_exit`], usually called in `init`) stops through
/// [`Server::terminate`] at an exit signal of its parent, whatever the reason. Exit signals of
/// other processes are infos.
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
/// let (tx, rx) = tokio::sync::oneshot::channel();
/// let parent = purlin::spawn(async move |mut me: Process<()>| {
///     let clerk = server::start_link::<Clerk>(&me, ()).await;
///     let _ = tx.send(clerk.expect("it starts"));
///     me.receive().await;
/// });
/// let clerk = rx.await?;
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
/// Panics outside the caller's own turn, when awaited, as receiving does.
pub fn start_link<S: Server>(me: &Process<impl Send + 'static>, args: S::Args) -> Start<'_, S> {
    let spawn = move |options: SpawnOptions, boot| {
        let spawned = options.link(me).spawn(move |child| serve(child, boot));
        spawned.map_err(StartError::not_spawned)
    };
    Start::new(args, Some(me.id()), Box::new(spawn))
}

impl Node {
    /// [`start`](crate::server::start)s a server on this node, from any thread or task.
    ///
    /// # Errors
    /// As [`start`](crate::server::start).
    pub fn start<S: Server>(&self, args: S::Args) -> Start<'_, S> {
        let spawn = |options: SpawnOptions, boot| {
            let spawned = options.spawn_on(self, move |me| serve(me, boot));
            spawned.map_err(StartError::not_spawned)
        };
        Start::new(args, None, Box::new(spawn))
    }
}

/// Pending start of a server, made by [`start`] or [`start_link`]. Awaiting it starts the server.
#[must_use = "a server is started by awaiting this"]
pub struct Start<'a, S: Server> {
    args: S::Args,
    options: SpawnOptions,
    parent: Option<ProcessId>,
    timeout: Duration,
    spawn: Spawn<'a, S>,
}

/// Spawns the server's process.
type Spawn<'a, S> = Box<dyn FnOnce(SpawnOptions, Boot<S>) -> Result<Pid<Mail<S>>, StartError> + 'a>;

/// Error returned when a server does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// The process ended before the server was up: `init` failed or panicked, or the node was full.
    Failed(ExitReason),
    /// `init` returned [`super::Init::Ignore`].
    Ignored,
    /// The name could not be registered; if another process has it, the error holds its id. `init`
    /// was not called.
    Name(RegisterError),
    /// `init` did not return within this time.
    Timeout(Duration),
}

impl<'a, S: Server> Start<'a, S> {
    fn new(args: S::Args, parent: Option<ProcessId>, spawn: Spawn<'a, S>) -> Self {
        let options = SpawnOptions::new();
        Self { args, options, parent, timeout: Duration::MAX, spawn }
    }

    /// Registers the server under this name before `init` is called (N1), as
    /// [`SpawnOptions::name`] does.
    pub fn name(self, name: &str) -> Self {
        Self { options: self.options.name(name), ..self }
    }

    /// Sets the spawn options that are set in `options`: a mailbox bound, handlers that may block, a
    /// name. The other options stay.
    ///
    /// With [`Overflow::Reject`](crate::Overflow::Reject), a call to a full mailbox returns
    /// [`CallError::Full`](crate::CallError::Full). Exit signals and requests to stop pass every
    /// bound, and no policy drops them (B2).
    pub fn options(self, options: SpawnOptions) -> Self {
        Self { options: options.or(self.options), ..self }
    }

    /// Returns the process to link the server to.
    pub(crate) fn parent(&self) -> Option<ProcessId> {
        self.parent
    }

    /// Spawns the server's process.
    pub(crate) fn begin(self) -> Result<Starting<S>, StartError> {
        let Self { args, options, parent, timeout, spawn } = self;
        let (ready, up) = oneshot();
        let (starter, given_up) = oneshot();
        let boot = Boot { args, parent, up: Reply::new(ready), given_up };
        let pid = spawn(options, boot)?;
        Ok(Starting { pid, up, starter, timeout })
    }

    /// Limits the time until the server is up; there is no limit by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl<S: Server> IntoFuture for Start<'_, S> {
    type Output = Result<ServerRef<S>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        match self.begin() {
            Ok(starting) => Box::pin(starting.up()),
            Err(error) => Box::pin(without_wait(Err(error))),
        }
    }
}

/// A server that has been spawned and is not up yet.
pub(crate) struct Starting<S: Server> {
    pid: Pid<Mail<S>>,
    up: ReplyReceiver<Up<S>>,
    /// Dropped when the starter gives up.
    starter: ReplySender<Infallible>,
    timeout: Duration,
}

impl<S: Server> Starting<S> {
    /// Waits until `init` has returned.
    pub(crate) async fn up(self) -> Result<ServerRef<S>, StartError> {
        let Self { pid, mut up, starter, timeout } = self;
        let result = CallDeadline::new(timeout).wait(|cx| up.poll(cx)).await;
        drop(starter);
        match result {
            Ok(Some(Up::Ready(server))) => Ok(server.claim()),
            Ok(Some(Up::Ignored)) => {
                pid.ended().await;
                Err(StartError::Ignored)
            }
            Ok(None) => Err(StartError::Failed(pid.ended().await)),
            Err(_) => {
                // WHY: a server that is up by now is stopped when its reply is dropped.
                drop(up);
                // WHY it waits: a starter that tries again needs the name to be free.
                if pid.ended_within(KILL_GRACE).await.is_none() {
                    tracing::warn!(pid = %pid.id(), "a server whose start was given up lives on");
                }
                Err(StartError::Timeout(timeout))
            }
        }
    }
}

impl StartError {
    /// Returns the error of a failed spawn, and drops the function, which owns the arguments.
    fn not_spawned<F>(error: SpawnError<F>) -> Self {
        match error.without_function() {
            SpawnError::Name(error, ()) => Self::Name(error),
            error => Self::Failed(error.into_reason()),
        }
    }
}

impl<S: Server> fmt::Debug for Start<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = std::any::type_name::<S>();
        f.debug_struct("Start").field("server", &server).finish_non_exhaustive()
    }
}

/// Returns the exit reason that a parent reports; a server that returned `Ignore` ended with
/// `normal`.
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
