//! Message throughput and latency: `ping-pong`, `throughput`, `fan-in`, `fan-out`, `thread-ring`.
//!
//! An experiment is data: its texts in the report, the parameters sent to each contender (a runtime
//! under comparison), and the check that makes a sample valid. The quick profile calibrates the
//! number of messages, n, to the time of a sample; the full profile uses published numbers.

use super::checks::{in_order_if_told, one_each, round_trips};
use super::experiment::{Axis, Experiment, Figure, Invalid, Params, Point, SamplingMode, Scaled};
use super::points::{TIME_PER_OPERATION, counted, params};
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
        "The full profile sends five million; the quick one as many as a tenth of a second takes.",
        "Variants are the mailboxes of a runtime: on tokio unbounded, bounded (1024 messages, a sender waits) and recv-many (up to 256 messages per receive); on kameo bounded and unbounded; on the BEAM off_heap and on_heap.",
        "Beside it stand the latency of one message in 1024, from its sending to its receipt, the time in the mailbox included, and the most memory that the program has during a sample: a sender that never waits may fill a mailbox.",
    ],
    metric: "time per message",
    variants: true,
    mode: SamplingMode::Watched,
    points: |profile| {
        let (params, scaled) = messages(profile, Params::new(), 5_000_000, 1.0);
        vec![Point { x: None, params, scaled }]
    },
    check: one_each_in_time,
    ..TIME_PER_OPERATION
};

pub(super) static FAN_IN: Experiment = Experiment {
    id: "fan-in",
    title: "Many senders, one receiver",
    what: "n messages in all from 1, 2, 4, 16 or 64 senders to one receiver.",
    notes: &[
        "The primary metric is that of 64 senders. The full profile sends four million in all.",
        "The variants are those of the throughput of one sender.",
        "Beside it stand the latency of one message in 1024, from its sending to its receipt, the time in the mailbox included, and the most memory that the program has during a sample: a sender that never waits may fill a mailbox.",
    ],
    x: Some(Axis { param: "senders", label: "senders", scale: "log" }),
    figure: Figure::PerOperation(Some(64)),
    points: |profile| {
        let point = |senders: u64| {
            let (params, scaled) =
                messages(profile, params([("senders", senders)]), 4_000_000, 0.2);
            Point { x: Some(senders), params, scaled }
        };
        [1, 2, 4, 16, 64].map(point).to_vec()
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
        "The number of processes is that of the Computer Language Benchmarks Game. The full profile makes five million hops.",
    ],
    metric: "time per hop",
    points: |profile| {
        let (params, scaled) = messages(profile, params([("processes", 503)]), 5_000_000, 1.0);
        vec![Point { x: None, params, scaled }]
    },
    ..TIME_PER_OPERATION
};

/// Checks for n messages at both ends, and for ascending percentiles of single messages.
fn one_each_in_time(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    one_each(params, reply)?;
    in_order_if_told(reply)
}

/// Returns parameters with n: `full` in the full profile, calibrated in the quick one, in which the
/// point takes `share` of a sample's duration.
fn messages(
    profile: Profile,
    mut params: Params,
    full: u64,
    share: f64,
) -> (Params, Option<Scaled>) {
    match profile {
        Profile::Quick => (params, Some(counted(10_000, full, share))),
        Profile::Full => {
            params.insert("n".into(), full.into());
            (params, None)
        }
    }
}
