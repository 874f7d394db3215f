//! Two processes that work and exchange messages: `exchange`, `message-size`, `bandwidth`, `message-moved`.

use super::checks::{asked, conserved, extra, reps};
use super::experiment::{Axis, Better, Experiment, Figure, Invalid, Params, Quantity};
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
    what: "As the exchange, with the number of messages fixed, each a list of s small integers that its sender copies.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, which published 17 ns per element of a list.",
        "The primary metric is the slope of time against s, divided by the messages each way.",
        COPIED,
    ],
    metric: "time per element",
    x: Some(SIZE),
    y: Some(Quantity { label: "time", unit: "ns" }),
    figure: Figure::Slope(Some("n")),
    points: |profile| {
        let (n, count) = of_profile(profile);
        sweep(evenly(0, 2000, count), |s, share| (payload(n, s, WORK), repeated(1, share)))
    },
    check: check_payload,
    ..TIME_PER_OPERATION
};

pub(super) static BANDWIDTH: Experiment = Experiment {
    id: "bandwidth",
    title: "Bandwidth between two processes",
    what: "Two processes send each other lists of s small integers, each copied by its sender, and do nothing else.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, where bandwidth rose to s of about 1000 and fell from there.",
        "The primary metric is that at s = 1000, the same s on every contender: elements each way over the whole time. Twice as many travel in all.",
        "Put right: the lecture subtracts the time of the work between the messages. Here there is no work, so nothing is subtracted.",
        COPIED,
    ],
    metric: "elements per second",
    unit: "elements/s",
    better: Better::Higher,
    x: Some(Axis { scale: "log", ..SIZE }),
    figure: Figure::Elements(PRIMARY_SIZE),
    points: |profile| {
        let (n, sizes): (u64, &[u64]) = match profile {
            Profile::Quick => (500, &[1, 10, 100, 1000, 10_000]),
            Profile::Full => (1000, &[1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
        };
        sweep(sizes.to_vec(), |s, share| (payload(n, s, 0), repeated(1, share)))
    },
    check: check_payload,
    ..TIME_PER_OPERATION
};

pub(super) static MESSAGE_MOVED: Experiment = Experiment {
    id: "message-moved",
    title: "The size of a message that is moved",
    what: "Two processes send each other lists of s small integers, whose ownership changes hands, and do nothing else.",
    notes: &[
        "The primary metric is the time per message of 1000 elements each way. It hardly depends on s: a pointer changes hands. It is no bandwidth, and not to be compared with an experiment whose messages are copied.",
        "The payloads are built before the clock starts, and received ones are sent again.",
        "The BEAM copies every message of this kind and takes no part.",
    ],
    metric: "time per message",
    x: Some(SIZE),
    figure: Figure::PerOperation(Some(PRIMARY_SIZE)),
    points: |profile| {
        let (n, count) = of_profile(profile);
        sweep(evenly(0, 2000, count), |s, share| (payload(n, s, 0), repeated(1, share)))
    },
    check: check_payload,
    ..TIME_PER_OPERATION
};

/// The s of the primary metrics of `bandwidth` and `message-moved`.
const PRIMARY_SIZE: u64 = 1000;

const SIZE: Axis = Axis { param: "s", label: "elements in a message", scale: "linear" };

/// Note on the payload of `message-size` and `bandwidth`.
const COPIED: &str = "The sender copies the list for each send on every contender: the BEAM does so by itself, in the others the program does. A list is what the language offers: 16 bytes an element, linked, on the BEAM; 8 bytes in one block elsewhere.";

/// Returns the messages each way, and the number of points of a linear sweep.
fn of_profile(profile: Profile) -> (u64, u64) {
    if profile == Profile::Quick { (2000, 5) } else { (5000, 11) }
}

/// Returns the parameters of an exchange of `n` lists, a piece of work before each.
fn payload(n: u64, s: u64, work: u64) -> Params {
    params([("n", n), ("s", s), ("pieces", n), ("work", work)])
}

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
    (0..steps).fold(1, |x, _| (x * 20_077 + 12_345) % (1 << 31))
}
