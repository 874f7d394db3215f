//! Many senders and one receiver on a simulated machine with two sockets.

use purlin_simulator::{Costs, Machine, Topology, Transfers};
use serde::Serialize;

use crate::queues::Queue;
use crate::queues::lock::Lock;
use crate::queues::otp::Otp;
use crate::queues::purlin::Purlin;
use crate::queues::variant::Variant;
use crate::workloads::{Work, fan_in};

/// Numbers of senders, as in the published run of OTP.
pub(crate) const SENDERS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Two sockets. The receiver has a core of the first one, and the senders fill that one first.
const TOPOLOGY: Topology = Topology { sockets: 2, cores_per_socket: 33 };
/// Messages of each sender.
const MESSAGES: u64 = 4000;

/// Senders that do nothing else.
const BUSY: Work = Work { send: 5.0, receive: 5.0 };
/// Senders and receiver as slow as those of the published run, which has 2.15 million sends per
/// second with one sender, and whose receiver reaches 9.7 million.
const AS_OTP: Work = Work { send: 430.0, receive: 95.0 };
/// Access to a fresh envelope if no prefetcher hides the memory, in nanoseconds.
const COLD: f64 = 90.0;

/// Speeds of one queue, in messages per second, for each number of [`SENDERS`].
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curve {
    pub(crate) queue: String,
    pub(crate) in_chart: bool,
    pub(crate) send_work: f64,
    pub(crate) receive_work: f64,
    /// Access to a fresh envelope, in nanoseconds.
    pub(crate) memory: f64,
    pub(crate) sent: Vec<f64>,
    pub(crate) received: Vec<f64>,
    /// Line transfers of one message.
    pub(crate) transfers: Vec<f64>,
}

/// Conditions of a curve.
#[derive(Clone, Copy)]
struct Conditions {
    name: &'static str,
    work: Work,
    memory: f64,
}

impl Conditions {
    fn curve<Q: Queue>(self, queue: &str, in_chart: bool) -> Curve {
        let mut curve = Curve {
            queue: format!("{queue}, {}", self.name),
            in_chart,
            send_work: self.work.send,
            receive_work: self.work.receive,
            memory: self.memory,
            sent: Vec::new(),
            received: Vec::new(),
            transfers: Vec::new(),
        };
        let costs = Costs { memory: self.memory, ..Costs::TWO_SOCKETS };
        for senders in SENDERS {
            let machine = Machine::new(TOPOLOGY, costs, 1);
            let report = machine.run(move || fan_in::<Q>(senders, MESSAGES, self.work));
            let Transfers { near, far, memory } = report.transfers;
            let messages = MESSAGES * u64::from(senders);
            curve.sent.push(report.value.sent);
            curve.received.push(report.value.received);
            curve.transfers.push((near + far + memory) as f64 / messages as f64);
        }
        curve
    }

    fn curves(self, charted: &[&str]) -> Vec<Curve> {
        let charted = |queue| charted.contains(&queue);
        vec![
            self.curve::<Purlin<false>>("one word", charted("one word")),
            self.curve::<Purlin<true>>("shards", charted("shards")),
            self.curve::<Variant<32, false>>("model, checked", false),
            self.curve::<Variant<32, true>>("model, flagged", false),
            self.curve::<Otp>("model of OTP", charted("model of OTP")),
            self.curve::<Lock>("lock", charted("lock")),
        ]
    }
}

/// Runs every queue under all conditions and with every number of senders.
pub(crate) fn curves() -> Vec<Curve> {
    let warm = Costs::TWO_SOCKETS.memory;
    let busy = Conditions { name: "busy", work: BUSY, memory: warm };
    let cold = Conditions { name: "busy, cold", work: BUSY, memory: COLD };
    let as_otp = Conditions { name: "as OTP", work: AS_OTP, memory: warm };
    [
        busy.curves(&[]),
        cold.curves(&["one word", "shards", "lock"]),
        as_otp.curves(&["model of OTP"]),
    ]
    .concat()
}
