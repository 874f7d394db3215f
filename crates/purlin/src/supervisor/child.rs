//! Child specs: how a supervisor starts, restarts and stops a child.

use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture as _, ready};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::children::{Settings, Spec};
use super::mail::{Start, Starting, SupervisorMail};
use super::{ChildType, Restart, Shutdown};
use crate::server::{self, Server, StartError};
use crate::{ExitReason, Outcome, Process};

/// Default time a worker has to end after `shutdown`.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Exit reason of a server that its start function does not link to the supervisor.
const NOT_LINKED: &str = "not linked to its supervisor: a child is started with start_link(me, …)";

/// Child spec: a child's id, start function, restart type and shutdown type.
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
    pub(super) fn new(
        id: impl Into<Arc<str>>,
        child_type: ChildType,
        start: impl Fn(&Process<SupervisorMail>) -> Starting<'_> + Send + Sync + 'static,
    ) -> Self {
        Self(Spec { id: id.into(), settings: settings(child_type), start: Start::new(start) })
    }

    /// Creates the spec of a worker: a process that runs `function`. By default it is permanent and
    /// has five seconds to end after `shutdown`.
    ///
    /// The function is cloned for each start. Values it owns are shared or copied as their `Clone`
    /// does.
    pub fn worker<M, F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        Self::new(id, ChildType::Worker, move |me| start_worker(me, function.clone()))
    }

    /// Creates the spec of a server; otherwise as [`ChildSpec::worker`]. The start is complete when
    /// the server's `init` has returned.
    ///
    /// `start` is called for each start, with the supervisor's process. It must link the server to
    /// the supervisor, by [`server::start_link`]; otherwise the start fails.
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
    /// If `init` returns `Ignore`, the child has no process.
    pub fn server<S: Server>(
        id: impl Into<Arc<str>>,
        start: impl Fn(&Process<SupervisorMail>) -> server::Start<'_, S> + Send + Sync + 'static,
    ) -> Self {
        Self::new(id, ChildType::Worker, move |me| start_server(me, start(me)))
    }

    /// Sets the restart type.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.0.settings.restart = restart;
        self
    }

    /// Sets the shutdown type. A supervisor with another one than [`Shutdown::Infinity`] may leave
    /// children running.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.0.settings.shutdown = shutdown;
        self
    }

    /// Makes the child significant: its end counts for the [`AutoShutdown`](super::AutoShutdown) of
    /// its supervisor. It must be transient or temporary.
    pub fn significant(mut self) -> Self {
        self.0.settings.significant = true;
        self
    }

    /// Returns the child's id, which is unique in its supervisor.
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

/// Makes the start function of a child from its arguments; returns `None` if they are of another
/// type.
pub(crate) type Make = Arc<dyn Fn(Box<dyn Any + Send>) -> Option<Start> + Send + Sync>;

/// Template of a dynamic supervisor's children, each started with its own arguments.
pub struct ChildTemplate<A> {
    pub(crate) spec: Spec<Make>,
    arguments: PhantomData<fn(A)>,
}

impl<A: Send + 'static> ChildTemplate<A> {
    /// Creates a template for temporary processes that run `function` with the arguments of their
    /// start. The arguments are moved, so they may be a unique resource such as a socket. A child
    /// cannot be restarted, because its arguments are used up; its restart type must stay
    /// temporary.
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

    /// Creates a template for processes that run `function` with the arguments of their start; a
    /// restarted child gets the same arguments. Reports show the id.
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

    /// Creates a template for servers, each started with its own arguments; a restarted server gets
    /// the same arguments. Otherwise as [`ChildSpec::server`].
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

    /// Sets the restart type.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.settings.restart = restart;
        self
    }

    /// Sets the shutdown type.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.settings.shutdown = shutdown;
        self
    }

    /// Makes the children significant; see [`ChildSpec::significant`].
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
