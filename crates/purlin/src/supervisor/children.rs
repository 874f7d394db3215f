//! Child table of a supervisor: in start order, by id and by process.
//!
//! A pure data structure, owned by the supervisor. `S` is the type of the start function.
//!
//! COST: an operation on one child takes a hash look-up and a B-tree look-up, whatever the number
//! of children.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::backoff::Backoff;
use super::intensity::Intensity;
use super::strategy::{ALL, Key};
use super::{ChildType, Restart, Shutdown};
use crate::ProcessId;

/// Settings of a child spec, apart from the id and the start function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) restart: Restart,
    pub(crate) significant: bool,
    pub(crate) shutdown: Shutdown,
    pub(crate) child_type: ChildType,
    /// Delays before restarts.
    pub(crate) backoff: Option<Backoff>,
    /// The child's own restart intensity: most restarts, and the period in seconds.
    pub(crate) intensity: Option<(usize, u64)>,
}

/// A child spec.
#[derive(Clone, Debug)]
pub(crate) struct Spec<S> {
    pub(crate) id: Arc<str>,
    pub(crate) settings: Settings,
    pub(crate) start: S,
}

/// State of a child's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildState {
    /// The child was started, and its exit has not been handled.
    Running(ProcessId),
    /// A restart is delayed, or failed and will be tried again; holds the previous process, if
    /// there was one.
    Restarting(Option<ProcessId>),
    /// The child has no process.
    Absent,
}

impl ChildState {
    /// Returns the current or the previous process.
    pub(crate) fn process(self) -> Option<ProcessId> {
        match self {
            Self::Running(process) => Some(process),
            Self::Restarting(before) => before,
            Self::Absent => None,
        }
    }
}

/// A child: its spec and its process state.
#[derive(Debug)]
pub(crate) struct Child<S> {
    pub(crate) spec: Spec<S>,
    state: ChildState,
    /// Delayed restarts since the delays have begun again.
    delayed: u32,
    /// Number of the last delay.
    delay: u64,
    /// Time of the last start, if the child has delays.
    since: Duration,
    /// Restarts that count for the child's own intensity.
    restarts: Option<Box<Intensity>>,
}

impl<S> Child<S> {
    fn new(spec: Spec<S>, state: ChildState) -> Self {
        Self { spec, state, delayed: 0, delay: 0, since: Duration::ZERO, restarts: None }
    }

    pub(crate) fn state(&self) -> ChildState {
        self.state
    }

    /// Returns whether the child waits for the end of its delay number `delay`.
    pub(crate) fn waits_for(&self, delay: u64) -> bool {
        matches!(self.state, ChildState::Restarting(_)) && self.delay == delay
    }
}

/// Child table.
#[derive(Debug)]
pub(crate) struct Children<S> {
    /// INVARIANT: all keys are less than `next`.
    in_order: BTreeMap<Key, Child<S>>,
    next: Key,
    /// Whether all children have unique ids; otherwise only those that were added with a key.
    named: bool,
    by_id: HashMap<Arc<str>, Key>,
    /// INVARIANT: contains exactly the process of each running child, and the previous process of
    /// each child that is being restarted, if it had one.
    by_process: FxHashMap<ProcessId, Key>,
}

impl<S> Children<S> {
    /// Creates a table for children with unique ids.
    pub(crate) fn named() -> Self {
        Self { named: true, ..Self::nameless() }
    }

    /// Creates a table for children that are identified by their processes, and by an id only if
    /// they were added with one ([`Children::add_with`]).
    pub(crate) fn nameless() -> Self {
        Self {
            in_order: BTreeMap::new(),
            next: *ALL.start(),
            named: false,
            by_id: HashMap::new(),
            by_process: FxHashMap::default(),
        }
    }

    /// Appends a child and returns its key. The caller has checked that its id is free.
    pub(crate) fn add(&mut self, spec: Spec<S>, state: ChildState) -> Key {
        self.add_with(spec, state, self.named)
    }

    /// [`Children::add`] in a table of children without ids: `unique` says whether the child is
    /// found by its id.
    pub(crate) fn add_with(&mut self, spec: Spec<S>, state: ChildState, unique: bool) -> Key {
        let key = self.next;
        self.next = Key(key.0 + 1);
        if unique {
            self.by_id.insert(spec.id.clone(), key);
        }
        if let Some(process) = state.process() {
            self.by_process.insert(process, key);
        }
        self.in_order.insert(key, Child::new(spec, state));
        key
    }

    /// Returns the child with that key.
    pub(crate) fn get(&self, key: Key) -> Option<&Child<S>> {
        self.in_order.get(&key)
    }

    pub(crate) fn with_id(&self, id: &str) -> Option<Key> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn with_process(&self, process: ProcessId) -> Option<Key> {
        self.by_process.get(&process).copied()
    }

    /// Changes the process state of a child.
    pub(crate) fn put(&mut self, key: Key, state: ChildState) {
        let Some(child) = self.in_order.get_mut(&key) else { return };
        if let Some(before) = std::mem::replace(&mut child.state, state).process() {
            self.by_process.remove(&before);
        }
        if let Some(process) = state.process() {
            self.by_process.insert(process, key);
        }
    }

