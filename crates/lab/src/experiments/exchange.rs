//! Two processes that work and exchange messages: `exchange`, `message-size`, `bandwidth`.

use super::checks::{asked, conserved, extra, reps};
use super::experiment::{Axis, Better, Experiment, Figure, Invalid, Params, Point, Quantity};
use super::points::{TIME_PER_OPERATION, evenly, params, repeated, sweep};
use crate::contender::Reply;
use crate::profile::Profile;

/// Steps per piece of work: enough that the messages interrupt work, few enough that the messages
/// take most of the time.
const WORK: u64 = 20;

pub(super) static EXCHANGE: Experiment = Experiment {
    id: "exchange",
    title: "Work with an exchange of messages",
    what: "Two processes work in small pieces and send each other n short messages in between.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, which published 1.7 µs for a send and a receive.",
        "Between two pieces of work each process looks for one message without waiting; what is left at the end is drained and counted.",
        "The primary metric is the slope of the line of best fit: the work is the same at every n and drops out. n counts the messages each way; the two processes may send at the same time.",
    ],
    metric: "time per message sent and received",
    x: Some(Axis { param: "n", label: "messages each way", scale: "linear" }),
    y: Some(Quantity { label: "time", unit: "ns" }),
    figure: Figure::Slope(None),
    points: |profile| {
        sweep(evenly(0, 10_000, if profile == Profile::Quick { 5 } else { 11 }), |n, share| {
            (params([("n", n), ("pieces", 2000), ("work", WORK)]), repeated(1, share))
        })
    },
    check: check_exchange,
    ..TIME_PER_OPERATION
};

pub(super) static MESSAGE_SIZE: Experiment = Experiment {
    id: "message-size",
    title: "The size of a message",
    what: "As the exchange, with the number of messages fixed, each a list of s small integers.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, which published 17 ns per element of a list.",
        "The primary metric is the slope of time against s, divided by the messages each way.",
        "Variants: moved (the payload changes hands) and copied (the sender copies it for each send, as the BEAM does). The primary metric is that of the contender's natural one, so read it beside the variant's name.",
    ],
    metric: "time per element",
    x: Some(Axis { param: "s", label: "elements in a message", scale: "linear" }),
    y: Some(Quantity { label: "time", unit: "ns" }),
    figure: Figure::Slope(Some("n")),
    variants: true,
    points: |profile| {
        let (n, count) = if profile == Profile::Quick { (2000, 5) } else { (5000, 11) };
        sweep(evenly(0, 2000, count), |s, share| {
            (params([("n", n), ("s", s), ("pieces", n), ("work", WORK)]), repeated(1, share))
        })
    },
    check: check_payload,
    ..TIME_PER_OPERATION
};

pub(super) static BANDWIDTH: Experiment = Experiment {
    id: "bandwidth",
    title: "Bandwidth between two processes",
    what: "The same by elements per second: n·s over the time that the messages add to the work.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, where bandwidth rose to s of about 1000 and fell from there.",
        "The primary metric is the peak; the s of that result is where it lies. n counts the messages each way, so twice as many elements travel in all.",
        "Where the payload is moved the figure counts elements that change hands, not bytes that are copied; it then grows with s, and the peak lies at the largest.",
        "The payloads of a moved variant are built before the clock starts. While that goes on the other workers may fall asleep, so that the figure for the largest s holds their waking up.",
    ],
    metric: "elements per second",
    unit: "elements/s",
    better: Better::Higher,
    x: Some(Axis { param: "s", label: "elements in a message", scale: "log" }),
    figure: Figure::Bandwidth,
    variants: true,
    points: |profile| {
        let (n, sizes): (u64, &[u64]) = match profile {
            Profile::Quick => (500, &[1, 10, 100, 1000, 10_000]),
            Profile::Full => (1000, &[1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
        };
        let share = 1.0 / (sizes.len() + 1) as f64;
        let point = |x, messages, s| Point {
            x,
            params: params([("n", messages), ("s", s), ("pieces", n), ("work", WORK)]),
            scaled: Some(repeated(1, share)),
        };
        let sized = sizes.iter().map(|&s| point(Some(s), n, s));
        std::iter::once(point(None, 0, 0)).chain(sized).collect()
    },
    check: check_payload,
    ..TIME_PER_OPERATION
};

fn check_exchange(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let ops = asked(params, "n") * reps(params);
    conserved(reply, ops, 2 * ops)?;
    let steps = asked(params, "pieces") * asked(params, "work");
    extra(reply, "sink", 2 * reps(params) * worked(steps))
}

fn check_payload(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    check_exchange(params, reply)?;
    let messages = 2 * asked(params, "n") * reps(params);
    extra(reply, "elements", messages * asked(params, "s"))
}

/// Returns the final state of one process's work after this number of steps.
fn worked(steps: u64) -> u64 {
    (0..steps).fold(1, |x, _| (x * 1_103_515_245 + 12_345) % (1 << 31))
}
