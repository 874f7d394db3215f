//! Supervisor specifications.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::child::ChildSpec;
use super::children::{Settings, Spec};
use super::error::BadSpec;
use super::intensity::{Intensity, whole_seconds};
use super::strategy::Strategy;
use super::template::{ChildTemplate, Make};
use super::{AutoShutdown, Restart};
use crate::{Name, ProcessId};

/// Specification of a supervisor: its restart strategy, restart intensity and initial children, in
/// start order (G2).
///
/// ```
/// use std::time::Duration;
/// use purlin::Process;
/// use purlin::supervisor::{ChildSpec, SupervisorSpec};
///
/// async fn counter(mut me: Process<u64>) {
///     let mut sum = 0;
///     loop {
///         sum += me.receive().await;
///     }
/// }
///
/// #[purlin::main]
/// async fn main(me: Process<()>) {
///     let counters = SupervisorSpec::one_for_one()
///         .intensity(10)
///         .period(Duration::from_secs(60))
///         .child(ChildSpec::worker("odd", counter))
///         .child(ChildSpec::worker("even", counter));
///     let supervisor = counters.start_link(&me).await.expect("both start");
///     assert_eq!(supervisor.count_children().await.expect("it lives").active, 2);
/// }
/// ```
#[derive(Clone)]
pub struct SupervisorSpec {
    pub(super) strategy: Strategy,
    pub(super) auto_shutdown: AutoShutdown,
    intensity: usize,
    period: Duration,
    pub(super) name: Option<Name>,
    pub(super) children: Vec<ChildSpec>,
    /// Template of a dynamic supervisor's children.
    pub(super) template: Option<Spec<Make>>,
    /// Most children of a dynamic supervisor.
    pub(super) max_children: usize,
}

impl SupervisorSpec {
    fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            auto_shutdown: AutoShutdown::Never,
            intensity: 1,
            period: Duration::from_secs(5),
            name: None,
            children: Vec::new(),
            template: None,
            max_children: usize::MAX,
        }
    }

    /// Creates a supervisor that restarts only the child that ended.
    pub fn one_for_one() -> Self {
        Self::new(Strategy::OneForOne)
    }

    /// Creates a supervisor that restarts all children when one ends: it stops the others in
    /// reverse order and starts all in order. Temporary children are not started again.
    pub fn one_for_all() -> Self {
        Self::new(Strategy::OneForAll)
    }

    /// Creates a supervisor like [`SupervisorSpec::one_for_all`] that leaves the children before
    /// the one that ended, in start order, running.
    pub fn rest_for_one() -> Self {
        Self::new(Strategy::RestForOne)
    }

    /// Creates a dynamic supervisor, whose children are started from one template: see
    /// [`DynamicSupervisorSpec`].
    pub fn simple_one_for_one<A, C>(template: ChildTemplate<A, C>) -> DynamicSupervisorSpec<A, C> {
        let mut spec = Self::new(Strategy::SimpleOneForOne);
        spec.template = Some(template.spec);
        DynamicSupervisorSpec { spec, types: PhantomData }
    }

    /// Sets the restart intensity: the most restarts within a period; the default is 1. At one more
    /// the supervisor gives up: it stops its children and ends with `shutdown`.
    pub fn intensity(mut self, restarts: usize) -> Self {
        self.intensity = restarts;
        self
    }

    /// Sets the period of the restart intensity, rounded up to whole seconds, at least one; the
    /// default is 5 seconds.
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Sets whether the supervisor ends after significant children have ended.
    pub fn auto_shutdown(mut self, auto_shutdown: AutoShutdown) -> Self {
        self.auto_shutdown = auto_shutdown;
        self
    }

    /// Sets the name to register (N1): see [`SupervisorRef::whereis`](super::SupervisorRef::whereis).
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(Name::from(name));
        self
    }

    /// Appends a child, started after those before it.
    pub fn child<C>(mut self, child: ChildSpec<C>) -> Self {
        self.children.push(child.untyped());
        self
    }

    pub(super) fn window(&self) -> Intensity {
        Intensity::new(self.intensity, whole_seconds(self.period))
    }

    /// Validates the specification.
    pub(super) fn check(&self) -> Result<(), BadSpec> {
        if let (Some(_), Some(child)) = (&self.template, self.children.first()) {
            return Err(BadSpec::NotSimple(child.id().into()));
        }
        let mut ids = HashSet::new();
        for child in &self.children {
            if !ids.insert(child.id()) {
                return Err(BadSpec::DuplicateId(child.id().into()));
            }
            check(child.id(), child.settings(), self.strategy, self.auto_shutdown)?;
        }
        let Some(Spec { id, settings, .. }) = &self.template else { return Ok(()) };
        check(id, settings, self.strategy, self.auto_shutdown)
    }
}

