//! Immutable data of a process: its node, its parent, and its class.

use purlin_raw::Slot;

use crate::ProcessId;

/// Immutable data of a process, readable from any thread, also after its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    /// Creation of the process's node.
    pub(crate) creation: u32,
    /// Creation of the parent's node.
    parent_creation: u32,
    /// Slot of the parent, if a process spawned this one.
    parent: Option<Slot>,
}

impl Shared {
    #[inline]
    pub(crate) fn new(creation: u32, parent: Parent) -> Self {
        Self { creation, parent_creation: parent.creation, parent: parent.slot }
    }

    /// Returns whether this is a system process ([`Parent::NODE`]) or a proxy, not a user process.
    pub(crate) fn is_system(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::NODE.creation || self.is_proxy()
    }

    /// Returns whether this is a proxy for a remote process ([`Parent::ELSEWHERE`]).
    pub(crate) fn is_proxy(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::ELSEWHERE.creation
    }

    /// Returns the id of the parent, if a process spawned this one.
    pub(crate) fn parent(&self) -> Option<ProcessId> {
        self.parent.map(|slot| ProcessId::new(self.parent_creation, slot))
    }
}

/// Parent of a process to be spawned.
#[derive(Clone, Copy)]
pub(crate) struct Parent {
    creation: u32,
    slot: Option<Slot>,
}

impl Parent {
    /// The node itself: parent of system processes, which end after user processes and proxies.
    pub(crate) const NODE: Self = Self { creation: u32::MAX, slot: None };
    /// Another node: parent of proxies for its processes, which end after this node's user
    /// processes.
    pub(crate) const ELSEWHERE: Self = Self { creation: u32::MAX - 1, slot: None };

    /// Not a process: parent of what a thread outside any process spawns.
    pub(crate) const NONE: Self = Self { creation: 0, slot: None };

    /// Returns the process of this slot as a parent, or the node's thread if there is no slot.
    #[inline]
    pub(crate) fn new(creation: u32, slot: Option<Slot>) -> Self {
        Self { creation, slot }
    }

    /// Returns the id of the parent, if it is a process.
    pub(crate) fn id(self) -> Option<ProcessId> {
        self.slot.map(|slot| ProcessId::new(self.creation, slot))
    }
}
