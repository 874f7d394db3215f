//! Spawn options, and the builder that spawns with them.

use std::convert::identity;
use std::future::Future;
use std::sync::Arc;

use purlin_raw::{Bound, NodeCore, Overflow, Owner};

use crate::node::erlang_types::ErlangTypes;
use crate::process::body::Body;
use crate::process::relation::{LinkedTo, MonitoredBy, Relation, Relations};
use crate::process::shared::Parent;
use crate::process::spawn::{spawn_here, try_spawn_on};
use crate::signals::conversion::ReceivesDown;
use crate::signals::local_state::LocalState;
use crate::{Name, Node, Outcome, Pid, Process, SpawnError};

/// Options of a process to be spawned, and the builder that spawns it: Erlang's `spawn_opt`,
/// tokio's `task::Builder`.
///
/// The options describe the process: a bound of its mailbox, a registered name, turns that may
/// block. A link and a monitor relate it to the process that spawns it. [`spawn`](Self::spawn),
/// [`spawn_on`](Self::spawn_on) and [`spawn_task`](Self::spawn_task) spawn it, and return an error
/// with the function or the future if they cannot.
///
/// ```
/// # use purlin::{Overflow, Process, SendError, SpawnOptions, whereis};
/// # #[purlin::main] async fn main() {
/// let printer = SpawnOptions::new()
///     .name("printer")
///     .bound(2, Overflow::Reject)
///     .spawn(async |mut me: Process<&str>| while me.receive().await != "stop" {})
///     .expect("the name is free");
/// assert_eq!(whereis("printer"), Ok(printer.clone()));
/// while printer.try_send("page").is_ok() {}
/// assert_eq!(printer.try_send("page"), Err(SendError::Full("page")));
/// # printer.send_async("stop").await.expect("it lives");
/// # assert_eq!(printer.ended().await, purlin::ExitReason::Normal);
/// # }
/// ```
///
/// What starts a process itself takes the options alone, without a link or a monitor:
/// [`ChildSpec`](crate::supervisor::ChildSpec) and
/// [`ChildTemplate`](crate::supervisor::ChildTemplate) of a supervisor, and
/// [`server::Start`](crate::server::Start), each with a method `options`.
///
/// The type parameters are the relations: `L` is `()` or [`LinkedTo`], `W` is `()` or
/// [`MonitoredBy`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "options spawn nothing before `spawn`, `spawn_on` or `spawn_task` is called"]
pub struct SpawnOptions<L = (), W = ()> {
    bound: Option<(usize, Overflow)>,
    blocking: bool,
    name: Option<Name>,
    linked: L,
    monitored: W,
}

impl Default for SpawnOptions {
    fn default() -> Self {
        Self { bound: None, blocking: false, name: None, linked: (), monitored: () }
    }
}

impl SpawnOptions {
    /// Returns the options of [`spawn()`](crate::spawn()): no bound, no name, turns that must not
    /// block, no link and no monitor.
    pub fn new() -> Self {
        Self::default()
    }

    /// Spawns a process with these options and the initial private state `local`. `function_of` makes
    /// the function of `goods`, which an error returns. `guard` is dropped when the function has
    /// reached its first await or has ended.
    pub(crate) fn spawn_in<G, M, F, Fut>(
        self,
        node_core: &NodeCore<ErlangTypes>,
        parent: Parent,
        mut local: LocalState,
        goods: G,
        function_of: impl FnOnce(G) -> F,
        guard: impl Send + 'static,
    ) -> Result<Pid<M>, SpawnError<G>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let node_state = node_core.state();
        let mut bound = None;
        if let Some((limit, overflow)) = self.bound {
            bound = Bound::new(limit, overflow, Arc::clone(&node_state.dropped.at_bound));
            if bound.is_none() {
                return Err(SpawnError::BadBound(goods));
            }
        }
        let mut claim = None;
        if let Some(name) = self.name {
            match node_state.names.claim(name) {
                Ok(claimed) => claim = Some(claimed),
                Err(error) => return Err(SpawnError::Name(error, goods)),
            }
            local.extended().named = true;
        }
        // Runs before the process does. No look-up finds the process by its name before the claim
        // is dropped, when the process is complete.
        let born = |owner: &Owner<ErlangTypes, M>| {
            if let Some(claim) = &mut claim {
                claim.give_to(owner.address().untyped());
            }
        };
        match (bound, self.blocking) {
            (None, false) => {
                let make =
                    |goods, me| Body::<M, F, Fut, (), _>::with_guard(function_of(goods), me, guard);
                try_spawn_on(node_core, parent, local, (), goods, after(born, make))
            }
            (Some(bound), false) => {
                let make = |goods, me| {
                    Body::<M, F, Fut, Bound, _>::with_guard(function_of(goods), me, guard)
                };
                try_spawn_on(node_core, parent, local, bound, goods, after(born, make))
            }
            (None, true) => {
                let make = |goods, me| {
                    Body::<M, F, Fut, (), _, true>::with_guard(function_of(goods), me, guard)
                };
                try_spawn_on(node_core, parent, local, (), goods, after(born, make))
            }
            (Some(bound), true) => {
                let make = |goods, me| {
                    Body::<M, F, Fut, Bound, _, true>::with_guard(function_of(goods), me, guard)
                };
                try_spawn_on(node_core, parent, local, bound, goods, after(born, make))
            }
        }
    }

    /// Returns whether turns may block their thread.
    pub(crate) fn is_blocking(&self) -> bool {
        self.blocking
    }

    /// Returns these options, completed by those of `other` that are not set here.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            bound: self.bound.or(other.bound),
            blocking: self.blocking || other.blocking,
            name: self.name.or(other.name),
            ..self
        }
    }
}

