//! `erlang:process_info` and other functions of processes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use purlin::remote::LocalProcess;
use purlin::supervisor::SupervisorRef;
use purlin::{Monitored, ProcessDetails, ProcessId, ProcessInfo, ProcessState};
use purlin_dist_protocol::control::Named;
use purlin_term::{Atom, Pid, Term};
use tokio::time::timeout;

use super::function;
use crate::cluster::core::Core;
use crate::cluster::reason;
use crate::cluster::rpc::export::Outcome;
use crate::cluster::rpc::offer::{Offer, atom, badarg, pair};
use crate::cluster::serving::supervisor::{count_children, which_children};
use crate::cluster::serving::sys::{parent, status};

/// Items of `process_info/1`, as on the BEAM.
const ITEMS: [&str; 17] = [
    "registered_name",
    "current_function",
    "initial_call",
    "status",
    "message_queue_len",
    "links",
    "dictionary",
    "trap_exit",
    "error_handler",
    "priority",
    "group_leader",
    "total_heap_size",
    "heap_size",
    "stack_size",
    "reductions",
    "garbage_collection",
    "suspending",
];
/// Items that only the process itself can report.
const ASKED: [&str; 5] = ["links", "monitors", "monitored_by", "trap_exit", "memory"];
/// Maximum number of messages shown of a mailbox.
const MAX_MESSAGES: usize = 100;

pub(super) fn export(offer: &Offer<'_>) {
    offer.at_once("erlang", "processes", 0, |core, _| {
        Ok(Term::list(all(core).into_iter().map(|process| core.ids.pid(process.id).into())))
    });
    offer.process("erlang", "process_info", 1, async |core, _, arguments| {
        let items: Vec<Term> = ITEMS.map(Term::atom).to_vec();
        Ok(match process_info(&core, &arguments[0], &items).await? {
            // Like the BEAM, omits the name of a process that is not registered.
            Term::List(items) => Term::list(items.into_iter().filter(|item| !is_no_name(item))),
            undefined => undefined,
        })
    });
    offer.process("erlang", "process_info", 2, async |core, _, arguments| match &arguments[1] {
        Term::List(items) => process_info(&core, &arguments[0], items).await,
        item => {
            let found = process_info(&core, &arguments[0], std::slice::from_ref(item)).await?;
            Ok(match found {
                Term::List(items) => match items.into_iter().next() {
                    // `process_info(Pid, registered_name)` is `[]` for a process without a name.
                    Some(item) if is_no_name(&item) => Term::NIL,
                    item => item.unwrap_or(Term::atom("undefined")),
                },
                undefined => undefined,
            })
        }
    });
    offer.at_once("erlang", "is_process_alive", 1, |core, arguments| {
        Ok(Term::from(ours(core, &arguments[0])?.is_some()))
    });
    offer.at_once("erlang", "whereis", 1, |core, arguments| {
        let Some(name) = arguments[0].as_atom() else { return badarg() };
        let found = core.ids.node.local_name(name.as_str());
        Ok(core.ids.pid_or_undefined(found.map(|process| process.id())))
    });
    offer.at_once("erlang", "registered", 0, |core, _| {
        Ok(Term::list(core.ids.node.registered().iter().map(|name| atom(name))))
    });
    // There is no garbage collector, so a collection is complete at any time.
    offer.at_once("erlang", "garbage_collect", 0, |_, _| Ok(Term::from(true)));
    offer.at_once("erlang", "garbage_collect", 1, |core, arguments| {
        Ok(Term::from(ours(core, &arguments[0])?.is_some()))
    });
    offer.at_once("erlang", "exit", 2, |core, arguments| {
        if let Some(process) = ours(core, &arguments[0])? {
            core.ids.node.exit(process.id(), reason::from_term(arguments[1].clone()));
        }
        Ok(Term::from(true))
    });
    for name in ["translate_initial_call", "initial_call"] {
        offer.at_once("proc_lib", name, 1, |core, arguments| {
            let process = ours(core, &arguments[0])?;
            let info = process.and_then(|process| core.ids.node.process_info(process.id()));
            Ok(info.map_or(Term::from(false), |info| function::initial_call(&info)))
        });
    }
    for arity in [1, 2] {
        offer.process("sys", "get_state", arity, async |core, _, arguments| {
            let process = server(&core, &arguments[0])?;
            let system = core.systems.of(&process).ok_or(Term::atom("undef"))?;
            in_time(&core, system.state(process)).await
        });
        offer.process("sys", "get_status", arity, async |core, _, arguments| {
            let process = server(&core, &arguments[0])?;
            in_time(&core, status(&core, process)).await
        });
    }
    offer.process("supervisor", "which_children", 1, async |core, _, arguments| {
        let supervisor = supervisor(&core, &arguments[0])?;
        in_time(&core, which_children(&core.ids, &supervisor)).await
    });
    offer.process("supervisor", "count_children", 1, async |core, _, arguments| {
        let supervisor = supervisor(&core, &arguments[0])?;
        in_time(&core, count_children(&supervisor)).await
    });
}

