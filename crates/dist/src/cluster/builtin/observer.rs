//! `observer_backend`, through which `observer` and `etop` inspect a node.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Pid, Process, ProcessId, ProcessInfo};
use purlin_term::Term;

use super::{function, host, machine, processes};
use crate::cluster::core::Core;
use crate::cluster::proxy::gone::gone;
use crate::cluster::rpc::export::Outcome;
use crate::cluster::rpc::offer::{Offer, atom, badarg, pair};

/// Number of processes described per turn, and per message of `procs_info`.
const BATCH: usize = 1000;

pub(super) fn export(offer: &Offer<'_>) {
    const MODULE: &str = "observer_backend";
    offer.at_once(MODULE, "vsn", 0, |_, _| Ok(tagged!("ok", Term::string(machine::VERSION))));
    offer.at_once(MODULE, "sys_info", 0, |core, _| Ok(sys_info(core)));
    offer.at_once(MODULE, "socket_info", 0, |_, _| {
        Ok(Term::list([pair("iov_max", 1024), pair("num_monitors", 0)]))
    });
    offer.at_once(MODULE, "get_port_list", 0, |_, _| Ok(Term::NIL));
    offer.at_once(MODULE, "get_socket_list", 0, |_, _| Ok(Term::NIL));
    offer.at_once(MODULE, "get_table_list", 2, |core, arguments| match &arguments[0] {
        kind if kind.is_atom("ets") => Ok(Term::NIL),
        _ => {
            let why = format!("Mnesia is not running on: {}", core.ids.name);
            Ok(tagged!("error", Term::string(&why)))
        }
    });
    offer.process(MODULE, "etop_collect", 1, etop_collect);
    offer.process(MODULE, "procs_info", 1, procs_info);
    offer.process(MODULE, "fetch_stats", 2, fetch_stats);
    offer.process("dbg", "do_relay", 2, do_relay);
}

/// Tracing is not supported. WHY the call is answered: a client that starts a tracer, as `etop` does unless tracing is
/// switched off, would otherwise wait forever. With this answer it finds that the tracer has ended.
async fn do_relay(core: Arc<Core>, me: Process<Term>, arguments: Vec<Term>) -> Outcome {
    let parent = client(&core, &arguments[0])?;
    parent.send(tagged!("started", core.ids.pid(me.id())));
    Ok(Term::atom("ok"))
}

fn sys_info(core: &Core) -> Term {
    let (node, all) = (&core.ids.node, processes::all(core));
    let (workers, processors) = (node.workers(), host::processors());
    let architecture = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let pairs = [
        pair("uptime", node.uptime().as_millis() as u64),
        pair("run_queue", machine::run_queue(&all)),
        pair("io_input", 0),
        pair("io_output", 0),
        pair("logical_processors", processors),
        pair("logical_processors_online", processors),
        pair("logical_processors_available", processors),
        pair("schedulers", workers),
        pair("schedulers_online", workers),
        pair("schedulers_available", workers),
        // WHY not the release that `system_info` returns: this one is only displayed.
        pair("otp_release", Term::string(&format!("purlin {}", machine::VERSION))),
        pair("version", Term::string(machine::VERSION)),
        pair("system_architecture", Term::string(&architecture)),
        pair("kernel_poll", true),
        pair("smp_support", true),
        pair("threads", true),
        pair("thread_pool_size", 0),
        pair("wordsize_internal", size_of::<usize>()),
        pair("wordsize_external", size_of::<usize>()),
        pair("alloc_info", Term::NIL),
        pair("process_count", all.len()),
        pair("process_limit", node.max_processes()),
        pair("atom_limit", 1),
        pair("atom_count", 0),
        pair("port_limit", 1),
        pair("port_count", 0),
        pair("ets_limit", 1),
        pair("ets_count", 0),
        pair("dist_buf_busy_limit", 1 << 20),
    ];
    let memory = machine::memory_of(&all);
    Term::list(pairs.into_iter().chain(memory.as_list().unwrap_or_default().to_vec()))
}

/// The record `etop_proc_info` of a process.
fn row(core: &Core, process: &ProcessInfo) -> Term {
    let initial = || function::initial_call(process);
    tagged!(
        "etop_proc_info",
        core.ids.pid(process.id),
        process.memory,
        process.reductions,
        process.name.as_ref().map_or_else(initial, |name| atom(name)),
        0,
        function::current_function(process),
        process.mailbox_len,
    )
}

/// The remote process that receives the results.
fn client(core: &Arc<Core>, pid: &Term) -> Result<Pid<Term>, Term> {
    pid.as_pid().and_then(|pid| core.proxy(pid)).map_or_else(badarg, Ok)
}

/// All processes except the calling one.
fn others(core: &Core, me: ProcessId) -> Vec<ProcessInfo> {
    let mut all = processes::all(core);
    all.retain(|process| process.id != me);
    all
}

/// Sends the record `etop_info` to the collector once.
async fn etop_collect(core: Arc<Core>, me: Process<Term>, arguments: Vec<Term>) -> Outcome {
    let collector = client(&core, &arguments[0])?;
    let all = others(&core, me.id());
    let mut rows = Vec::with_capacity(all.len());
    for some in all.chunks(BATCH) {
        rows.extend(some.iter().map(|process| row(&core, process)));
        purlin::yield_now().await;
    }
    let info = tagged!(
        "etop_info",
        machine::timestamp(),
        all.len(),
        Term::atom("undefined"),
        machine::scheduler_wall_time(&core),
        machine::run_queue(&all),
        Term::NIL,
        machine::memory_of(&all),
        Term::List(rows),
    );
    collector.send(Term::tuple([core.ids.pid(me.id()).into(), info]));
    Ok(Term::atom("ok"))
}

/// Sends the records of all processes to the collector, in batches.
async fn procs_info(core: Arc<Core>, me: Process<Term>, arguments: Vec<Term>) -> Outcome {
    let collector = client(&core, &arguments[0])?;
    let own = Term::from(core.ids.pid(me.id()));
    for some in others(&core, me.id()).chunks(BATCH) {
        let rows = Term::list(some.iter().map(|process| row(&core, process)));
        collector.send(tagged!("procs_info", own.clone(), rows));
        purlin::yield_now().await;
    }
    Ok(Term::atom("ok"))
}

/// Sends statistics at the given interval in milliseconds, until a message arrives or the client has ended.
async fn fetch_stats(core: Arc<Core>, mut me: Process<Term>, arguments: Vec<Term>) -> Outcome {
    let Some(parent) = arguments[0].as_pid() else { return badarg() };
    let Some(time) = arguments[1].as_integer().and_then(|time| u64::try_from(time).ok()) else {
        return badarg();
    };
    let mut gone = gone(&core, parent);
    let parent = client(&core, &arguments[0])?;
    let time = Duration::from_millis(time.max(1));
    // WHY weak: this process may run for as long as the cluster.
    let own = Arc::downgrade(&core);
    drop(core);
    loop {
        tokio::select! {
            _ = me.receive() => return Ok(Term::atom("ok")),
            _ = &mut gone => return Ok(Term::atom("ok")),
            () = tokio::time::sleep(time) => {}
        }
        let Some(core) = own.upgrade() else { return Ok(Term::atom("ok")) };
        let (times, memory) = (machine::scheduler_wall_time(&core), machine::memory(&core));
        parent.send(tagged!("stats", 1, times, machine::io(), memory));
    }
}
