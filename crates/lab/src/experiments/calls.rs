//! Cost of a function call and of a send: `call-vs-send`, `tail-call`.

use super::checks::{asked, conserved, extra, found, reps};
use super::experiment::{Axis, Experiment, Figure, Invalid, Params, Point, Quantity, Scaled};
use super::points::{TIME_PER_OPERATION, evenly, params, repeated, sweep};
use crate::contender::Reply;
use crate::profile::Profile;

/// Queue size of the receiver above which a sample is invalid.
const QUEUE_LIMIT_BYTES: u64 = 1 << 30;

pub(super) static CALL_VS_SEND: Experiment = Experiment {
    id: "call-vs-send",
    title: "A call and a send",
    what: "Counts down from n, alone and with a message to another process at each step.",
    notes: &[
        "After David Beck, 2015, who published 0.055–0.061 µs for a local call, 0.39–0.45 µs with a send, a ratio of about seven.",
        "Put right here: the counters are integers (his were floats); exactly n messages are sent, not n + 1; every step lies within 10 % of its target (his fell short by up to half).",
        "He turned 0.33 µs at 1.6 GHz into 4848 cycles; it is about 530. Here ticks are those of the time stamp counter, where the machine has one.",
        "He never looked at the receiver. Here its count is verified, the peak of its queue reported, and a sample whose queue passes 1 GiB is invalid.",
        "The variants are the receiver's mailboxes, as in the throughput of one sender.",
        "The primary metric is the time of a step with a send less the time of a step without, round by round.",
    ],
    metric: "time per send above a local call",
    variants: true,
    figure: Figure::Above,
    points: |_| ["local", "remote"].map(in_mode).to_vec(),
    check: check_call_vs_send,
    ..TIME_PER_OPERATION
};

fn in_mode(mode: &str) -> Point {
    let mut params = Params::new();
    params.insert("mode".into(), mode.into());
    Point {
        x: None,
        params,
        scaled: Some(Scaled {
            param: "n",
            start: 10,
            cap: 1_000_000_000_000,
            share: 1.0,
            stepped: true,
        }),
    }
}

fn check_call_vs_send(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let n = asked(params, "n");
    if params.get("mode").is_some_and(|mode| mode == "local") {
        return conserved(reply, n, 0);
    }
    conserved(reply, n, n)?;
    found(reply, "queue_peak")?;
    match found(reply, "queue_peak_bytes")? {
        bytes if bytes > QUEUE_LIMIT_BYTES => {
            Err(Invalid(format!("the receiver's queue grew to {bytes} bytes, more than 1 GiB")))
        }
        _ => Ok(()),
    }
}

pub(super) static TAIL_CALL: Experiment = Experiment {
    id: "tail-call",
    title: "A tail call",
    what: "Counts down from n in a tail call, or in a loop that the optimiser cannot remove.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, which published 4.7 and 6.4 ns per call.",
        "The primary metric is the slope of the line of best fit, so that what a run costs once is left out.",
        "A compiled loop is no tail call of a function: the figure says what a step of a process costs before it sends anything.",
    ],
    metric: "time per call",
    x: Some(Axis { param: "n", label: "calls", scale: "linear" }),
    y: Some(Quantity { label: "time", unit: "ns" }),
    figure: Figure::Slope(None),
    points: |profile| {
        sweep(
            evenly(10_000, 100_000, if profile == Profile::Quick { 5 } else { 10 }),
            |n, share| (params([("n", n)]), repeated(1, share)),
        )
    },
    check: |params, reply| {
        conserved(reply, asked(params, "n") * reps(params), 0)?;
        extra(reply, "left", 0)
    },
    ..TIME_PER_OPERATION
};
