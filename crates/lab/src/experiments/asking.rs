//! Calls, and mailboxes with many queued messages: `call`, `call-deep`, `reply-deep`, `selective`.

use super::checks::{asked, conserved, extra, reps, round_trips};
use super::experiment::{Axis, Experiment, Figure, Invalid, Params, Point, Quantity, SamplingMode};
use super::points::{TIME_PER_OPERATION, evenly, params, repeated, sweep};
use crate::contender::Reply;
use crate::profile::Profile;

/// Maximum number of unmatched messages queued in `call-deep` and `reply-deep`.
const WAITING: u64 = 1_000_000;

pub(super) static CALL: Experiment = Experiment {
    id: "call",
    title: "A call",
    what: "One process calls another n times: a request and its reply, under a timeout.",
    notes: &[
        "On the BEAM gen_server:call/3 with its default of five seconds, on purlin ServerRef::call of a purlin::server.",
        "In the variant process the called process is a receive loop: on the BEAM a message under a monitor and a timeout, on purlin Pid::call.",
        "On ractor call_t!, on kameo ask with a reply timeout, on actix send with a timeout, on Pekko ActorContext.ask.",
        "tokio has no monitors: there it is a message with a oneshot channel under a timeout, whose sender is dropped if the task ends.",
        "Beside it stand the latency of one call in 256 by itself, and the most memory that the program has during a sample.",
    ],
    metric: "time per call",
    variants: true,
    mode: SamplingMode::Watched,
    check: round_trips,
    ..TIME_PER_OPERATION
};

pub(super) static CALL_DEEP: Experiment = Experiment {
    id: "call-deep",
    title: "A call with a deep mailbox",
    what: "The same while a million messages that do not match wait in the caller's mailbox.",
    notes: &[
        "The primary metric is the time of a call with a million messages waiting over that with none, round by round.",
        "The messages are sent before the clock starts, and counted after it has stopped. On the BEAM the caller's heap is collected in between, so that what it takes to take them in is not counted.",
        "50 000 calls in the quick profile, 500 000 in the full one, the same for every contender.",
        "tokio's tasks have a channel for each kind of message, and nothing waits before a reply.",
    ],
    metric: "time per call over that with an empty mailbox",
    unit: "×",
    figure: Figure::Over(&[
        "time per call with nothing waiting",
        "time per call with all of it waiting",
    ]),
    points: |profile| behind([0, WAITING], profile),
    check: check_behind,
    ..TIME_PER_OPERATION
};

pub(super) static REPLY_DEEP: Experiment = Experiment {
    id: "reply-deep",
    title: "A tagged reply with a deep mailbox",
    what: "One process sends another n requests, each with a fresh reference, and receives the reply by pattern from among the messages that wait in its mailbox: none, a thousand or a million, which do not match.",
    notes: &[
        "On the BEAM make_ref/0 and a receive whose only clause matches the reference, on purlin make_ref and receive!(me, tag == reference, …). Neither has a monitor or a timeout: the called process is a receive loop.",
        "The primary metric is the time of a reply with a million messages waiting over that with none, round by round.",
        "The messages are sent before the clock starts, taken out of the inbox or, on the BEAM, moved to the heap by a collection, and counted after the clock has stopped.",
        "50 000 replies in the quick profile, 500 000 in the full one, the same for every contender.",
    ],
    metric: "time per reply over that with an empty mailbox",
    unit: "×",
    figure: Figure::Over(&[
        "time per reply with nothing waiting",
        "time per reply with 1000 messages waiting",
        "time per reply with 1 000 000 messages waiting",
    ]),
    points: |profile| behind([0, 1000, WAITING], profile),
    check: check_behind,
    ..TIME_PER_OPERATION
};

/// Returns a point for each number of messages waiting.
fn behind<const N: usize>(waiting: [u64; N], profile: Profile) -> Vec<Point> {
    let n = if profile == Profile::Quick { 50_000 } else { 500_000 };
    let with =
        |waiting| Point { x: None, params: params([("waiting", waiting), ("n", n)]), scaled: None };
    waiting.map(with).to_vec()
}

fn check_behind(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let n = asked(params, "n");
    conserved(reply, n, 2 * n)?;
    extra(reply, "waiting", asked(params, "waiting"))
}

pub(super) static SELECTIVE: Experiment = Experiment {
    id: "selective",
    title: "Selective receive",
    what: "Receives by pattern the message that stands behind k others that do not match.",
    notes: &[
        "The message is there before the clock starts. Up to a hundred such receives share one clock, each with its own message behind the same k others.",
        "The primary metric is the slope of the line of best fit: what it costs to pass over one message. The points are the time of one receive.",
        "tokio's channels have no selective receive.",
    ],
    metric: "time per message passed over",
    x: Some(Axis { param: "k", label: "messages that do not match", scale: "linear" }),
    y: Some(Quantity { label: "time per receive", unit: "ns" }),
    figure: Figure::Slope(None),
    points: |profile| {
        sweep(evenly(0, 10_000, if profile == Profile::Quick { 5 } else { 11 }), |k, share| {
            (params([("k", k)]), repeated(100, share))
        })
    },
    check: check_selective,
    ..TIME_PER_OPERATION
};

fn check_selective(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    conserved(reply, reps(params), reps(params))?;
    extra(reply, "waiting", asked(params, "k"))
}
