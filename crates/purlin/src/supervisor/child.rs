//! Child specs: how a supervisor starts, restarts and stops a child.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::children::{Settings, Spec};
use super::intensity::whole_seconds;
use super::mail::{Start, Starting, SupervisorMail};
use super::start_child::{InitAck, start_server, start_with_ack, start_worker};
use super::{ChildType, Restart, Shutdown};
use crate::server::{self, Server, ServerRef};
use crate::{Outcome, Pid, Process, ProcessId, SpawnOptions};

/// Default time a worker has to end after `shutdown`.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Child spec: a child's id, start function, restart type and shutdown type.
///
/// `C` is the type of the handle that [`SupervisorRef::start_child`](super::SupervisorRef::start_child)
/// returns: `Pid<M>`, `ServerRef<S>` or `SupervisorRef`. [`ChildSpec::untyped`] makes specs of
/// different children one type.
///
/// ```
/// use std::time::Duration;
/// use purlin::{Overflow, Process, SpawnOptions};
/// use purlin::supervisor::{ChildSpec, Restart, Shutdown};
///
/// async fn printer(mut me: Process<String>) {
///     println!("{}", me.receive().await);
/// }
///
/// let spec = ChildSpec::worker("printer", printer)
///     .options(SpawnOptions::new().name("printer").bound(100, Overflow::Reject))
///     .restart(Restart::Transient)
///     .shutdown(Shutdown::Timeout(Duration::from_secs(1)));
/// assert_eq!(spec.id(), "printer");
/// ```
pub struct ChildSpec<C = ProcessId> {
    spec: Spec<Start>,
    handle: PhantomData<fn() -> C>,
}

impl<M: Send + 'static> ChildSpec<Pid<M>> {
    /// Creates the spec of a worker: a process that runs `function`. By default it is permanent and
    /// has five seconds to end after `shutdown`.
    ///
    /// The function is cloned for each start. Values it owns are shared or copied as their `Clone`
    /// does.
    ///
    /// The start is complete when the function has reached its first await or has ended, so a name
    /// that it registers before is found by the children that are started next. A worker that does
    /// not await within two seconds counts as started, with a warning (L7). A worker with the
    /// option [`SpawnOptions::blocking`] has started when it has been spawned.
    pub fn worker<F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        F: FnOnce(Process<M>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        Self::new(id, ChildType::Worker, move |me, options| {
            start_worker(me, options, function.clone())
        })
    }

    /// Creates the spec of a worker that reports when it has started, by [`InitAck`]: OTP's
    /// `proc_lib:start_link`. Otherwise as [`ChildSpec::worker`].
    ///
    /// ```
    /// use purlin::Process;
    /// use purlin::supervisor::{ChildSpec, InitAck, SupervisorSpec};
    ///
    /// async fn cache(mut me: Process<u64>, ack: InitAck) -> std::io::Result<()> {
    ///     let mut sum = load().await?;
    ///     ack.ok();
    ///     loop {
    ///         sum += me.receive().await;
    ///     }
    /// }
    ///
    /// async fn load() -> std::io::Result<u64> {
    ///     purlin::yield_now().await;
    ///     Ok(7)
    /// }
    ///
    /// # #[purlin::main] async fn main(me: Process<()>) {
    /// let spec = SupervisorSpec::one_for_one().child(ChildSpec::worker_with_ack("cache", cache));
    /// spec.start_link(&me).await.expect("the cache is loaded");
    /// # }
    /// ```
    pub fn worker_with_ack<F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        F: FnOnce(Process<M>, InitAck) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        Self::new(id, ChildType::Worker, move |me, options| {
            start_with_ack(me, options, function.clone())
        })
    }

    /// Sets the spawn options: a registered name, a mailbox bound, turns that may block. The name
    /// is registered before the process runs, and a name that is taken is a failed start.
    pub fn options(mut self, options: SpawnOptions) -> Self {
        self.spec.start.options = options;
        self
    }
}

impl<S: Server> ChildSpec<ServerRef<S>> {
    /// Creates the spec of a server; otherwise as [`ChildSpec::worker`]. The start is complete when
    /// the server's `init` has returned.
    ///
    /// `start` is called for each start, with the supervisor's process. It must link the server to
    /// the supervisor, by [`server::start_link`]; otherwise the start fails.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use purlin::{Overflow, Process, SpawnOptions};
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
    /// let options = SpawnOptions::new().name("clerk").bound(1000, Overflow::Reject);
    /// let clerk = ChildSpec::server("clerk", |me| server::start_link::<Clerk>(me, 7));
    /// let clerk = clerk.options(options);
    /// let supervisor = SupervisorSpec::one_for_one().child(clerk);
    /// let supervisor = supervisor.start_link(&me).await.expect("the clerk starts");
    /// # assert_eq!(supervisor.count_children().await.expect("it lives").active, 1);
    /// # }
    /// ```
    ///
    /// If `init` returns `Ignore`, the child has no process.
    pub fn server(
        id: impl Into<Arc<str>>,
        start: impl Fn(&Process<SupervisorMail>) -> server::Start<'_, S> + Send + Sync + 'static,
    ) -> Self {
        Self::new(id, ChildType::Worker, move |me, options| start_server(me, start(me), options))
    }