/// Validates a child's settings against the supervisor's strategy and automatic shutdown.
pub(super) fn check(
    id: &str,
    settings: &Settings,
    strategy: Strategy,
    policy: AutoShutdown,
) -> Result<(), BadSpec> {
    // WHY: when such a child is given up, the children stopped for its restart would stay stopped.
    if settings.intensity.is_some() && strategy.stops_others() {
        return Err(BadSpec::OwnIntensity(id.into()));
    }
    let may = policy != AutoShutdown::Never && settings.restart != Restart::Permanent;
    if settings.significant && !may {
        return Err(BadSpec::BadSignificance(id.into()));
    }
    Ok(())
}

/// Specification of a dynamic supervisor: OTP's `simple_one_for_one`, Elixir's `DynamicSupervisor`.
///
/// It has no initial children. Each child is started with its own arguments and is identified by
/// its process; one that [`find_or_start`](super::DynamicSupervisorRef::find_or_start) has started
/// also by its key. When the supervisor stops, its children are stopped concurrently.
///
/// ```
/// use purlin::{ExitReason, Process};
/// use purlin::supervisor::{ChildTemplate, Restart, SupervisorSpec};
///
/// async fn greeter(mut me: Process<()>, whom: String) {
///     me.receive().await;
///     println!("hello {whom}");
/// }
///
/// #[purlin::main]
/// async fn main(me: Process<()>) {
///     let template = ChildTemplate::worker("greeter", greeter).restart(Restart::Temporary);
///     let greeters = SupervisorSpec::simple_one_for_one(template);
///     let greeters = greeters.start_link(&me).await.expect("it needs nothing");
///     let world = greeters.start_child("world".to_string()).await.expect("there is room");
///     world.send(());
///     assert_eq!(world.ended().await, ExitReason::Normal);
/// }
/// ```
pub struct DynamicSupervisorSpec<A, C = ProcessId> {
    pub(super) spec: SupervisorSpec,
    types: PhantomData<fn(A) -> C>,
}

impl<A: Send + 'static, C> DynamicSupervisorSpec<A, C> {
    /// Limits the number of children, running or to be restarted: Elixir's `max_children`. Starting
    /// one more returns [`StartChildError::MaxChildren`](super::StartChildError::MaxChildren). There
    /// is no limit by default.
    pub fn max_children(mut self, most: usize) -> Self {
        self.spec.max_children = most;
        self
    }

    /// Sets the restart intensity; see [`SupervisorSpec::intensity`].
    pub fn intensity(mut self, restarts: usize) -> Self {
        self.spec = self.spec.intensity(restarts);
        self
    }

    /// Sets the period of the restart intensity; see [`SupervisorSpec::period`].
    pub fn period(mut self, period: Duration) -> Self {
        self.spec = self.spec.period(period);
        self
    }

    /// Sets the automatic shutdown; see [`SupervisorSpec::auto_shutdown`].
    pub fn auto_shutdown(mut self, auto_shutdown: AutoShutdown) -> Self {
        self.spec = self.spec.auto_shutdown(auto_shutdown);
        self
    }

    /// Sets the name to register; see [`SupervisorSpec::name`].
    pub fn name(mut self, name: &str) -> Self {
        self.spec = self.spec.name(name);
        self
    }
}

impl<A, C> Clone for DynamicSupervisorSpec<A, C> {
    fn clone(&self) -> Self {
        Self { spec: self.spec.clone(), types: PhantomData }
    }
}

impl<A, C> From<DynamicSupervisorSpec<A, C>> for SupervisorSpec {
    fn from(simple: DynamicSupervisorSpec<A, C>) -> Self {
        simple.spec
    }
}

impl fmt::Debug for SupervisorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorSpec")
            .field("strategy", &self.strategy)
            .field("intensity", &self.intensity)
            .field("period", &self.period)
            .field("auto_shutdown", &self.auto_shutdown)
            .field("name", &self.name)
            .field("children", &self.children)
            .finish_non_exhaustive()
    }
}

impl<A, C> fmt::Debug for DynamicSupervisorSpec<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicSupervisorSpec").field(&self.spec).finish()
    }
}
