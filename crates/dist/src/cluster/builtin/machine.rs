//! `erlang:system_info`, `memory` and `statistics` for this node.
//!
//! Figures that do not apply to purlin (ports, ETS tables, loaded code) are zero. Their limits are one, so that a tool
//! can divide by a limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use purlin::{ProcessInfo, ProcessState};
use purlin_dist_protocol::{Flags, NodeName};
use purlin_term::{Atom, Term};

use super::{host, processes};
use crate::cluster::core::Core;
use crate::cluster::rpc::export::Outcome;
use crate::cluster::rpc::offer::{Offer, atom, badarg, pair};

/// OTP release whose distribution protocol this node speaks, for tools that check the release.
const RELEASE: &str = "25";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn export(offer: &Offer<'_>) {
    offer.at_once("erlang", "system_info", 1, |core, arguments| system_info(core, &arguments[0]));
    offer.at_once("erlang", "memory", 0, |core, _| Ok(memory(core)));
    offer.at_once("erlang", "memory", 1, |core, arguments| {
        let all = memory(core);
        let found = |name: &Term| {
            let mut parts = all.as_list().unwrap_or_default().iter().filter_map(Term::as_tuple);
            parts.find(|part| part[0] == *name).map(|part| part[1].clone())
        };
        match &arguments[0] {
            Term::List(names) => {
                let parts =
                    names.iter().map(|name| Some(Term::tuple([name.clone(), found(name)?])));
                parts.collect::<Option<Vec<_>>>().map_or_else(badarg, |parts| Ok(Term::list(parts)))
            }
            name => found(name).map_or_else(badarg, Ok),
        }
    });
    let since = Since::default();
    offer.at_once("erlang", "statistics", 1, move |core, arguments| {
        statistics(core, &since, &arguments[0])
    });
    // All statistics are always enabled.
    offer.at_once("erlang", "system_flag", 2, |_, _| Ok(Term::from(false)));
    offer.at_once("erlang", "node", 0, |core, _| Ok(Term::Atom(core.ids.atom.clone())));
    offer.at_once("erlang", "is_alive", 0, |_, _| Ok(Term::from(true)));
    offer.at_once("init", "get_status", 0, |_, _| Ok(pair("started", Term::atom("started"))));
    offer.at_once("erlang", "nodes", 0, |core, _| nodes(core, &[Term::atom("visible")]));
    offer.at_once("erlang", "nodes", 1, |core, arguments| match &arguments[0] {
        Term::List(kinds) => nodes(core, kinds),
        kind => nodes(core, std::slice::from_ref(kind)),
    });
    offer.at_once("erlang", "ports", 0, |_, _| Ok(Term::NIL));
    for arity in [1, 2] {
        offer.at_once("erlang", "port_info", arity, |_, _| Ok(Term::atom("undefined")));
    }
    offer.at_once("erlang", "timestamp", 0, |_, _| Ok(timestamp()));
    offer.at_once("erlang", "system_time", 0, |_, _| Ok(nanoseconds(since_1970())));
    // Counted from the node's start, which is `system_info(start_time)`.
    offer.at_once("erlang", "monotonic_time", 0, |core, _| Ok(nanoseconds(core.ids.node.uptime())));
    offer.at_once("net_adm", "localhost", 0, |core, _| Ok(Term::string(core.ids.name.host())));
    offer.at_once("net_adm", "ping", 1, |core, arguments| {
        let known = arguments[0].as_atom().is_some_and(|name| {
            *name == core.ids.atom || core.connected().iter().any(|node| *name == *node.as_str())
        });
        Ok(Term::atom(if known { "pong" } else { "pang" }))
    });
}

