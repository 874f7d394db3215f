//! Incoming spawn requests: each spawns a process that runs an exported function.

use std::sync::Arc;

use purlin::remote::{LocalProcess, RemoteSignal};
use purlin::{Process, SpawnOptions};
use purlin_dist_protocol::control::{Control, Named, Spawn};
use purlin_dist_protocol::frame::{InvalidMessage, Unread};
use purlin_term::{Atom, Term};

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::links::monitor_table::RemoteMonitor;
use crate::cluster::receive::requests::{Turn, in_turn};
use crate::cluster::rpc::export::Job;

/// Spawns a process that runs an exported function, and answers the request. Every request is answered, because the
/// requester may wait without a timeout. An invalid option is answered with `badopt`. If the function does not exist, the process exits with `undef`, as in Erlang.
///
/// # Errors
/// The arguments are not a term within the limits; the request was answered.
pub(crate) fn spawn_for(
    core: &Arc<Core>,
    connection: &Arc<Connection>,
    spawn: &Spawn,
    arguments: Unread<'_>,
    turn: Turn,
) -> Result<(), InvalidMessage> {
    let (linked, monitored) = (asks(spawn, "link"), asks(spawn, "monitor"));
    let answer = |result: Result<purlin_term::Pid, Atom>| {
        let is_there = result.is_ok();
        let control = Control::Spawned {
            request: spawn.request.clone(),
            to: spawn.from.clone(),
            linked: linked && is_there,
            monitored: monitored && is_there,
            result,
            token: None,
        };
        connection.answer(Some(spawn.from.clone()), control, None);
    };
    let refuse = |why| {
        answer(Err(Atom::from_static(why)));
        Ok(())
    };
    if !spawn.options.iter().all(is_option) {
        return refuse("badopt");
    }
    let arguments = match arguments.term() {
        Ok(Term::List(arguments)) => arguments,
        Ok(_) => return refuse("badarg"),
        Err(invalid) => {
            answer(Err(Atom::from_static("system_limit")));
            return Err(invalid);
        }
    };
    let parent = if linked { core.proxy(&spawn.from) } else { None };
    if linked && parent.is_none() {
        return refuse("system_limit");
    }
    let job = Job::of(&core.exports, (&spawn.module, &spawn.function), arguments);
    // The process starts after the answer is sent, so that its exit cannot be sent before.
    let (begin, begun) = tokio::sync::oneshot::channel();
    let over = Arc::downgrade(connection);
    let runs = async move |me: Process<Term>| match begun.await {
        Ok(()) => {
            // WHY: the link and the monitor are in the inbox, and a process handles its inbox at the start of a turn.
            purlin::yield_now().await;
            in_turn(Some(turn), job.run(me, &over)).await.0
        }
        Err(_) => purlin::ExitReason::Normal,
    };
    let Ok(process) = SpawnOptions::new().spawn_on(&core.ids.node, runs) else {
        return refuse("system_limit");
    };
    let (ours, pid) = (process.id(), core.ids.pid(process.id()));
    {
        // WHY locked before: the end of the requester, read by another thread, must find the link.
        let mut links = core.links();
        answer(Ok(pid.clone()));
        if let Some(parent) = parent.as_ref().map(LocalProcess::from)
            && links.linked(ours, &spawn.from, parent.clone())
        {
            core.ids.node.deliver(&parent, ours, RemoteSignal::Link);
        }
    }
    if monitored {
        let (watcher, reference) = (spawn.from.clone(), spawn.request.clone());
        let theirs = RemoteMonitor { watcher, reference, watched: Named::Pid(pid) };
        connection.watched(&core.ids, ours, theirs);
    }
    let _ = begin.send(());
    Ok(())
}

/// Whether this is an option of `spawn_request` in Erlang. Those beyond `link` and `monitor` have no effect here.
fn is_option(option: &Term) -> bool {
    let Some(parts) = option.as_tuple() else {
        return option.is_atom("link") || option.is_atom("monitor");
    };
    let [Term::Atom(name), value] = parts else { return false };
    let is_one_of = |names: &[&str]| names.iter().any(|name| value.is_atom(name));
    let is_size = || value.as_integer().is_some_and(|size| size >= 0);
    match name.as_str() {
        // Those of a link since OTP 28.
        "link" | "monitor" => value.as_list().is_some(),
        "priority" => is_one_of(&["low", "normal", "high", "max"]),
        "message_queue_data" => is_one_of(&["on_heap", "off_heap"]),
        "async_dist" => is_one_of(&["true", "false"]),
        "fullsweep_after" | "min_heap_size" | "min_bin_vheap_size" | "scheduler" => is_size(),
        "max_heap_size" => is_size() || matches!(value, Term::Map(_)),
        // The requester's node handles them.
        "reply" | "reply_tag" => true,
        _ => false,
    }
}

/// Whether an option is present, alone or as `{Name, Value}`.
fn asks(spawn: &Spawn, what: &str) -> bool {
    spawn.options.iter().any(|option| match option.as_tuple() {
        Some([name, _]) => name.is_atom(what),
        _ => option.is_atom(what),
    })
}
