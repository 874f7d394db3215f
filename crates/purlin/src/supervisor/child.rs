//! What a supervisor has to know of a child: how to start it, and how to treat it.

use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture as _, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use purlin_raw::quietly;

use super::children::{Settings, Spec};
use super::process::SupervisorMail;
use super::{ChildType, Restart, Shutdown, SupervisorSpec};
use crate::server::{self, Server, StartError};
use crate::{ExitReason, Outcome, Process, ProcessId};

/// How long a worker has to end when it is told to.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Why a server that would be no child is not started.
const NOT_LINKED: &str = "not linked to its supervisor: a child is started with start_link(me, …)";

/// A child that is being started; its process, which is linked to its supervisor, or `None` if it has
/// decided that it is not needed.
pub(crate) type Starting<'a> =
    Pin<Box<dyn Future<Output = Result<Option<ProcessId>, ExitReason>> + Send + 'a>>;

/// How a child is started, by its supervisor's process, again and again.
#[derive(Clone)]
pub(crate) struct Start(Option<Arc<StartFn>>);

type StartFn = dyn Fn(&Process<SupervisorMail>) -> Starting<'_> + Send + Sync;

impl Start {
    fn new(
        start: impl Fn(&Process<SupervisorMail>) -> Starting<'_> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(start)))
    }

    pub(crate) fn call<'a>(&self, me: &'a Process<SupervisorMail>) -> Starting<'a> {
        // WHY: only dropping takes it away.
        let start = self.0.as_ref().expect("it is there while it can be called");
        start(me)
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        // WHY quietly: what it owns is the user's, and a supervisor does not end of a child's
        // arguments.
        quietly(|| drop(self.0.take()));
    }
}

/// A child of a supervisor, as it is specified: an id, how it is started, when it is restarted, and
/// how it is stopped.
///
/// ```
/// use std::time::Duration;
/// use purlin::Process;
/// use purlin::supervisor::{ChildSpec, Restart, Shutdown};
///
/// async fn printer(mut me: Process<String>) {
///     println!("{}", me.receive().await);
/// }
///
/// let spec = ChildSpec::worker("printer", printer)
///     .restart(Restart::Transient)
///     .shutdown(Shutdown::Timeout(Duration::from_secs(1)));
/// assert_eq!(spec.id(), "printer");
/// ```
#[derive(Clone)]
pub struct ChildSpec(Spec<Start>);

impl ChildSpec {
    fn new(
        id: impl Into<Arc<str>>,
        child_type: ChildType,
        start: impl Fn(&Process<SupervisorMail>) -> Starting<'_> + Send + Sync + 'static,
    ) -> Self {
        Self(Spec { id: id.into(), settings: settings(child_type), start: Start::new(start) })
    }

    /// A process that runs that function. It is permanent and has five seconds to end when it is told
    /// to, unless said otherwise.
    ///
    /// The function is cloned for each start. What it owns is shared by all of them, or cloned, as its
    /// `Clone` has it.
    pub fn worker<M, F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        Self::new(id, ChildType::Worker, move |me| start_worker(me, function.clone()))
    }

    /// A server, which is up when its `init` has returned; otherwise as a worker. `start` is called
    /// for each start, and starts it linked to the supervisor, whose process it is given; one that
    /// would not be linked is not started.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use purlin::Process;
    /// # use purlin::server::{self, Init, Mail, Server};
    /// # use purlin::supervisor::{ChildSpec, SupervisorSpec};
    /// # #[derive(Debug)] struct Clerk;
    /// # impl Server for Clerk {
    /// #     type Args = u32; type Call = Infallible; type Cast = Infallible;
    /// #     type Info = Infallible; type Continue = Infallible;
    /// #     async fn init(_: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
    /// #         Ok(Init::Ready(Clerk))
    /// #     }
    /// # }
    /// # #[purlin::main] async fn main(me: Process<()>) {
    /// let clerk = ChildSpec::server("clerk", |me| {
    ///     server::start_link::<Clerk>(me, 7).name("clerk")
    /// });
    /// let supervisor = SupervisorSpec::one_for_one().child(clerk);
    /// let supervisor = supervisor.start_link(&me).await.expect("the clerk starts");
    /// # assert_eq!(supervisor.count_children().await.expect("it lives").active, 1);
    /// # }
    /// ```
    ///
    /// A server whose `init` decides that there is to be none is a child without a process.
    pub fn server<S: Server>(
        id: impl Into<Arc<str>>,
        start: impl Fn(&Process<SupervisorMail>) -> server::Start<'_, S> + Send + Sync + 'static,
    ) -> Self {
        Self::new(id, ChildType::Worker, move |me| start_server(me, start(me)))
    }

    /// A supervisor. It is permanent and has all the time it wants to stop its own children.
    pub fn supervisor(id: impl Into<Arc<str>>, spec: impl Into<SupervisorSpec>) -> Self {
        let spec = spec.into();
        Self::new(id, ChildType::Supervisor, move |me| {
            let started = spec.clone().spawn_link(me);
            Box::pin(async move { Ok(Some(started.up().await?.id())) })
        })
    }

    /// When it is restarted.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.0.settings.restart = restart;
        self
    }

    /// How it is stopped. A supervisor that is not given all the time it wants may leave children of
    /// its own behind.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.0.settings.shutdown = shutdown;
        self
    }

    /// Its end counts for the [`AutoShutdown`](super::AutoShutdown) of its supervisor. It has to be
    /// transient or temporary.
    pub fn significant(mut self) -> Self {
        self.0.settings.significant = true;
        self
    }

    /// What it is called among the children of its supervisor.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn into_spec(self) -> Spec<Start> {
        self.0
    }
}

