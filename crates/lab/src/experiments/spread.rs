//! Distribution of computing over the cores: `spread`.

use super::checks::{asked, extra, found};
use super::experiment::{Axis, Experiment, Figure, Point};
use super::points::{TIME_PER_OPERATION, params};
use super::savina::pings;
use super::savina_check::worked;
use crate::profile::Profile;

pub(crate) use super::points::cores;

/// Steps of one timing of the calibration.
pub(crate) const TIMED_STEPS: u64 = 200_000;

/// Number of processes that compute.
const PROCESSES: u64 = 40;

/// Durations of one piece of computing, in µs.
const PIECES: [u64; 7] = [2, 5, 10, 20, 50, 100, 200];

pub(super) static SPREAD: Experiment = Experiment {
    id: "spread",
    title: "Spread of computing over the cores",
    what: "40 processes call one server and then compute t µs, again and again; the time over that of the computing alone on all cores.",
    notes: &[
        "The computing is the same in all, whatever t is: 40 ms per core in the quick profile and 400 ms in the full one. A time of 1 means that all cores computed all the time, and that calls and switches took none.",
        "A piece of computing is a number of steps of the generator that the protocol names. Before each sample a contender measures how many take t µs, with nothing else to do, and reports the number; the perfect time is that of these steps, at the median speed of all measurements of the contender. What two busy cores take from each other counts against all contenders alike.",
        "The primary metric is that of t = 10 µs. Not a program of Savina's.",
    ],
    metric: "time over perfect time",
    unit: "×",
    x: Some(Axis { param: "us", label: "computing per call, µs", scale: "log" }),
    figure: Figure::OverPerfect(10),
    points: |profile| {
        let per_core = if profile == Profile::Quick { 40_000 } else { 400_000 };
        let point = |us| {
            let n = cores() * per_core / (PROCESSES * us);
            let params = params([("processes", PROCESSES), ("n", n), ("us", us)]);
            Point { x: Some(us), params, scaled: None }
        };
        PIECES.map(point).to_vec()
    },
    check: |params, reply| {
        pings(params, reply)?;
        found(reply, "calibration_ns")?;
        let steps = found(reply, "steps")?;
        let each = worked(asked(params, "n").saturating_mul(steps));
        extra(reply, "sink", asked(params, "processes") * each)
    },
    ..TIME_PER_OPERATION
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_is_the_same_at_every_point() {
        for (profile, us) in [(Profile::Quick, 40_000), (Profile::Full, 400_000)] {
            for point in (SPREAD.points)(profile) {
                let all = PROCESSES * asked(&point.params, "n") * asked(&point.params, "us");
                assert_eq!(all, cores() * us);
            }
        }
    }
}
