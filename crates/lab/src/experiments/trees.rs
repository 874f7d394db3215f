//! Large numbers of concurrent processes: `fork-join`, `skynet`.

use super::checks::{asked, conserved, extra, one_each};
use super::points::params;
use super::{Better, Experiment, Figure, Point, Quantity, SamplingMode};
use crate::profile::Profile;

pub(super) static FORK_JOIN: Experiment = Experiment {
    id: "fork-join",
    title: "Fork and join",
    what: "One process spawns n others; each reports to it and ends.",
    notes: &[
        "A hundred thousand processes in the quick profile, a million in the full one, the same for every contender.",
    ],
    metric: "time per process",
    unit: "ns",
    better: Better::Lower,
    x: None,
    y: Quantity { label: "time per process", unit: "ns" },
    figure: Figure::PerOperation(None),
    variants: false,
    mode: SamplingMode::Usual,
    points: |profile| vec![fixed("n", profile)],
    check: one_each,
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
    better: Better::Lower,
    x: None,
    y: Quantity { label: "time for the tree", unit: "ms" },
    figure: Figure::Whole,
    variants: false,
    mode: SamplingMode::Usual,
    points: |profile| vec![fixed("leaves", profile)],
    check: |params, reply| {
        let leaves = asked(params, "leaves");
        conserved(reply, leaves, leaves)?;
        extra(reply, "sum", leaves * leaves.saturating_sub(1) / 2)
    },
};

fn fixed(name: &str, profile: Profile) -> Point {
    let count = match profile {
        Profile::Quick => 100_000,
        Profile::Full => 1_000_000,
    };
    Point { x: None, params: params([(name, count)]), scaled: None }
}