impl<L, W> SpawnOptions<L, W> {
    /// Limits the mailbox to `limit` waiting messages, from 1 to 4,294,967,295. `overflow` decides
    /// about messages beyond the limit (B1). Exit, down and link signals pass the bound, and so do
    /// messages sent to an alias and requests to stop a server (B2). With another limit the spawn
    /// fails ([`SpawnError::BadBound`]).
    ///
    /// COST: 144 bytes, and one more atomic read-modify-write for each message sent.
    pub fn bound(mut self, limit: usize, overflow: Overflow) -> Self {
        self.bound = Some((limit, overflow));
        self
    }

    /// Lets the process block its thread between two awaits.
    ///
    /// Use it for code without an async form: files, blocking libraries, computations of seconds.
    /// The process is otherwise like any other, and may use [`Pid::call_blocking`],
    /// [`Node::block_on`] and `std::thread::sleep`. Each of its turns runs on a thread of tokio's
    /// blocking pool, which has up to 512 threads per node. A process that blocks although it was
    /// spawned otherwise is tolerated (F2).
    ///
    /// ```
    /// # use purlin::{Process, Reply, SpawnOptions};
    /// # #[purlin::main] async fn main() {
    /// let files = async |mut me: Process<(&'static str, Reply<bool>)>| loop {
    ///     let (path, reply) = me.receive().await;
    ///     reply.send(std::fs::metadata(path).is_ok());
    /// };
    /// let files = SpawnOptions::new().blocking().spawn(files).expect("the node is not full");
    /// assert_eq!(files.call(|reply| ("/no/such/file", reply)).await, Ok(false));
    /// # }
    /// ```
    ///
    /// If the process blocks while the node stops, the stop waits as long as for any other process,
    /// names it in the report and continues (E1).
    ///
    /// COST: a tokio task and usually a thread switch for each turn, some microseconds.
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Registers the process under a name before it runs (N1). If the name is invalid or taken, the
    /// spawn fails ([`SpawnError::Name`]).
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(Name::from(name));
        self
    }

    /// Returns the options without the relations, the initial private state of the process, and the
    /// relations.
    ///
    /// # Panics
    /// With a link or a monitor, panics outside the turn of the process that spawns.
    #[track_caller]
    pub(crate) fn begin(self) -> (SpawnOptions, LocalState, Relations<L, W>)
    where
        L: Relation,
        W: Relation,
    {
        let Self { bound, blocking, name, linked, monitored } = self;
        let (local, relations) = Relations::begin(linked, monitored);
        (SpawnOptions { bound, blocking, name, linked: (), monitored: () }, local, relations)
    }
}

impl<W> SpawnOptions<(), W> {
    /// Links the process to `me`, the process that spawns it, in one step with the spawn (L8); see
    /// [`Process::link`]. If the spawn fails, nothing is linked and no signal is sent.
    ///
    /// ```
    /// # use purlin::{Process, SpawnOptions};
    /// # #[purlin::main] async fn main(me: Process<()>) {
    /// let clerk = SpawnOptions::new().name("clerk").link(&me).spawn(async |_: Process<()>| {});
    /// let clerk = clerk.expect("the name is free");
    /// # clerk.ended().await;
    /// # }
    /// ```
    ///
    /// The spawn panics outside of `me`'s own turns, as receiving does.
    pub fn link<P: Send + 'static>(self, me: &Process<P>) -> SpawnOptions<LinkedTo<'_, P>, W> {
        let Self { bound, blocking, name, linked: (), monitored } = self;
        SpawnOptions { bound, blocking, name, linked: LinkedTo(me), monitored }
    }
}