/// The nodes that match one of `kinds`.
fn nodes(core: &Core, kinds: &[Term]) -> Outcome {
    let (mut this, mut visible, mut hidden) = (false, false, false);
    for kind in kinds {
        match kind.as_atom().map(Atom::as_str) {
            Some("this") => this = true,
            Some("visible") => visible = true,
            Some("hidden") => hidden = true,
            Some("connected") => (visible, hidden) = (true, true),
            Some("known") => (this, visible, hidden) = (true, true, true),
            _ => return badarg(),
        }
    }
    let is_meant = |node: &NodeName| {
        let is_visible =
            core.connection(node).is_some_and(|it| it.flags().contains(Flags::PUBLISHED));
        if is_visible { visible } else { hidden }
    };
    let others = core.connected().into_iter().filter(is_meant);
    let all = this.then(|| core.ids.name.clone()).into_iter().chain(others);
    Ok(Term::list(all.map(|node| atom(node.as_str()))))
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn nanoseconds(time: Duration) -> Term {
    Term::from(time.as_nanos() as u64)
}

/// `{MegaSeconds, Seconds, MicroSeconds}` since 1970.
pub(super) fn timestamp() -> Term {
    let now = since_1970();
    let seconds = now.as_secs();
    let parts = [seconds / 1_000_000, seconds % 1_000_000, u64::from(now.subsec_micros())];
    Term::tuple(parts.map(Term::from))
}

fn system_info(core: &Core, item: &Term) -> Outcome {
    if let Some([what, of]) = item.as_tuple() {
        return match what.as_atom().map(Atom::as_str) {
            Some("wordsize") => Ok(Term::from(size_of::<usize>())),
            Some("allocator_sizes" | "allocator") => Ok(Term::NIL),
            Some("cpu_topology") if of.as_atom().is_some() => Ok(Term::atom("undefined")),
            _ => badarg(),
        };
    }
    let node = &core.ids.node;
    let Some(item) = item.as_atom() else { return badarg() };
    Ok(match item.as_str() {
        "schedulers" | "schedulers_online" | "schedulers_available" => Term::from(node.workers()),
        "logical_processors" | "logical_processors_online" | "logical_processors_available" => {
            Term::from(host::processors())
        }
        "dirty_cpu_schedulers"
        | "dirty_cpu_schedulers_online"
        | "dirty_io_schedulers"
        | "thread_pool_size"
        | "port_count"
        | "ets_count"
        | "atom_count"
        | "async_threads"
        | "start_time" => Term::from(0),
        "port_limit" | "ets_limit" | "atom_limit" => Term::from(1),
        "process_count" => Term::from(processes::all(core).len()),
        "process_limit" => Term::from(node.max_processes()),
        "otp_release" => Term::string(RELEASE),
        "version" => Term::string(VERSION),
        "machine" => Term::string("purlin"),
        "system_version" => {
            Term::string(&format!("purlin {VERSION} [smp:{0}:{0}]\n", node.workers()))
        }
        "system_architecture" => {
            Term::string(&format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))
        }
        "wordsize" => Term::from(size_of::<usize>()),
        "creation" => Term::from(core.ids.creation),
        "kernel_poll" | "smp_support" | "threads" => Term::from(true),
        "multi_scheduling" => Term::atom("enabled"),
        "multi_scheduling_blockers"
        | "alloc_util_allocators"
        | "garbage_collection"
        | "check_io" => Term::NIL,
        "emu_flavor" => Term::atom("purlin"),
        "build_type" | "emu_type" => Term::atom("opt"),
        "dist" | "info" => Term::from(format!("purlin {VERSION}").as_str()),
        "dist_buf_busy_limit" => Term::from(1 << 20),
        "cpu_topology" => Term::atom("undefined"),
        _ => return badarg(),
    })
}

/// Memory in bytes by category. COST: a scan of the process table.
pub(super) fn memory(core: &Core) -> Term {
    memory_of(&processes::all(core))
}

pub(super) fn memory_of(all: &[ProcessInfo]) -> Term {
    let processes: usize = all.iter().map(|process| process.memory).sum();
    let total = host::memory().max(processes);
    Term::list([
        pair("total", total),
        pair("processes", processes),
        pair("processes_used", processes),
        pair("system", total - processes),
        pair("atom", 0),
        pair("atom_used", 0),
        pair("binary", 0),
        pair("code", 0),
        pair("ets", 0),
    ])
}

/// Values of the previous `statistics` call.
#[derive(Default)]
struct Since {
    wall_clock: AtomicU64,
    runtime: AtomicU64,
    reductions: AtomicU64,
}

/// `{Now, Now - Before}`.
fn since(before: &AtomicU64, now: u64) -> Term {
    // ORDER: relaxed: a statistic that orders nothing else.
    let before = before.swap(now, Ordering::Relaxed);
    Term::tuple([Term::from(now), Term::from(now.saturating_sub(before))])
}

fn statistics(core: &Core, before: &Since, item: &Term) -> Outcome {
    let node = &core.ids.node;
    let queues = || vec![Term::from(0); node.workers().saturating_sub(1)];
    let Some(item) = item.as_atom() else { return badarg() };
    Ok(match item.as_str() {
        "wall_clock" => since(&before.wall_clock, node.uptime().as_millis() as u64),
        "runtime" => since(&before.runtime, host::processor_time().as_millis() as u64),
        "reductions" | "exact_reductions" => {
            let all = processes::all(core);
            since(&before.reductions, all.iter().map(|process| process.reductions).sum())
        }
        "run_queue"
        | "total_run_queue_lengths"
        | "total_run_queue_lengths_all"
        | "total_active_tasks"
        | "total_active_tasks_all" => run_queue(&processes::all(core)),
        "run_queue_lengths" | "run_queue_lengths_all" | "active_tasks" | "active_tasks_all" => {
            let first = run_queue(&processes::all(core));
            Term::list([first].into_iter().chain(queues()))
        }
        "scheduler_wall_time" | "scheduler_wall_time_all" => scheduler_wall_time(core),
        "io" => io(),
        "garbage_collection" => Term::tuple([0, 0, 0].map(Term::from)),
        "context_switches" => Term::tuple([0, 0].map(Term::from)),
        "microstate_accounting" => Term::atom("undefined"),
        _ => return badarg(),
    })
}

/// Bytes of ports, which do not exist.
pub(super) fn io() -> Term {
    Term::tuple(["input", "output"].map(|name| pair(name, 0)))
}

/// Number of runnable processes.
pub(super) fn run_queue(all: &[ProcessInfo]) -> Term {
    let ready = all.iter().filter(|process| process.state == ProcessState::Runnable);
    Term::from(ready.count())
}

/// `{Worker, Busy, All}` in nanoseconds for each worker. The processor time of the program is divided equally among the
/// workers, because it is not measured per worker.
pub(super) fn scheduler_wall_time(core: &Core) -> Term {
    let (workers, uptime) = (core.ids.node.workers(), core.ids.node.uptime());
    let busy = (host::processor_time() / workers.max(1) as u32).min(uptime);
    let times = [busy, uptime].map(nanoseconds);
    Term::list((1..=workers).map(|worker| {
        let [busy, all] = times.clone();
        Term::tuple([Term::from(worker), busy, all])
    }))
}