/// Whether this is the item `registered_name` of a process without a name.
fn is_no_name(item: &Term) -> bool {
    item.as_tuple().is_some_and(|item| item[0].is_atom("registered_name") && item[1] == Term::NIL)
}

/// Waits for a process's answer, up to the configured timeout.
async fn in_time(core: &Core, answer: impl Future<Output = Option<Term>>) -> Outcome {
    match timeout(core.answers_within, answer).await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Term::atom("noproc")),
        Err(_) => Err(Term::atom("timeout")),
    }
}

/// The local process with this pid; `None` if it has ended.
fn ours(core: &Core, pid: &Term) -> Result<Option<LocalProcess>, Term> {
    let Some(pid) = pid.as_pid() else { return badarg() };
    if pid.node != core.ids.atom {
        return badarg();
    }
    Ok(core.ids.ours(pid).and_then(|id| core.ids.node.local_process(id)))
}

/// A process by its pid or its registered name.
fn server(core: &Core, name: &Term) -> Result<LocalProcess, Term> {
    let found = match name.as_atom() {
        Some(name) => core.ids.node.local_name(name.as_str()),
        None => ours(core, name)?,
    };
    found.ok_or(Term::atom("noproc"))
}

fn supervisor(core: &Core, name: &Term) -> Result<SupervisorRef, Term> {
    let process = server(core, name)?;
    process.pid().map(SupervisorRef::new).map_err(|_| Term::atom("undef"))
}

/// The processes of this node, without system processes such as proxies and connection tasks.
pub(super) fn all(core: &Core) -> Vec<ProcessInfo> {
    let mut all = core.ids.node.processes();
    all.retain(|process| !process.is_system);
    all
}

/// The requested items of a process; `undefined` if it has ended.
async fn process_info(core: &Arc<Core>, pid: &Term, items: &[Term]) -> Outcome {
    let process = ours(core, pid)?;
    let id = process.map(|process| process.id());
    let Some(info) = id.and_then(|id| core.ids.node.process_info(id)) else {
        return Ok(Term::atom("undefined"));
    };
    let is_asked = |item: &Term| ASKED.iter().any(|asked| item.is_atom(asked));
    let details = if items.iter().any(is_asked) {
        let asked = timeout(core.answers_within, core.ids.node.process_details(info.id));
        // WHY empty on a timeout: the process is running, and its links cannot be read meanwhile.
        asked.await.ok().flatten().unwrap_or_default()
    } else {
        ProcessDetails::default()
    };
    let elsewhere = elsewhere(core, &details);
    let whom = |id| elsewhere.get(&id).cloned().unwrap_or_else(|| core.ids.pid(id).into());
    let pairs: Option<Vec<Term>> = items
        .iter()
        .map(|item| Some(Term::tuple([item.clone(), value(core, &info, &details, &whom, item)?])))
        .collect();
    pairs.map_or_else(badarg, |pairs| Ok(Term::list(pairs)))
}

