//! Figures of the node in the page's JSON format.

use purlin::Drops;
use serde::Serialize;

use super::values::ns;
use crate::snapshot::{HogSeen, Overview, Snapshot, WorkerLoad};
use crate::web::state::{Shown, Site};

/// Figures of one moment: one point of each chart.
#[derive(Serialize)]
pub(crate) struct Figures {
    at_ns: u64,
    span_ns: u64,
    workers: Vec<Worker>,
    global_queue: usize,
    ready: usize,
    processes: usize,
    messages_per_second: f64,
    reductions_per_second: f64,
    resident_bytes: Option<u64>,
    process_bytes: u64,
    timers: usize,
}

/// Load of a worker thread of the scheduler.
#[derive(Serialize)]
struct Worker {
    /// `None` if it was not measured, after a time without watchers.
    utilization: Option<f64>,
    queue: usize,
    turns_per_second: f64,
}

/// Content of the overview at one moment.
#[derive(Serialize)]
pub(crate) struct NodeOverview {
    node: String,
    uptime_ns: u64,
    max_processes: u32,
    snapshot: Figures,
    hogs: Vec<Hogging>,
    drops: Dropped,
    connections: Option<u64>,
    sampler: Sampler,
}

/// A process that occupies a worker without yielding.
#[derive(Serialize)]
struct Hogging {
    pid: String,
    name: Option<String>,
    function: &'static str,
    for_ns: u64,
}

/// Numbers of discarded messages, by cause.
#[derive(Serialize)]
struct Dropped {
    ended: u64,
    alias: u64,
    rejected: u64,
    newest: u64,
    oldest: u64,
}

/// Cost of sampling, and what is missing.
#[derive(Serialize)]
struct Sampler {
    share: f64,
    took_ns: u64,
    lasted_ns: u64,
    left_out: u64,
    lost: u64,
}

impl Figures {
    pub(crate) fn of(seen: &Overview) -> Self {
        let worker = |load: &WorkerLoad| Worker {
            utilization: seen.measured.then_some(load.busy),
            queue: load.queue,
            turns_per_second: load.turns_per_second,
        };
        let workers: Vec<_> = seen.workers.iter().map(worker).collect();
        Self {
            at_ns: ns(seen.at),
            span_ns: ns(seen.span),
            global_queue: seen.global_queue,
            ready: seen.global_queue + workers.iter().map(|worker| worker.queue).sum::<usize>(),
            workers,
            processes: seen.processes,
            messages_per_second: seen.messages_per_second,
            reductions_per_second: seen.reductions_per_second,
            resident_bytes: seen.memory.resident,
            process_bytes: seen.memory.processes,
            timers: seen.timers,
        }
    }
}

impl NodeOverview {
    /// Builds the overview of a snapshot. `lost` is the number of snapshots that this client has missed.
    pub(crate) fn of(site: &Site, snapshot: &Snapshot, lost: u64) -> Self {
        let (seen, cost) = (&snapshot.overview, &snapshot.cost);
        // WHY the node is queried: the table has the name of a process in its first turn only after that turn.
        let node = site.node.upgrade();
        let name = |hog: &HogSeen| {
            let info = node.as_ref()?.process_info(hog.id)?;
            info.name.map(|name| name.to_string())
        };
        let hogs = seen.hogs.iter().map(|hog| Hogging {
            pid: hog.id.to_string(),
            name: name(hog),
            function: hog.function,
            for_ns: ns(hog.for_so_long),
        });
        let Drops { ended, alias, rejected, newest, oldest, .. } = seen.drops.total;
        Self {
            node: site.name.clone(),
            uptime_ns: ns(seen.at),
            max_processes: seen.max_processes,
            snapshot: Figures::of(seen),
            hogs: hogs.collect(),
            drops: Dropped { ended, alias, rejected, newest, oldest },
            connections: connections(&site.settings.board.read()),
            sampler: Sampler {
                share: cost.share,
                took_ns: ns(cost.walk),
                lasted_ns: ns(cost.walk_lasted),
                left_out: cost.left_out,
                lost,
            },
        }
    }
}

/// Returns the number of connections to other nodes and to servers; `None` if neither is shown.
fn connections(shown: &Shown) -> Option<u64> {
    let cluster = shown.cluster.as_ref().and_then(|cluster| cluster.upgrade());
    if cluster.is_none() && shown.servers.is_empty() {
        return None;
    }
    let clients = shown.servers.values().map(|server| server.counts().connections);
    Some(clients.sum::<u64>() + cluster.map_or(0, |cluster| cluster.nodes().len() as u64))
}
