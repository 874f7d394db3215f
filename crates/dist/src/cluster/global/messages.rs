//! Messages between the servers of `global`, and calls to one.

use std::sync::Arc;

use purlin::{Pid, Process, receive};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term};

use super::handle::SERVER;
use super::mail::ClientMail;
use crate::cluster::core::Core;
use crate::cluster::rpc::gen_call::GenCall;

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

/// Calls a server. Returns `None` if it does not exist, or ends.
pub(super) async fn ask<J: Send + 'static, M: From<Term> + Send + 'static>(
    me: &mut Process<ClientMail<J>>,
    core: &Core,
    server: &Pid<M>,
    request: Term,
) -> Option<Term> {
    let monitor = me.monitor(server);
    let tag = Term::from(core.ids.reference(monitor));
    let call = GenCall { from: core.ids.pid(me.id()), tag: tag.clone(), request };
    server.send(M::from(call.into_term()));
    let answer = receive!(me, {
        ClientMail::Term(Term::Tuple(parts)) if parts.len() == 2 && parts[0] == tag => {
            parts.into_iter().nth(1)
        },
        ClientMail::Down(down) if down.monitor == monitor => None,
    });
    me.demonitor_flush(monitor);
    answer
}