/// The value of one item; `None` for an unknown item. `whom` returns the term for a local or remote process.
fn value(
    core: &Core,
    info: &ProcessInfo,
    details: &ProcessDetails,
    whom: &impl Fn(ProcessId) -> Term,
    item: &Term,
) -> Option<Term> {
    if let Some([dictionary, key]) = item.as_tuple() {
        let entry = dictionary.is_atom("dictionary").then(|| dictionary_of(core, info))?;
        let entry = entry.into_iter().find(|(name, _)| name == key);
        return Some(entry.map_or(Term::atom("undefined"), |(_, value)| value));
    }
    let words = info.memory / size_of::<usize>();
    let initial = || function::initial_call(info);
    Some(match item.as_atom()?.as_str() {
        "registered_name" => info.name.as_ref().map_or(Term::NIL, |name| atom(name)),
        "initial_call" => initial(),
        "current_function" => function::current_function(info),
        "current_location" => located(function::current_function(info)),
        "current_stacktrace" => Term::list([located(function::current_function(info))]),
        "status" => Term::atom(match info.state {
            ProcessState::Running => "running",
            ProcessState::Runnable => "runnable",
            ProcessState::Ended => "exiting",
            _ => "waiting",
        }),
        "message_queue_len" => Term::from(info.mailbox_len),
        // WHY only the type: messages are Rust values owned by the process.
        "messages" => Term::list(
            (0..info.mailbox_len.min(MAX_MESSAGES)).map(|_| Term::from(info.message_type)),
        ),
        "memory" => Term::from(info.memory + details.reported_memory),
        "reductions" => Term::from(info.reductions),
        "parent" => core.ids.pid_or_undefined(parent(core, info)),
        "links" => Term::list(details.links.iter().copied().map(whom)),
        "monitored_by" => watchers(core, info.id, details),
        "monitors" => Term::list(details.monitors.iter().map(|monitored| {
            let what = match monitored {
                Monitored::Process(id) => whom(*id),
                Monitored::Name(name) => {
                    Term::tuple([atom(name), Term::Atom(core.ids.atom.clone())])
                }
                other => Term::from(format!("{other:?}").as_str()),
            };
            pair("process", what)
        })),
        "trap_exit" => Term::from(details.traps_exits),
        "dictionary" => {
            let entries = dictionary_of(core, info).into_iter();
            Term::list(entries.map(|(key, value)| Term::tuple([key, value])))
        }
        "group_leader" => core.ids.pid_of_node().into(),
        "total_heap_size" | "heap_size" => Term::from(words),
        "stack_size" | "catchlevel" | "trace" | "min_heap_size" | "min_bin_vheap_size"
        | "fullsweep_after" => Term::from(0),
        "garbage_collection" => {
            let zeroes = ["min_heap_size", "min_bin_vheap_size", "fullsweep_after", "minor_gcs"];
            Term::list(zeroes.map(|name| pair(name, 0)))
        }
        "garbage_collection_info" | "suspending" | "sequential_trace_token" | "binary" => Term::NIL,
        "error_handler" => Term::atom("error_handler"),
        "priority" => Term::atom("normal"),
        "last_calls" | "async_dist" => Term::from(false),
        "message_queue_data" => Term::atom("on_heap"),
        "label" => Term::atom("undefined"),
        "backtrace" => Term::from(format!("{} of {}", initial(), info.message_type).as_str()),
        _ => return None,
    })
}

/// Adds an empty location to `{Module, Function, Arity}`.
fn located(function: Term) -> Term {
    match function {
        Term::Tuple(parts) => Term::tuple(parts.into_iter().chain([Term::NIL])),
        other => other,
    }
}

/// The dictionary entries of an OTP process that tools read.
fn dictionary_of(core: &Core, info: &ProcessInfo) -> Vec<(Term, Term)> {
    let parents = parent(core, info).map(|parent| Term::from(core.ids.pid(parent)));
    vec![
        (Term::atom("$ancestors"), Term::list(parents)),
        (Term::atom("$initial_call"), function::initial_call(info)),
    ]
}

/// Whether this is a process that connects the node to others.
fn is_system(core: &Core, id: ProcessId) -> bool {
    core.ids.node.process_info(id).is_some_and(|info| info.is_system)
}

/// The processes that monitor a process: the local ones, and remote ones instead of the agents that monitor for them.
fn watchers(core: &Core, of: ProcessId, details: &ProcessDetails) -> Term {
    let all = details.monitored_by.iter().copied();
    let (agents, local): (Vec<_>, Vec<_>) = all.partition(|id| is_system(core, *id));
    let agents: HashSet<ProcessId> = agents.into_iter().collect();
    let mut all: Vec<Pid> = local.into_iter().map(|id| core.ids.pid(id)).collect();
    if !agents.is_empty() {
        let connections: Vec<_> = core.state().connections.values().cloned().collect();
        for connection in connections {
            if connection.agent.get().is_some_and(|agent| agents.contains(&agent.id())) {
                all.extend(connection.monitor_table().watchers_of(of));
            }
        }
    }
    Term::list(all.into_iter().map(Term::from))
}

/// Terms for the remote ones among a process's links and monitors. One lookup for all of them, because it scans all
/// proxies of the cluster.
fn elsewhere(core: &Core, details: &ProcessDetails) -> HashMap<ProcessId, Term> {
    let monitors = details.monitors.iter().filter_map(|monitored| match monitored {
        Monitored::Process(id) => Some(id),
        _ => None,
    });
    let all = details.links.iter().chain(monitors).copied();
    let some: HashSet<ProcessId> = all.filter(|id| is_system(core, *id)).collect();
    let found = if some.is_empty() { Vec::new() } else { core.state().proxies.remotes_of(&some) };
    let terms = found.into_iter().map(|(id, node, named)| match named {
        Named::Pid(pid) => (id, pid.into()),
        Named::Name(name) => {
            let node = Atom::new(node.as_str()).unwrap_or(Atom::EMPTY);
            (id, Term::tuple([Term::Atom(name), Term::Atom(node)]))
        }
    });
    terms.collect()
}
