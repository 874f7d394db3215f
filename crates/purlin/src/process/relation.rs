//! Relations of a process to the one that spawns it: a link, a monitor.
//!
//! A relation is created in one step with the process (L8). Its entry at the process that is
//! spawned is part of the initial private state, and its entry at the parent is added after the
//! spawn, in the same turn of the parent, which therefore handles no signal in between.

use std::fmt;

use crate::signals::conversion::ReceivesDown;
use crate::signals::local_state::LocalState;
use crate::{MonitorRef, Pid, Process};

/// Relation of a process to the one that spawns it: none (`()`), [`LinkedTo`] or [`MonitoredBy`].
/// Type parameter of [`SpawnOptions`](crate::SpawnOptions).
pub trait Relation: sealed::Relation {
    /// Result of a spawn that creates a `P`, which is a [`Pid`] or a [`Task`](crate::task::Task):
    /// `P` itself, or for a monitor the pair of `P` and the [`MonitorRef`].
    type Spawned<P>;

    /// Creates the result of a spawn.
    #[doc(hidden)]
    fn spawned<P>(child: P, reference: Self::Reference) -> Self::Spawned<P>;
}

/// Link to the process that spawns: see [`SpawnOptions::link`](crate::SpawnOptions::link).
pub struct LinkedTo<'a, P>(pub(crate) &'a Process<P>);

/// Monitor by the process that spawns: see [`SpawnOptions::monitor`](crate::SpawnOptions::monitor).
pub struct MonitoredBy<'a, P>(pub(crate) &'a Process<P>);

pub(crate) mod sealed {
    use crate::Pid;
    use crate::signals::local_state::LocalState;

    /// Initial private state of the process to be spawned.
    pub struct Initial(pub(crate) LocalState);

    pub trait Relation {
        /// Reference of the monitor, if the relation is one.
        type Reference: Copy;

        /// Adds the relation to the state of the process to be spawned. The link comes first.
        ///
        /// # Panics
        /// Panics outside the parent's own turns.
        fn begin(&self, initial: &mut Initial) -> Self::Reference;

        /// Adds the relation to the state of the parent.
        fn complete<N: Send + 'static>(&self, reference: Self::Reference, child: &Pid<N>);
    }
}

/// Relations of a process that is being spawned.
pub(crate) struct Relations<L: Relation, W: Relation> {
    link: (L, L::Reference),
    monitor: (W, W::Reference),
}

impl<L: Relation, W: Relation> Relations<L, W> {
    /// Begins the relations. Returns the initial private state of the process to be spawned.
    ///
    /// # Panics
    /// Panics outside the parent's own turns.
    #[track_caller]
    pub(crate) fn begin(link: L, monitor: W) -> (LocalState, Self) {
        let mut initial = sealed::Initial(LocalState::default());
        let linked = link.begin(&mut initial);
        let monitored = monitor.begin(&mut initial);
        (initial.0, Self { link: (link, linked), monitor: (monitor, monitored) })
    }

    /// Adds the relations to the state of the parent. Returns the reference of the monitor.
    pub(crate) fn complete<N: Send + 'static>(self, child: &Pid<N>) -> W::Reference {
        let ((link, linked), (monitor, monitored)) = (self.link, self.monitor);
        link.complete(linked, child);
        monitor.complete(monitored, child);
        monitored
    }
}

impl Relation for () {
    type Spawned<P> = P;

    fn spawned<P>(child: P, (): ()) -> P {
        child
    }
}

impl sealed::Relation for () {
    type Reference = ();

    fn begin(&self, _: &mut sealed::Initial) {}

    fn complete<N: Send + 'static>(&self, (): (), _: &Pid<N>) {}
}

impl<P: Send + 'static> Relation for LinkedTo<'_, P> {
    type Spawned<C> = C;

    fn spawned<C>(child: C, (): ()) -> C {
        child
    }
}

impl<P: Send + 'static> sealed::Relation for LinkedTo<'_, P> {
    type Reference = ();

    #[track_caller]
    fn begin(&self, initial: &mut sealed::Initial) {
        initial.0 = self.0.linked_child();
    }

    fn complete<N: Send + 'static>(&self, (): (), child: &Pid<N>) {
        self.0.link_child(child);
    }
}

impl<P: ReceivesDown + Send + 'static> Relation for MonitoredBy<'_, P> {
    type Spawned<C> = (C, MonitorRef);

    fn spawned<C>(child: C, reference: MonitorRef) -> (C, MonitorRef) {
        (child, reference)
    }
}

impl<P: ReceivesDown + Send + 'static> sealed::Relation for MonitoredBy<'_, P> {
    type Reference = MonitorRef;

    #[track_caller]
    fn begin(&self, initial: &mut sealed::Initial) -> MonitorRef {
        let (reference, monitored) = self.0.monitored_child();
        match initial.0.is_set() {
            false => initial.0 = monitored,
            true => initial.0.extended().watchers.insert_new(reference, self.0.peer()),
        }
        MonitorRef(reference)
    }

    fn complete<N: Send + 'static>(&self, reference: MonitorRef, child: &Pid<N>) {
        self.0.monitor_child(reference.0, child);
    }
}

impl<P> Clone for LinkedTo<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for LinkedTo<'_, P> {}

impl<P> Clone for MonitoredBy<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for MonitoredBy<'_, P> {}

impl<P: Send + 'static> fmt::Debug for LinkedTo<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkedTo").field(&self.0.id()).finish()
    }
}

impl<P: Send + 'static> fmt::Debug for MonitoredBy<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MonitoredBy").field(&self.0.id()).finish()
    }
}
