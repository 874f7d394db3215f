//! Messages between the servers of `global`.

use std::sync::Arc;

use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term};

use super::handle::SERVER;
use crate::cluster::core::Core;

/// A node's name as a term.
pub(super) fn atom(node: &NodeName) -> Term {
    Term::Atom(Atom::new(node.as_str()).unwrap_or(Atom::EMPTY))
}

/// The node named by a term.
pub(super) fn node(term: &Term) -> Option<NodeName> {
    term.as_atom()?.as_str().parse().ok()
}

/// Sends a message to the server of a node.
pub(super) fn send(core: &Arc<Core>, node: &NodeName, what: Term) {
    if let Some(there) = core.named(Atom::from_static(SERVER), node) {
        there.send(what);
    }
}

/// Like [`send`], but drops the message if the node is not connected.
pub(super) fn send_if_connected(core: &Arc<Core>, node: &NodeName, what: Term) {
    if core.connection(node).is_some() {
        send(core, node, what);
    }
}

pub(super) fn cast(core: &Arc<Core>, node: &NodeName, what: Term) {
    send(core, node, tagged!("$gen_cast", what));
}
