//! Message throughput and latency: `ping-pong`, `throughput`, `fan-in`, `fan-out`, `thread-ring`.
//!
//! An experiment is data: its texts in the report, the parameters sent to each contender (a runtime
//! under comparison), and the check that makes a sample valid. The number of messages, n, is calibrated
//! to the time of a sample.

use super::checks::{in_order_if_told, one_each, round_trips};
use super::experiment::{Axis, Experiment, Figure, Invalid, Params, Point, SamplingMode};
use super::points::{TIME_PER_OPERATION, counted, params, sweep, timed};
use crate::contender::Reply;
use crate::profile::Profile;

pub(super) static PING_PONG: Experiment = Experiment {
    id: "ping-pong",
    title: "Ping-pong",
    what: "Two processes in lock-step: a message there and a message back, n times.",
    notes: &[
        "Both processes may run on one core or on two; that is the runtime's own choice.",
        "Beside it stand the latency of one trip in 256 by itself, and the most memory that the program has during a sample.",
    ],
    metric: "time per round trip",
    mode: SamplingMode::Watched,
    check: round_trips,
    ..TIME_PER_OPERATION
};

pub(super) static THROUGHPUT: Experiment = Experiment {
    id: "throughput",
    title: "Throughput of one sender",
    what: "One process sends n messages to another, timed until the last is received.",
    notes: &[
        "As many messages as a sample has time for, five million at most.",
        "Variants are the mailboxes of a runtime: on tokio unbounded, bounded (1024 messages, a sender waits) and recv-many (up to 256 messages per receive); on kameo bounded and unbounded; on the BEAM off_heap and on_heap.",
        "Beside it stand the latency of one message in 1024, from its sending to its receipt, the time in the mailbox included, and the most memory that the program has during a sample: a sender that never waits may fill a mailbox.",
    ],
    metric: "time per message",
    variants: true,
    mode: SamplingMode::Watched,
    points: |_| timed(Params::new(), counted(10_000, 5_000_000, 1.0)),
    check: one_each_in_time,
    ..TIME_PER_OPERATION
};

pub(super) static FAN_IN: Experiment = Experiment {
    id: "fan-in",
    title: "Many senders, one receiver",
    what: "n messages in all from 1, 2, 4, 16 or 64 senders to one receiver.",
    notes: &[
        "The primary metric is that of 64 senders. Four million messages at most are sent in all.",
        "The variants are those of the throughput of one sender.",
        "Beside it stand the latency of one message in 1024, from its sending to its receipt, the time in the mailbox included, and the most memory that the program has during a sample: a sender that never waits may fill a mailbox.",
    ],
    x: Some(Axis { param: "senders", label: "senders", scale: "log" }),
    figure: Figure::PerOperation(Some(64)),
    points: |_| {
        sweep(vec![1, 2, 4, 16, 64], |senders, share| {
            (params([("senders", senders)]), counted(10_000, 4_000_000, share))
        })
    },
    ..THROUGHPUT
};

pub(super) static FAN_OUT: Experiment = Experiment {
    id: "fan-out",
    title: "One sender, many receivers",
    what: "One process sends n messages in all to 10 000 others in turn.",
    notes: &[
        "The receivers are started before the clock; it stops when each has reported that it has received its share.",
        "300 000 messages in the quick profile, four million in the full one, the same for every contender, because the time includes one report per receiver.",
    ],
    metric: "time per message",
    points: |profile| {
        let n = if profile == Profile::Quick { 300_000 } else { 4_000_000 };
        vec![Point { x: None, params: params([("processes", 10_000), ("n", n)]), scaled: None }]
    },
    ..TIME_PER_OPERATION
};

pub(super) static THREAD_RING: Experiment = Experiment {
    id: "thread-ring",
    title: "A ring of processes",
    what: "A token makes n hops round a ring of 503 processes, which were started before.",
    notes: &[
        "The number of processes is that of the Computer Language Benchmarks Game. The token makes as many hops as a sample has time for, five million at most.",
    ],
    metric: "time per hop",
    points: |_| timed(params([("processes", 503)]), counted(10_000, 5_000_000, 1.0)),
    ..TIME_PER_OPERATION
};

/// Checks for n messages at both ends, and for ascending percentiles of single messages.
fn one_each_in_time(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    one_each(params, reply)?;
    in_order_if_told(reply)
}
