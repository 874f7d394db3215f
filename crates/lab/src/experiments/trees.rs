//! Large numbers of concurrent processes: `fork-join`, `skynet`.

use super::checks::{asked, conserved, extra};
use super::experiment::{Experiment, Figure, Point};
use super::points::{TIME_PER_OPERATION, params};
use crate::profile::Profile;

pub(super) static FORK_JOIN: Experiment = Experiment {
    id: "fork-join",
    title: "Fork and join",
    what: "One process spawns n others; each reports to it and ends.",
    notes: &[
        "A hundred thousand processes in the quick profile, a million in the full one, the same for every contender.",
        "The process that spawns lets others run in between, by the runtime's preemption or by yielding, so most children have ended before the last is spawned. In the variant alive each child waits until all are spawned.",
        "On the BEAM the queue of the spawning process is off the heap; with the default each of its garbage collections goes through all reports that wait.",
    ],
    metric: "time per process",
    variants: true,
    points: |profile| vec![fixed("n", profile)],
    ..TIME_PER_OPERATION
};

pub(super) static SKYNET: Experiment = Experiment {
    id: "skynet",
    title: "Skynet",
    what: "A tree of ten children per node; each leaf reports its number, each node the sum.",
    notes: &[
        "After Alexander Temerev's skynet. A hundred thousand leaves in the quick profile, a million in the full one, where the sum is 499 999 500 000; it is verified.",
    ],
    metric: "time for the tree",
    unit: "ms",
    figure: Figure::Whole,
    points: |profile| vec![fixed("leaves", profile)],
    check: |params, reply| {
        let leaves = asked(params, "leaves");
        conserved(reply, leaves, leaves)?;
        extra(reply, "sum", leaves * leaves.saturating_sub(1) / 2)
    },
    ..TIME_PER_OPERATION
};

fn fixed(name: &str, profile: Profile) -> Point {
    let count = match profile {
        Profile::Quick => 100_000,
        Profile::Full => 1_000_000,
    };
    Point { x: None, params: params([(name, count)]), scaled: None }
}