    /// Sets the spawn options: a mailbox bound, handlers that may block, a name. An option that is
    /// set here takes precedence over the same option set in the start function; options set only
    /// there stay.
    pub fn options(mut self, options: SpawnOptions) -> Self {
        self.spec.start.options = options;
        self
    }
}

impl<C> ChildSpec<C> {
    pub(super) fn new(
        id: impl Into<Arc<str>>,
        child_type: ChildType,
        start: impl Fn(&Process<SupervisorMail>, SpawnOptions) -> Starting<'_> + Send + Sync + 'static,
    ) -> Self {
        let spec = Spec { id: id.into(), settings: settings(child_type), start: Start::new(start) };
        Self { spec, handle: PhantomData }
    }

    /// Returns the same spec without the type of the handle, for collections of different children.
    pub fn untyped(self) -> ChildSpec {
        ChildSpec { spec: self.spec, handle: PhantomData }
    }

    /// Sets the restart type.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.settings.restart = restart;
        self
    }

    /// Sets the shutdown type. A supervisor with another one than [`Shutdown::Infinity`] may leave
    /// children running.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.settings.shutdown = shutdown;
        self
    }

    /// Makes the child significant: its end counts for the [`AutoShutdown`](super::AutoShutdown) of
    /// its supervisor. It must be transient or temporary.
    pub fn significant(mut self) -> Self {
        self.spec.settings.significant = true;
        self
    }

    /// Delays the child's restarts: the first by `first`, each further one twice as long, up to
    /// `longest`. The delays begin again after the child has run for longer than `longest`, and
    /// after [`restart_child`](super::SupervisorRef::restart_child). Without this, a child is
    /// restarted immediately, as in OTP.
    ///
    /// While a restart is delayed, `which_children` shows the child as restarting. With
    /// `one_for_all` and `rest_for_one`, the children that are restarted with it are stopped first
    /// and wait too; they stay stopped if the child is terminated meanwhile, as in OTP between two
    /// attempts of a restart. Each restart counts for the intensity when its delay begins.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.spec.settings.backoff = Some(Backoff { first, longest });
        self
    }

    /// Sets a separate restart intensity of the child: at most `restarts` within `period`, rounded
    /// up to whole seconds, at least one. At one more the supervisor gives up the child, with a report
    /// of level ERROR, and continues with the others. The child's restarts do not count for the supervisor's
    /// [`intensity`](super::SupervisorSpec::intensity). A child that
    /// [`restart_child`](super::SupervisorRef::restart_child) starts begins with no restarts
    /// counted.
    ///
    /// A supervisor with `one_for_all` or `rest_for_one` refuses such a child
    /// ([`BadSpec::OwnIntensity`](super::BadSpec::OwnIntensity)): the siblings that are stopped for
    /// its restart cannot continue without it.
    pub fn intensity(mut self, restarts: usize, period: Duration) -> Self {
        self.spec.settings.intensity = Some((restarts, whole_seconds(period)));
        self
    }

    /// Returns the spec of the child with this number in a pool, whose start is `start`, given this
    /// one's.
    pub(super) fn in_pool(
        self,
        number: usize,
        start: impl for<'a> Fn(&Start, &'a Process<SupervisorMail>) -> Starting<'a>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let Spec { id, settings, start: inner } = self.spec;
        let start = Start::new(move |me, _| start(&inner, me));
        let spec = Spec { id: format!("{id}-{number}").into(), settings, start };
        Self { spec, handle: PhantomData }
    }

    /// Returns the child's id, which is unique in its supervisor.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.spec.settings
    }

    pub(crate) fn into_spec(self) -> Spec<Start> {
        self.spec
    }
}

pub(super) fn settings(child_type: ChildType) -> Settings {
    let shutdown = match child_type {
        ChildType::Worker => Shutdown::Timeout(SHUTDOWN),
        ChildType::Supervisor => Shutdown::Infinity,
    };
    Settings {
        restart: Restart::Permanent,
        significant: false,
        shutdown,
        child_type,
        backoff: None,
        intensity: None,
    }
}

impl<C> Clone for ChildSpec<C> {
    fn clone(&self) -> Self {
        Self { spec: self.spec.clone(), handle: PhantomData }
    }
}

impl<C> fmt::Debug for ChildSpec<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("id", &self.spec.id)
            .field("settings", &self.spec.settings)
            .finish_non_exhaustive()
    }
}