fn settings(child_type: ChildType) -> Settings {
    let shutdown = match child_type {
        ChildType::Worker => Shutdown::Timeout(SHUTDOWN),
        ChildType::Supervisor => Shutdown::Infinity,
    };
    Settings { restart: Restart::Permanent, significant: false, shutdown, child_type }
}

fn start_worker<M, F, Fut>(me: &Process<SupervisorMail>, function: F) -> Starting<'static>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    let pid = me.spawn_link(function);
    Box::pin(ready(match pid.exit_reason() {
        Some(ExitReason::SystemLimit) => Err(ExitReason::SystemLimit),
        _ => Ok(Some(pid.id())),
    }))
}

fn start_server<S: Server>(
    me: &Process<SupervisorMail>,
    start: server::Start<'_, S>,
) -> Starting<'static> {
    if start.parent() != Some(me.id()) {
        return Box::pin(ready(Err(ExitReason::error(NOT_LINKED))));
    }
    let started = start.into_future();
    Box::pin(async move {
        match started.await {
            Ok(server) => Ok(Some(server.id())),
            Err(StartError::Ignored) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })
}

/// Makes the start of one child out of its arguments; `None` if they are of another type.
pub(crate) type Make = Arc<dyn Fn(Box<dyn Any + Send>) -> Option<Start> + Send + Sync>;

/// The children of a simple one for one supervisor, all of one kind, each with arguments of its own.
pub struct ChildTemplate<A> {
    pub(crate) spec: Spec<Make>,
    arguments: PhantomData<fn(A)>,
}

impl<A: Send + 'static> ChildTemplate<A> {
    /// Temporary processes that run that function, each with the arguments it was started with: a
    /// socket, say, that only one can have. None can be restarted, because the arguments are used up
    /// then, so they are to stay temporary.
    pub fn temporary<M, F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        M: Send + 'static,
        F: FnOnce(Process<M>, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let template = Self::new(id, ChildType::Worker, move |arguments: A| -> Start {
            let once = Mutex::new(Some((function.clone(), arguments)));
            Start::new(move |me| {
                let taken = once.lock().unwrap_or_else(PoisonError::into_inner).take();
                match taken {
                    Some((function, arguments)) => {
                        start_worker(me, move |me| function(me, arguments))
                    }
                    None => Box::pin(ready(Err(ExitReason::error("its arguments are used up")))),
                }
            })
        });
        template.restart(Restart::Temporary)
    }

    /// Processes that run that function, each with the arguments it was started with; when one is
    /// restarted it gets the same. The id stands in reports.
    pub fn worker<M, F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        A: Clone + Sync,
        M: Send + 'static,
        F: FnOnce(Process<M>, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let make = move |arguments: A| -> Start {
            let function = function.clone();
            Start::new(move |me| {
                let (function, arguments) = (function.clone(), arguments.clone());
                start_worker(me, move |me| function(me, arguments))
            })
        };
        Self::new(id, ChildType::Worker, make)
    }

    /// Servers, each started with arguments of its own; when one is restarted it gets the same.
    /// Otherwise as [`ChildSpec::server`].
    pub fn server<S, F>(id: impl Into<Arc<str>>, start: F) -> Self
    where
        A: Clone + Sync,
        S: Server,
        F: Fn(&Process<SupervisorMail>, A) -> server::Start<'_, S> + Clone + Send + Sync + 'static,
    {
        Self::new(id, ChildType::Worker, move |arguments: A| -> Start {
            let start = start.clone();
            Start::new(move |me| start_server(me, start(me, arguments.clone())))
        })
    }

    fn new(
        id: impl Into<Arc<str>>,
        child_type: ChildType,
        make: impl Fn(A) -> Start + Send + Sync + 'static,
    ) -> Self {
        let make = move |arguments: Box<dyn Any + Send>| {
            arguments.downcast::<A>().ok().map(|arguments| make(*arguments))
        };
        let spec =
            Spec { id: id.into(), settings: settings(child_type), start: Arc::new(make) as Make };
        Self { spec, arguments: PhantomData }
    }

    /// When they are restarted.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.settings.restart = restart;
        self
    }

    /// How they are stopped.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.settings.shutdown = shutdown;
        self
    }

    /// As [`ChildSpec::significant`].
    pub fn significant(mut self) -> Self {
        self.spec.settings.significant = true;
        self
    }
}

impl fmt::Debug for ChildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("id", &self.0.id)
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

impl<A> fmt::Debug for ChildTemplate<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildTemplate")
            .field("id", &self.spec.id)
            .field("settings", &self.spec.settings)
            .finish_non_exhaustive()
    }
}
