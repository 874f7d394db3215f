//! The `rex` server: answers calls of exported functions as OTP's server does, from `rpc:call` of nodes without `erpc`
//! and from [`Cluster::rpc`](crate::cluster::Cluster::rpc).
//!
//! There is no `rex` process: the connection's reader task handles the requests. Each call runs in a separate
//! process, so that calls do not wait for each other. A panic is answered with the exit reason of its process.

use std::sync::Arc;

use purlin::Process;
use purlin_term::Term;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::reason;
use crate::cluster::rpc::export::not_there;
use crate::cluster::rpc::gen_call::GenCall;
use crate::protocol::control::Control;

/// Answers `{call, Module, Function, Arguments, GroupLeader}` when the function has returned. `block_call` is the same
/// here and blocks no other call. Other requests are not answered.
pub(crate) fn asked(core: &Arc<Core>, connection: &Arc<Connection>, mut call: GenCall) {
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
        // The receiver waits until this process has ended.
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

/// Answers `{Pid, features_request}`, which every BEAM node sends to a published node.
pub(crate) fn told(core: &Core, connection: &Arc<Connection>, what: &Term) {
    if let Some([Term::Pid(asks), request]) = what.as_tuple()
        && request.is_atom("features_request")
    {
        let us = Term::Atom(core.ids.atom.clone());
        let features = Term::list([Term::atom("erpc")]);
        let reply = Term::tuple([Term::atom("features_reply"), us, features]);
        let control = Control::to_pid(connection.flags(), core.ids.pid_of_node(), (**asks).clone());
        connection.send_control(Some((**asks).clone()), control, Some(reply));
    }
}

/// The answer for a function that has failed.
fn failed(why: Term) -> Term {
    Term::tuple([Term::atom("badrpc"), Term::tuple([Term::atom("EXIT"), why])])
}
