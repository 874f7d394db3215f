//! Round trips while other processes compute without yielding: `hog`.

use super::checks::{asked, found, in_order, same};
use super::experiment::{Experiment, Figure, Invalid, Params, Point};
use super::points::{TIME_PER_OPERATION, cores, params};
use crate::contender::Reply;
use crate::profile::Profile;

pub(super) static HOG: Experiment = Experiment {
    id: "hog",
    title: "Round trips beside hogs",
    what: "Two processes exchange messages while twice as many as there are cores compute for ever.",
    notes: &[
        "Open loop: a round trip is due every millisecond whatever happened to the last. A timer of the runtime starts it, and it is timed from when it was due, so the lateness of the timer and its resolution are part of it; the lateness stands beside it. Closed loop: the next one starts when the last is back.",
        "The primary metric is the 99th percentile of the open loop, because waiting behind a process that computes shows in the tail. Median and longest trip of each sample stand beside it.",
        "The open loop without processes that compute shows what timers and trips take by themselves.",
        "Timers are purlin's, those of the BEAM, tokio's or Go's, set by the users' function. On the BEAM a timer is set to a whole millisecond of its clock, so due times there are whole milliseconds too; purlin's timers tick every 33 µs and tokio's every millisecond, and due times fall between the ticks.",
        "No program asks for privileges, or for more than any user's program may. What the default settings do with priorities stands in the notes of each contender.",
        "Those that compute look now and then whether the run is over, and never await. A contender of which a round trip is still missing two seconds after the last was due starves; it is not asked again.",
        "A sample takes 300 ms in the quick profile and a second in the full one. The 99th percentiles of the samples of one contender differ by factors, so there is one in every round.",
    ],
    metric: "round trip p99, open loop",
    unit: "µs",
    figure: Figure::Trips,
    points: |profile| {
        let ms = if profile == Profile::Quick { 300 } else { 1000 };
        let point = |pace: &str, hogs| {
            let mut params = params([("hogs", hogs), ("ms", ms)]);
            params.insert("loop".into(), pace.into());
            Point { x: None, params, scaled: None }
        };
        vec![point("open", 2 * cores()), point("closed", 2 * cores()), point("open", 0)]
    },
    check: check_trips,
    ..TIME_PER_OPERATION
};

/// Checks that all started round trips completed, unless the contender starved.
fn check_trips(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    if params.get("loop").is_some_and(|pace| pace == "open") {
        same("sent", reply.sent, asked(params, "ms"))?;
    }
    same("ops", reply.ops, reply.received)?;
    match found(reply, "starved")? {
        0 => same("received", reply.received, reply.sent)?,
        1 if reply.received < reply.sent => {}
        starved => return Err(Invalid(format!("starved is {starved}, though all trips are back"))),
    }
    in_order(reply)
}
