//! `rex`, whom `rpc:call` of nodes without `erpc` asks, and [`Cluster::rpc`](super::Cluster::rpc) any node: calls of
//! exported functions, answered as OTP's server answers them.
//!
//! It is no process: the connection's reader asks. Each call is a process of its own, so none waits for
//! another, and one that panics is answered with the reason of its end.

use std::sync::Arc;

use purlin::Process;
use purlin_term::Term;

use super::connection::Connection;
use super::core::Core;
use super::export::not_there;
use super::gen_call::GenCall;
use super::reason;
use crate::control::Control;

/// Answers `{call, Module, Function, Arguments, GroupLeader}`, and `block_call`, which here blocks nobody, when the
/// function has returned; what is no such call is not answered.
pub(super) fn asked(core: &Arc<Core>, connection: &Arc<Connection>, mut call: GenCall) {
    let Term::Tuple(parts) = &mut call.request else { return };
    let [tag, Term::Atom(module), Term::Atom(name), Term::List(arguments), _] = &mut parts[..]
    else {
        return;
    };
    if !(tag.is_atom("call") || tag.is_atom("block_call")) {
        return;
    }
    let arguments = std::mem::take(arguments);
    let Some(function) = core.exports.find(module, name, arguments.len()) else {
        let (module, name) = (Term::Atom(module.clone()), Term::Atom(name.clone()));
        let stack = not_there(module, name, arguments);
        let why = failed(Term::tuple([Term::atom("undef"), stack]));
        return call.answer(core, connection, why);
    };
    let (told, outcome) = tokio::sync::oneshot::channel();
    let runs = async move |me: Process<Term>| {
        // Whoever waits for it waits until this has ended.
        let _ = told.send(function(me, arguments).await);
    };
    let Ok(process) = core.ids.node.try_spawn(runs) else {
        return call.answer(core, connection, failed(Term::atom("system_limit")));
    };
    let (answering, connection) = (Arc::clone(core), Arc::clone(connection));
    core.runtime.spawn(async move {
        let value = match outcome.await {
            Ok(Ok(value)) => value,
            Ok(Err(why)) => failed(Term::tuple([why, Term::NIL])),
            Err(_) => failed(reason::to_term(&process.ended().await)),
        };
        call.answer(&answering, &connection, value);
    });
}

/// Answers `{Pid, features_request}`, which every node of the BEAM asks a published one.
pub(super) fn told(core: &Core, connection: &Arc<Connection>, what: &Term) {
    if let Some([Term::Pid(asks), request]) = what.as_tuple()
        && request.is_atom("features_request")
    {
        let us = Term::Atom(core.ids.atom.clone());
        let features = Term::list([Term::atom("erpc")]);
        let reply = Term::tuple([Term::atom("features_reply"), us, features]);
        let control = Control::to_pid(connection.flags(), core.ids.pid_of_node(), (**asks).clone());
        connection.say(Some((**asks).clone()), control, Some(reply));
    }
}

/// What is answered for a function that has not returned.
fn failed(why: Term) -> Term {
    Term::tuple([Term::atom("badrpc"), Term::tuple([Term::atom("EXIT"), why])])
}
