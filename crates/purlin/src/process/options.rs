//! Spawn options.

use std::future::Future;
use std::sync::Arc;

use purlin_raw::{Bound, NodeCore, Overflow, Owner};

use crate::node::erlang_types::ErlangTypes;
use crate::process::blocking::blocking;
use crate::process::body::Body;
use crate::process::first_turn::WrapBody;
use crate::process::shared::Parent;
use crate::process::spawn::{spawn_here, try_spawn_on};
use crate::signals::local_state::LocalState;
use crate::{Name, Node, Outcome, Pid, Process, SpawnError};

/// Options of a process to be spawned: the options of Erlang's `spawn_opt`.
///
/// A link or a monitor is not an option but a method: [`Process::spawn_link_opt`],
/// [`Process::spawn_monitor_opt`].
///
/// ```
/// # use purlin::{Overflow, Process, SendError, SpawnOptions, spawn_opt, whereis};
/// # #[purlin::main] async fn main() {
/// let options = SpawnOptions::new().name("printer").bound(2, Overflow::Reject);
/// let printer = spawn_opt(options, async |mut me: Process<&str>| {
///     while me.receive().await != "stop" {}
/// });
/// let printer = printer.expect("the name is free");
/// assert_eq!(whereis("printer"), Ok(printer.clone()));
/// while printer.try_send("page").is_ok() {}
/// assert_eq!(printer.try_send("page"), Err(SendError::Full("page")));
/// # printer.send_async("stop").await.expect("it lives");
/// # assert_eq!(printer.ended().await, purlin::ExitReason::Normal);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "options are given to one of the functions that spawn"]
pub struct SpawnOptions {
    bound: Option<(usize, Overflow)>,
    blocking: bool,
    name: Option<Name>,
}

impl SpawnOptions {
    /// Returns the options of [`spawn()`](crate::spawn()): no bound, no name, turns that must not
    /// block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the mailbox to `limit` waiting messages, from 1 to 4,294,967,295. `overflow` decides
    /// about messages beyond the limit (B1). Exit, down and link signals pass the bound, and so do
    /// messages sent to an alias and requests to stop a server (B2). With another limit the spawn
    /// fails ([`SpawnError::BadBound`]).
    ///
    /// COST: 80 bytes, and one more atomic read-modify-write for each message sent.
    pub fn bound(mut self, limit: usize, overflow: Overflow) -> Self {
        self.bound = Some((limit, overflow));
        self
    }

    /// Lets turns block their thread, as with [`spawn_blocking()`](crate::spawn_blocking()).
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Registers the process under a name before it runs (N1).
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(Name::from(name));
        self
    }

    /// Spawns a process with these options, the initial private state `local` and a wrapper of its
    /// body.
    pub(crate) fn spawn<M, F, Fut, W>(
        self,
        node_core: &NodeCore<ErlangTypes>,
        parent: Parent,
        mut local: LocalState,
        function: F,
        wrapper: W,
    ) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
        W: WrapBody<M>,
    {
        let node_state = node_core.state();
        let mut bound = None;
        if let Some((limit, overflow)) = self.bound {
            bound = Bound::new(limit, overflow, Arc::clone(&node_state.dropped.at_bound));
            if bound.is_none() {
                return Err(SpawnError::BadBound(function));
            }
        }
        let mut claim = None;
        if let Some(name) = self.name {
            match node_state.names.claim(name) {
                Ok(claimed) => claim = Some(claimed),
                Err(error) => return Err(SpawnError::Name(error, function)),
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
                let make = |function, me| wrapper.wrap(Body::<M, F, Fut, ()>::new(function, me));
                try_spawn_on(node_core, parent, local, (), function, after(born, make))
            }
            (Some(bound), false) => {
                let make = |function, me| wrapper.wrap(Body::<M, F, Fut, Bound>::new(function, me));
                try_spawn_on(node_core, parent, local, bound, function, after(born, make))
            }
            (None, true) => {
                let make = |function, me| wrapper.wrap(blocking::<M, F, Fut, ()>(function, me));
                try_spawn_on(node_core, parent, local, (), function, after(born, make))
            }
            (Some(bound), true) => {
                let make = |function, me| wrapper.wrap(blocking::<M, F, Fut, Bound>(function, me));
                try_spawn_on(node_core, parent, local, bound, function, after(born, make))
            }
        }
    }

    /// Returns whether turns may block their thread.
    pub(crate) fn is_blocking(&self) -> bool {
        self.blocking
    }

    /// Returns whether these are the options of [`spawn()`](crate::spawn()).
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these options, completed by those of `other` that are not set here.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            bound: self.bound.or(other.bound),
            blocking: self.blocking || other.blocking,
            name: self.name.or(other.name),
        }
    }

    /// Takes the name out of the options.
    pub(crate) fn take_name(&mut self) -> Option<Name> {
        self.name.take()
    }
}

/// Returns `make`, preceded by a call of `born`.
fn after<M, F, B>(
    born: impl FnOnce(&Owner<ErlangTypes, M>),
    make: impl FnOnce(F, Owner<ErlangTypes, M>) -> B,
) -> impl FnOnce(F, Owner<ErlangTypes, M>) -> B {
    |function, owner| {
        born(&owner);
        make(function, owner)
    }
}

/// Spawns a process on the current node, with options.
///
/// # Errors
/// Returns [`SpawnError`], which contains the function (E2), if the node is full or stopping, the
/// bound is invalid, or the name is invalid or taken.
///
/// # Panics
/// Panics on a thread that runs no process, as [`spawn()`](crate::spawn()) does; use
/// [`Node::spawn_opt`] there.
///
/// COST: as [`spawn()`](crate::spawn()), and the cost of each option. The function is compiled for
/// each of the four kinds of process that the options can select.
#[track_caller]
pub fn spawn_opt<M, F, Fut>(options: SpawnOptions, function: F) -> Result<Pid<M>, SpawnError<F>>
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    spawn_here(|node_core, parent| {
        options.spawn(node_core, parent, LocalState::default(), function, ())
    })
}

impl Node {
    /// [`spawn_opt()`](crate::spawn_opt()) on this node, from any thread.
    ///
    /// # Errors
    /// As [`spawn_opt()`](crate::spawn_opt()).
    pub fn spawn_opt<M, F, Fut>(
        &self,
        options: SpawnOptions,
        function: F,
    ) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(function));
        };
        let (parent, local) = (Parent::current(), LocalState::default());
        options.spawn(self.node_core(), parent, local, function, ())
    }
}
