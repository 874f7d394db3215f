//! Workloads for one and two cores, which are both measured and predicted.

use serde::{Deserialize, Serialize};

use crate::queues::Queue;
use crate::queues::lock::Lock;
use crate::queues::purlin::Purlin;
use crate::workloads::{Work, fan_in, own_inbox, ping_pong, two_senders};

/// Time of one unit of a workload, measured or predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) workload: String,
    pub(crate) nanoseconds: f64,
}

/// Runs a workload several times and returns the median.
#[cfg(purlin_measured)]
fn run(_: usize, f: impl Fn() -> f64 + Send + Sync + Clone + 'static) -> f64 {
    let mut times: Vec<f64> = (0..9).map(|_| f()).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Runs a workload on a simulated machine of that many cores.
#[cfg(purlin_cores)]
fn run(cores: usize, f: impl Fn() -> f64 + Send + Sync + Clone + 'static) -> f64 {
    use purlin_simulator::{Costs, Machine, Topology};
    let topology = Topology { sockets: 1, cores_per_socket: cores };
    Machine::new(topology, Costs::TWO_CORES, 1).run(f).value
}

/// Number of messages of a workload.
const MESSAGES: u64 = if cfg!(purlin_cores) { 20_000 } else { 1_000_000 };
/// Computing around a message, in nanoseconds, fitted to *own inbox*.
const WORK: Work = Work { send: 2.0, receive: 2.0 };

fn figures_of<Q: Queue>(queue: &str) -> Vec<Figure> {
    let figure = |workload: &str, nanoseconds| Figure {
        workload: format!("{queue}: {workload}"),
        nanoseconds,
    };
    vec![
        figure("own inbox, one core", run(1, || own_inbox::<Q>(MESSAGES, WORK))),
        figure("fan-in of one sender", run(2, || 1e9 / fan_in::<Q>(1, MESSAGES, WORK).received)),
        figure("two senders, no receiver", run(2, || two_senders::<Q>(4 * MESSAGES, WORK))),
        figure("ping-pong that polls", run(2, || ping_pong::<Q>(MESSAGES / 10, WORK))),
    ]
}

/// Runs every workload.
pub(crate) fn figures() -> Vec<Figure> {
    [figures_of::<Purlin<false>>("inbox"), figures_of::<Lock>("lock")].concat()
}

/// Prints the figures as JSON.
pub(crate) fn print() {
    let json = serde_json::to_string_pretty(&figures()).expect("figures are plain data");
    println!("{json}");
}
