//! Connection table, and the resolution of simultaneous connects. Pure.
//!
//! Two nodes that connect to each other simultaneously must end with one connection, and with the
//! same one. Each decides alone. Both agree because both compare the two names: the connection of
//! the node with the greater name wins.
//!
//! | state of the calling node in the table | status sent |
//! |---|---|
//! | none | `ok` |
//! | this node is calling it, and its name is greater | `ok_simultaneous`; then our call is cancelled |
//! | this node is calling it, and our name is greater | `nok` |
//! | connected | `alive`; continues if the caller says the old one is dead |
//! | it has our name | `not_allowed` |
//!
//! While this node answers a caller, it does not call the same node: two calls that are both
//! answered with `ok` could each cancel the other.
//!
//! A caller is unauthenticated until it has proven knowledge of the cookie. Until then it cannot end
//! a connection or cancel our call: only [`ConnectionTable::up`], after the handshake, does that and
//! returns which. An unauthenticated peer can prevent calls to the node whose name it uses, for at
//! most one handshake timeout. The BEAM has the same limitation.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::handshake::Verdict;
use crate::name::NodeName;

/// Connection table: connected nodes, and nodes being called or answered.
///
/// ```
/// use purlin_dist_protocol::ConnectionTable;
/// use purlin_dist_protocol::handshake::Verdict;
///
/// let [a, b]: [purlin_dist_protocol::NodeName; 2] = ["a@h".parse()?, "b@h".parse()?];
/// let mut table = ConnectionTable::new(a);
/// assert!(table.call(&b));
/// assert_eq!(table.called(&b), Verdict::OkSimultaneous);
/// let up = table.up(&b, false);
/// assert!(up.give_up_call);
/// assert_eq!(table.called(&b), Verdict::Alive);
/// # Ok::<(), purlin_dist_protocol::BadName>(())
/// ```
#[derive(Debug)]
pub struct ConnectionTable {
    us: NodeName,
    calling: HashSet<NodeName>,
    /// Number of callers of each name that are being answered.
    answering: HashMap<NodeName, usize>,
    up: HashMap<NodeName, u64>,
    connections: u64,
}

/// An established connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Up {
    /// Distinguishes this connection from others to the same node.
    pub connection: u64,
    /// The older connection to the same node, which must be ended before this one is used.
    pub replaces: Option<u64>,
    /// Whether our own call to the node is still in progress and must be cancelled.
    pub give_up_call: bool,
}

impl ConnectionTable {
    /// Creates an empty table.
    #[must_use]
    pub fn new(us: NodeName) -> Self {
        let (calling, answering, up) = (HashSet::new(), HashMap::new(), HashMap::new());
        Self { us, calling, answering, up, connections: 0 }
    }

    /// Starts a call to a node. Returns `false` if the node is connected, is being called or answered, or is this node.
    /// After `true`, the caller must report the outcome with [`ConnectionTable::up`] or
    /// [`ConnectionTable::call_failed`].
    pub fn call(&mut self, node: &NodeName) -> bool {
        let is_known = self.up.contains_key(node) || self.answering.contains_key(node);
        *node != self.us && !is_known && self.calling.insert(node.clone())
    }

    /// Records that our call failed.
    pub fn call_failed(&mut self, node: &NodeName) {
        self.calling.remove(node);
    }

    /// Returns the status for a calling node. Unless it is a refusal, the caller must report the
    /// outcome with [`ConnectionTable::up`] or [`ConnectionTable::answer_failed`].
    pub fn called(&mut self, node: &NodeName) -> Verdict {
        let verdict = if *node == self.us {
            return Verdict::NotAllowed;
        } else if self.up.contains_key(node) {
            Verdict::Alive
        } else if !self.calling.contains(node) {
            Verdict::Ok
        } else if *node > self.us {
            Verdict::OkSimultaneous
        } else {
            return Verdict::Nok;
        };
        *self.answering.entry(node.clone()).or_default() += 1;
        verdict
    }

    /// Whether an incoming call from the node is being answered.
    #[must_use]
    pub fn is_answering(&self, node: &NodeName) -> bool {
        self.answering.contains_key(node)
    }

    /// Records that the handshake with an accepted caller failed.
    pub fn answer_failed(&mut self, node: &NodeName) {
        if let Entry::Occupied(mut count) = self.answering.entry(node.clone()) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Whether the connection that the called node reports with `alive` is dead on our side.
    #[must_use]
    pub fn is_dead(&self, node: &NodeName) -> bool {
        !self.up.contains_key(node)
    }

    /// Records an established connection; `our_call` states whether this node called.
    pub fn up(&mut self, node: &NodeName, our_call: bool) -> Up {
        if !our_call {
            self.answer_failed(node);
        }
        self.connections += 1;
        let connection = self.connections;
        let was_calling = self.calling.remove(node);
        let replaces = self.up.insert(node.clone(), connection);
        Up { connection, replaces, give_up_call: was_calling && !our_call }
    }

    /// Records that a connection has ended. Returns whether the node is now disconnected: `false` if another connection
    /// has replaced this one.
    pub fn down(&mut self, node: &NodeName, connection: u64) -> bool {
        match self.up.entry(node.clone()) {
            Entry::Occupied(entry) if *entry.get() == connection => {
                entry.remove();
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