impl<L> SpawnOptions<L> {
    /// Lets `me`, the process that spawns it, monitor the process, in one step with the spawn (L8);
    /// see [`Process::monitor`]. The spawn then returns the [`MonitorRef`](crate::MonitorRef) too.
    /// If the spawn fails, nothing is monitored and no [`Down`](crate::Down) is sent.
    ///
    /// ```
    /// # use purlin::{Down, ExitReason, Process, SpawnOptions};
    /// # #[purlin::main] async fn main(mut me: Process<Down>) {
    /// let clerk = SpawnOptions::new().name("clerk").monitor(&me).spawn(async |_: Process<()>| {});
    /// let (clerk, monitor) = clerk.expect("the name is free");
    /// let down = me.receive().await;
    /// assert_eq!((down.monitor, down.reason), (monitor, ExitReason::Normal));
    /// # assert!(!clerk.is_alive());
    /// # }
    /// ```
    ///
    /// The spawn panics outside of `me`'s own turns, as receiving does.
    pub fn monitor<P>(self, me: &Process<P>) -> SpawnOptions<L, MonitoredBy<'_, P>>
    where
        P: ReceivesDown + Send + 'static,
    {
        let Self { bound, blocking, name, linked, monitored: () } = self;
        SpawnOptions { bound, blocking, name, linked, monitored: MonitoredBy(me) }
    }
}

impl<L: Relation, W: Relation> SpawnOptions<L, W> {
    /// Spawns a process on the current node; see [`spawn()`](crate::spawn()). Returns its address,
    /// and with [`monitor`](Self::monitor) the pair of the address and the monitor's reference.
    ///
    /// # Errors
    /// Returns [`SpawnError`], which contains the function (E2), if the node is full or stopping,
    /// the bound is invalid, or the name is invalid or taken.
    ///
    /// # Panics
    /// Panics on a thread that runs no process; use [`spawn_on`](Self::spawn_on) there. With a link
    /// or a monitor, panics outside the turn of the process that spawns.
    ///
    /// COST: as [`spawn()`](crate::spawn()), and the cost of each option. The function is compiled
    /// for each of the four kinds of process that the options can select.
    #[track_caller]
    pub fn spawn<M, F, Fut>(self, function: F) -> Result<W::Spawned<Pid<M>>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.spawn_guarded(function, ())
    }

    /// [`spawn`](Self::spawn) with a guard, dropped when the function has reached its first await or
    /// has ended.
    #[track_caller]
    pub(crate) fn spawn_guarded<M, F, Fut>(
        self,
        function: F,
        guard: impl Send + 'static,
    ) -> Result<W::Spawned<Pid<M>>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (options, local, relations) = self.begin();
        let pid = spawn_here(|node_core, parent| {
            options.spawn_in(node_core, parent, local, function, identity, guard)
        })?;
        let reference = relations.complete(&pid);
        Ok(W::spawned(pid, reference))
    }

    /// Spawns a process on a node, from any thread; otherwise as [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// With a link or a monitor, panics outside the turn of the process that spawns, which may
    /// belong to another node of this program.
    #[track_caller]
    pub fn spawn_on<M, F, Fut>(
        self,
        node: &Node,
        function: F,
    ) -> Result<W::Spawned<Pid<M>>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (options, local, relations) = self.begin();
        let Some(_spawning) = node.begin_spawn() else {
            return Err(SpawnError::Stopping(function));
        };
        let (node_core, parent) = (node.node_core(), Parent::current());
        let pid = options.spawn_in(node_core, parent, local, function, identity, ())?;
        let reference = relations.complete(&pid);
        Ok(W::spawned(pid, reference))
    }
}

/// Returns `make`, preceded by a call of `born`.
fn after<G, M, B>(
    born: impl FnOnce(&Owner<ErlangTypes, M>),
    make: impl FnOnce(G, Owner<ErlangTypes, M>) -> B,
) -> impl FnOnce(G, Owner<ErlangTypes, M>) -> B {
    |goods, owner| {
        born(&owner);
        make(goods, owner)
    }
}
