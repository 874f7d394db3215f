//! Round trips while other processes compute without yielding: `hog`.

use super::checks::{asked, found, in_order, same};
use super::experiment::{Experiment, Figure, Invalid, Params, Point, SamplingMode};
use super::points::{TIME_PER_OPERATION, cores, params};
use crate::contender::Reply;
use crate::profile::Profile;

pub(super) static HOG: Experiment = Experiment {
    id: "hog",
    title: "Round trips beside hogs",
    what: "Two processes exchange messages while twice as many as there are cores compute for ever.",
    notes: &[
        "Open loop: a round trip is started every millisecond whatever happened to the last, and timed from when it was due. Closed loop: the next one starts when the last is back.",
        "The primary metric is the median of the open loop. The 99th percentile and the longest trip of each sample stand beside it.",
        "Those that compute look now and then whether the sample is over, and never await. A contender of which a round trip is still under way two seconds after the last start starves; it is not asked again.",
        "Six samples at most, each of 300 ms in the quick profile and of a second in the full one.",
    ],
    metric: "median round trip, open loop",
    unit: "µs",
    figure: Figure::Trips,
    mode: SamplingMode::Few,
    points: |profile| {
        let ms = if profile == Profile::Quick { 300 } else { 1000 };
        let paced = |pace: &str| {
            let mut params = params([("hogs", 2 * cores()), ("ms", ms)]);
            params.insert("loop".into(), pace.into());
            Point { x: None, params, scaled: None }
        };
        ["open", "closed"].map(paced).to_vec()
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
