//! The children of one supervisor: in the order of their start, by id, and by process.
//!
//! A pure table, owned by the supervisor alone. `S` is how a child is started.
//!
//! COST: whatever concerns one child is found by its hash and by its key in a tree, also among very
//! many.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::strategy::{ALL, Key};
use super::{ChildType, Restart, Shutdown};
use crate::ProcessId;

/// What a specification says beside the id and how to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) restart: Restart,
    pub(crate) significant: bool,
    pub(crate) shutdown: Shutdown,
    pub(crate) child_type: ChildType,
}

/// A child as it was specified.
#[derive(Clone, Debug)]
pub(crate) struct Spec<S> {
    pub(crate) id: Arc<str>,
    pub(crate) settings: Settings,
    pub(crate) start: S,
}

/// Where a child's process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It was started, and its end has not been noticed.
    Running(ProcessId),
    /// It could not be restarted and will be tried again; what it was before, if it was.
    Restarting(Option<ProcessId>),
    /// There is none.
    Absent,
}

impl Place {
    /// The process that is, or was before.
    pub(crate) fn process(self) -> Option<ProcessId> {
        match self {
            Self::Running(process) => Some(process),
            Self::Restarting(before) => before,
            Self::Absent => None,
        }
    }
}

/// A child as it is.
#[derive(Debug)]
pub(crate) struct Child<S> {
    pub(crate) spec: Spec<S>,
    place: Place,
}

impl<S> Child<S> {
    pub(crate) fn place(&self) -> Place {
        self.place
    }
}

/// All children.
#[derive(Debug)]
pub(crate) struct Children<S> {
    /// INVARIANT: the keys are below `next`.
    in_order: BTreeMap<Key, Child<S>>,
    next: Key,
    /// None where children have no ids of their own.
    by_id: Option<HashMap<Arc<str>, Key>>,
    /// INVARIANT: the children whose place has a process, by it.
    by_process: HashMap<ProcessId, Key>,
}

impl<S> Children<S> {
    /// Children that are told apart by their ids.
    pub(crate) fn named() -> Self {
        Self { by_id: Some(HashMap::new()), ..Self::nameless() }
    }

    /// Children that are told apart by their processes alone.
    pub(crate) fn nameless() -> Self {
        Self {
            in_order: BTreeMap::new(),
            next: *ALL.start(),
            by_id: None,
            by_process: HashMap::new(),
        }
    }

    /// Puts a child behind all others. Whoever adds one with an id has seen that there is none.
    pub(crate) fn add(&mut self, spec: Spec<S>, place: Place) -> Key {
        let key = self.next;
        self.next = Key(key.0 + 1);
        if let Some(by_id) = &mut self.by_id {
            by_id.insert(spec.id.clone(), key);
        }
        if let Some(process) = place.process() {
            self.by_process.insert(process, key);
        }
        self.in_order.insert(key, Child { spec, place });
        key
    }

    /// Whether there is such a child, and what it is.
    pub(crate) fn get(&self, key: Key) -> Option<&Child<S>> {
        self.in_order.get(&key)
    }

    pub(crate) fn with_id(&self, id: &str) -> Option<Key> {
        self.by_id.as_ref()?.get(id).copied()
    }

    pub(crate) fn with_process(&self, process: ProcessId) -> Option<Key> {
        self.by_process.get(&process).copied()
    }

    /// The child's process is another now.
    pub(crate) fn put(&mut self, key: Key, place: Place) {
        let Some(child) = self.in_order.get_mut(&key) else { return };
        if let Some(before) = std::mem::replace(&mut child.place, place).process() {
            self.by_process.remove(&before);
        }
        if let Some(process) = place.process() {
            self.by_process.insert(process, key);
        }
    }

    /// The child stays ended: it remains in the table without a process, or leaves it.
    pub(crate) fn settle(&mut self, key: Key) {
        let kept = |child: &Child<S>| child.spec.settings.restart.is_kept();
        if self.by_id.is_some() && self.get(key).is_some_and(kept) {
            self.put(key, Place::Absent);
        } else {
            self.remove(key);
        }
    }

    /// The child leaves the table.
    pub(crate) fn remove(&mut self, key: Key) {
        let Some(child) = self.in_order.remove(&key) else { return };
        if let Some(by_id) = &mut self.by_id {
            by_id.remove(&child.spec.id);
        }
        if let Some(process) = child.place.process() {
            self.by_process.remove(&process);
        }
    }

    /// Those within a strategy's reach, first to last.
    pub(crate) fn keys(&self, reach: RangeInclusive<Key>) -> Vec<Key> {
        self.in_order.range(reach).map(|(key, _)| *key).collect()
    }

    /// All, first to last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Child<S>> {
        self.in_order.values()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Children, Place, Settings, Spec};
    use crate::supervisor::strategy::ALL;
    use crate::supervisor::tests::process;
    use crate::supervisor::{ChildType, Restart, Shutdown};

    fn spec(id: &str, restart: Restart) -> Spec<()> {
        let shutdown = Shutdown::Timeout(Duration::from_secs(5));
        let settings =
            Settings { restart, significant: false, shutdown, child_type: ChildType::Worker };
        Spec { id: id.into(), settings, start: () }
    }

    #[test]
    fn a_child_keeps_its_place_in_the_order_when_its_process_is_another() {
        let mut children = Children::named();
        let a = children.add(spec("a", Restart::Permanent), Place::Running(process(1)));
        let b = children.add(spec("b", Restart::Permanent), Place::Running(process(2)));
        children.put(a, Place::Restarting(Some(process(1))));
        assert_eq!(children.with_process(process(1)), Some(a), "it is known by what it was");
        children.put(a, Place::Running(process(3)));
        assert_eq!(
            (children.with_process(process(1)), children.with_process(process(3))),
            (None, Some(a))
        );
        assert_eq!((children.with_id("a"), children.with_id("b")), (Some(a), Some(b)));
        assert_eq!(children.keys(ALL), [a, b]);
    }

    #[test]
    fn what_stays_ended_is_kept_unless_it_is_temporary_or_has_no_id() {
        let mut named = Children::named();
        let kept = named.add(spec("kept", Restart::Transient), Place::Running(process(1)));
        let gone = named.add(spec("gone", Restart::Temporary), Place::Running(process(2)));
        named.settle(kept);
        named.settle(gone);
        assert_eq!(named.keys(ALL), [kept]);
        assert_eq!((named.with_id("gone"), named.with_process(process(1))), (None, None));
        let mut nameless = Children::nameless();
        let one = nameless.add(spec("any", Restart::Permanent), Place::Running(process(1)));
        nameless.settle(one);
        assert_eq!(nameless.iter().count(), 0);
    }
}