    /// Returns the child's own restart intensity.
    pub(crate) fn own_intensity(&mut self, key: Key) -> Option<&mut Intensity> {
        let child = self.in_order.get_mut(&key)?;
        let (most, period) = child.spec.settings.intensity?;
        Some(child.restarts.get_or_insert_with(|| Box::new(Intensity::new(most, period))))
    }

    /// Counts a restart of a child that has delays; returns the number and the duration of its delay.
    ///
    /// WHY a number that never begins again: the timers of earlier delays are not cancelled.
    pub(crate) fn delay(&mut self, key: Key) -> Option<(u64, Duration)> {
        let child = self.in_order.get_mut(&key)?;
        let delay = child.spec.settings.backoff?.delay(child.delayed);
        child.delayed = child.delayed.saturating_add(1);
        child.delay += 1;
        Some((child.delay, delay))
    }

    /// Records the time of a start.
    pub(crate) fn started(&mut self, key: Key, now: impl FnOnce() -> Duration) {
        let child = self.in_order.get_mut(&key);
        if let Some(child) = child.filter(|child| child.spec.settings.backoff.is_some()) {
            child.since = now();
        }
    }

    /// Lets the delays begin again if the child that has ended has run long enough.
    pub(crate) fn ended(&mut self, key: Key, now: impl FnOnce() -> Duration) {
        let Some(child) = self.in_order.get_mut(&key) else { return };
        let Some(backoff) = child.spec.settings.backoff else { return };
        if now().saturating_sub(child.since) > backoff.longest {
            child.delayed = 0;
        }
    }

    /// Resets the counts of restarts, for a child that is started on request.
    pub(crate) fn reset_restarts(&mut self, key: Key) {
        let Some(child) = self.in_order.get_mut(&key) else { return };
        child.delayed = 0;
        child.restarts = None;
    }

    /// Returns the number of children.
    pub(crate) fn len(&self) -> usize {
        self.in_order.len()
    }

    /// Records that a child is not restarted: its spec stays without a process, or the child is
    /// removed.
    pub(crate) fn finish(&mut self, key: Key) {
        let kept = |child: &Child<S>| child.spec.settings.restart.is_kept();
        if self.named && self.get(key).is_some_and(kept) {
            self.put(key, ChildState::Absent);
        } else {
            self.remove(key);
        }
    }

    /// Removes a child from the table.
    pub(crate) fn remove(&mut self, key: Key) {
        let Some(child) = self.in_order.remove(&key) else { return };
        if self.by_id.get(&child.spec.id) == Some(&key) {
            self.by_id.remove(&child.spec.id);
        }
        if let Some(process) = child.state.process() {
            self.by_process.remove(&process);
        }
    }

    /// Returns the keys of the children within a strategy's range, in start order.
    pub(crate) fn keys(&self, reach: RangeInclusive<Key>) -> Vec<Key> {
        self.in_order.range(reach).map(|(key, _)| *key).collect()
    }

    /// Returns all children, in start order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Child<S>> {
        self.in_order.values()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ChildState, Children, Settings, Spec};
    use crate::supervisor::strategy::ALL;
    use crate::supervisor::tests::process;
    use crate::supervisor::{ChildType, Restart, Shutdown};

    fn spec(id: &str, restart: Restart) -> Spec<()> {
        let shutdown = Shutdown::Timeout(Duration::from_secs(5));
        let settings = Settings {
            restart,
            significant: false,
            shutdown,
            child_type: ChildType::Worker,
            backoff: None,
            intensity: None,
        };
        Spec { id: id.into(), settings, start: () }
    }

    #[test]
    fn child_keeps_its_start_order_when_its_process_changes() {
        let mut children = Children::named();
        let a = children.add(spec("a", Restart::Permanent), ChildState::Running(process(1)));
        let b = children.add(spec("b", Restart::Permanent), ChildState::Running(process(2)));
        children.put(a, ChildState::Restarting(Some(process(1))));
        assert_eq!(children.with_process(process(1)), Some(a), "it is known by what it was");
        children.put(a, ChildState::Running(process(3)));
        assert_eq!(
            (children.with_process(process(1)), children.with_process(process(3))),
            (None, Some(a))
        );
        assert_eq!((children.with_id("a"), children.with_id("b")), (Some(a), Some(b)));
        assert_eq!(children.keys(ALL), [a, b]);
    }

    #[test]
    fn child_spec_stays_unless_temporary_or_without_id() {
        let mut named = Children::named();
        let kept = named.add(spec("kept", Restart::Transient), ChildState::Running(process(1)));
        let gone = named.add(spec("gone", Restart::Temporary), ChildState::Running(process(2)));
        named.finish(kept);
        named.finish(gone);
        assert_eq!(named.keys(ALL), [kept]);
        assert_eq!((named.with_id("gone"), named.with_process(process(1))), (None, None));
        let mut nameless = Children::nameless();
        let one = nameless.add(spec("any", Restart::Permanent), ChildState::Running(process(1)));
        nameless.finish(one);
        assert_eq!(nameless.iter().count(), 0);
    }
}
