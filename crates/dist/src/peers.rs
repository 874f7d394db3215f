//! To whom we are connected, and what becomes of a call while we call ourselves. Pure.
//!
//! Two nodes that call each other at once are to end with one connection, and with the
//! same. Each decides by itself, and both agree because they compare the two names: the
//! call of the greater one counts.
//!
//! | of a node that calls us | answer |
//! |---|---|
//! | nothing is known | `ok` |
//! | we are calling it, and its name is greater | `ok_simultaneous`; ours is given up when its call is done |
//! | we are calling it, and ours is greater | `nok` |
//! | there is a connection | `alive`: it goes on if it says that that one is dead |
//! | it has our name | `not_allowed` |
//!
//! While we answer a node that calls us, we do not call it: two calls that are both
//! answered with `ok` could each make the other one be given up.
//!
//! A caller is only a claim until it has proven that it knows the cookie. So it gets no
//! connection ended and no call of ours given up: [`Peers::up`] does that, behind the
//! handshake, and says which. What a stranger can do is to keep us from calling the node
//! whose name it uses, for as long as a handshake may take; a node of the BEAM bears that
//! as well.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::handshake::Verdict;
use crate::name::NodeName;

/// To whom we are connected, whom we are calling and whom we are answering.
///
/// ```
/// use purlin_dist::Peers;
/// use purlin_dist::handshake::Verdict;
///
/// let [a, b]: [purlin_dist::NodeName; 2] = ["a@h".parse()?, "b@h".parse()?];
/// let mut peers = Peers::new(a);
/// assert!(peers.call(&b));
/// assert_eq!(peers.called(&b), Verdict::OkSimultaneous);
/// let up = peers.up(&b, false);
/// assert!(up.give_up_call);
/// assert_eq!(peers.called(&b), Verdict::Alive);
/// # Ok::<(), purlin_dist::BadName>(())
/// ```
#[derive(Debug)]
pub struct Peers {
    us: NodeName,
    calling: HashSet<NodeName>,
    /// How many callers of each name are being answered.
    answering: HashMap<NodeName, usize>,
    up: HashMap<NodeName, u64>,
    connections: u64,
}

/// A connection that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Up {
    /// Tells it from other connections to the same node.
    pub connection: u64,
    /// The connection to the same node that it takes the place of: that one ends first.
    pub replaces: Option<u64>,
    /// Whether we are calling the node too, and are to stop.
    pub give_up_call: bool,
}

impl Peers {
    /// Of a node that knows nobody.
    #[must_use]
    pub fn new(us: NodeName) -> Self {
        let (calling, answering, up) = (HashSet::new(), HashMap::new(), HashMap::new());
        Self { us, calling, answering, up, connections: 0 }
    }

    /// Whether to call a node; not if it is there, is being called or answered, or is ourselves. Who is told to
    /// calls it and then says [`Peers::up`] or [`Peers::call_failed`].
    pub fn call(&mut self, node: &NodeName) -> bool {
        let busy = self.up.contains_key(node) || self.answering.contains_key(node);
        *node != self.us && !busy && self.calling.insert(node.clone())
    }

    /// Our call has come to nothing.
    pub fn call_failed(&mut self, node: &NodeName) {
        self.calling.remove(node);
    }

    /// What to answer to a node that calls us. Unless that is a refusal, [`Peers::up`] or
    /// [`Peers::answer_failed`] is to be said in the end.
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

    /// Whether a node that calls us is being answered.
    #[must_use]
    pub fn is_answering(&self, node: &NodeName) -> bool {
        self.answering.contains_key(node)
    }

    /// A handshake with a caller that was not refused has come to nothing.
    pub fn answer_failed(&mut self, node: &NodeName) {
        self.no_longer_answers(node);
    }

    fn no_longer_answers(&mut self, node: &NodeName) {
        if let Entry::Occupied(mut count) = self.answering.entry(node.clone()) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// What to answer to a node that we call and that says `alive`: whether the connection it knows of is dead.
    #[must_use]
    pub fn is_dead(&self, node: &NodeName) -> bool {
        !self.up.contains_key(node)
    }

    /// The handshake with a node is done; by a call of ours or of its own.
    pub fn up(&mut self, node: &NodeName, our_call: bool) -> Up {
        if !our_call {
            self.no_longer_answers(node);
        }
        self.connections += 1;
        let connection = self.connections;
        let was_calling = self.calling.remove(node);
        let replaces = self.up.insert(node.clone(), connection);
        Up { connection, replaces, give_up_call: was_calling && !our_call }
    }

    /// A connection has ended. Whether the node is gone with it: not if another one took its place.
    pub fn down(&mut self, node: &NodeName, connection: u64) -> bool {
        match self.up.entry(node.clone()) {
            Entry::Occupied(place) if *place.get() == connection => {
                place.remove();
                true
            }
            _ => false,
        }
    }

    /// The nodes to which there is a connection.
    pub fn connected(&self) -> impl Iterator<Item = &NodeName> {
        self.up.keys()
    }
}

#[cfg(test)]
mod tests;
