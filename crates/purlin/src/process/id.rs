//! Process ids.

use std::fmt;

use purlin_raw::Slot;

use crate::node::erlang_types::Peer;

/// Id of a process: small, `Copy`, and without a reference to the process.
///
/// Displayed as Erlang displays a local pid, `<0.12.3>`: the process in slot 12 of its node, the
/// fourth in that slot. Two processes never have the same id, neither in succession in the same
/// slot nor on two nodes of one program (P4), because the id contains the node's *creation*, a
/// number that differs at each start of a node. Only two simulated nodes with the same seed have
/// the same creation.
///
/// To send to a process of which only the id is known, look it up on its node:
/// [`crate::Node::pid`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId {
    creation: u32,
    slot: Slot,
}

impl ProcessId {
    pub(crate) fn new(creation: u32, slot: Slot) -> Self {
        Self { creation, slot }
    }

    pub(crate) fn of(process: &Peer) -> Self {
        Self::new(process.shared().creation, process.slot())
    }

    pub(crate) fn slot_on(self, creation: u32) -> Option<Slot> {
        (self.creation == creation).then_some(self.slot)
    }

    /// Creates an id from its parts. Returns `None` if no process can have that id.
    pub fn from_parts(id: u32, serial: u32, creation: u32) -> Option<Self> {
        Some(Self { creation, slot: Slot::from_parts(id, serial)? })
    }

    /// Returns the number of the slot, Erlang's *id*.
    pub fn id(self) -> u32 {
        self.slot.index()
    }

    /// Returns the number of processes that had the slot before, Erlang's *serial*.
    pub fn serial(self) -> u32 {
        self.slot.generation()
    }

    /// Returns the creation of the process's node, which identifies one start of the node.
    pub fn creation(self) -> u32 {
        self.creation
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<0.{}.{}>", self.slot.index(), self.slot.generation())
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
