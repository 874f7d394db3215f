//! Workloads for one and two cores, which are both measured and predicted.

use crate::queues::Queue;
use crate::queues::lock::Lock;
use crate::queues::otp::Otp;
use crate::queues::purlin::Purlin;
use crate::workloads::{Work, fan_in, own_inbox, ping_pong};

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

fn print_queue<Q: Queue>(name: &str, cost: Work) {
    let print = |workload: &str, nanoseconds: f64| {
        println!("{name:<18} {workload:<28} {nanoseconds:>9.1} ns");
    };
    print("own inbox, one core", run(1, move || own_inbox::<Q>(MESSAGES, cost)));
    print("ping-pong, two cores", run(2, move || ping_pong::<Q>(MESSAGES / 10, cost)));
    print(
        "fan-in of one, two cores",
        run(2, move || 1e9 / fan_in::<Q>(1, MESSAGES, cost).received),
    );
}

/// Prints the nanoseconds of one message for each queue and workload.
pub(crate) fn print() {
    let cost = Work { send: 5.0, receive: 5.0 };
    print_queue::<Purlin<false>>("one word", cost);
    print_queue::<Purlin<true>>("shards", cost);
    print_queue::<Otp>("model of OTP", cost);
    print_queue::<Lock>("lock", cost);
}
