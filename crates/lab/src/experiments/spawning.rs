//! Cost of a process: `spawn-chain`, `serial-spawn`.

use super::checks::{asked, conserved};
use super::experiment::{Axis, Better, Experiment, Figure, Point, Quantity};
use super::points::{TIME_PER_OPERATION, evenly, params, repeated, sweep};
use crate::profile::Profile;

pub(super) static SPAWN_CHAIN: Experiment = Experiment {
    id: "spawn-chain",
    title: "A chain of processes",
    what: "P1 spawns P2 and ends, and so on for n processes; the last one sends to the root.",
    notes: &[
        "After Mark Greenstreet's lecture of 2017, which published 0.88 and 1.30 µs per process.",
        "Timed from before the first spawn to the receipt; the primary metric is the slope of the line of best fit.",
    ],
    metric: "time per process",
    x: Some(Axis { param: "n", label: "processes in the chain", scale: "linear" }),
    y: Some(Quantity { label: "time", unit: "ns" }),
    figure: Figure::Slope(None),
    points: |profile| {
        sweep(evenly(100, 1000, if profile == Profile::Quick { 5 } else { 10 }), |n, share| {
            (params([("n", n)]), repeated(1, share))
        })
    },
    ..TIME_PER_OPERATION
};

pub(super) static SERIAL_SPAWN: Experiment = Experiment {
    id: "serial-spawn",
    title: "Chains side by side",
    what: "m chains of processes that spawn their successor and end, the same total for any m.",
    notes: &[
        "After Tony Garnock-Jones, 2006, who published 358 599 processes per second with 1 chain, 348 489 with 10 and 335 983 with 100.",
        "The primary metric is that of one chain. What m leaves over of the total goes to the first chain.",
    ],
    metric: "processes created and ended",
    unit: "processes/s",
    better: Better::Higher,
    x: Some(Axis { param: "m", label: "chains side by side", scale: "log" }),
    figure: Figure::Rate(Some(1)),
    points: |profile| {
        let total = if profile == Profile::Quick { 50_000 } else { 1_000_000 };
        let point = |m: u64| Point {
            x: Some(m),
            params: params([("m", m), ("total", total)]),
            scaled: None,
        };
        [1, 10, 100, 1000].map(point).to_vec()
    },
    check: |params, reply| {
        let total = asked(params, "total");
        conserved(reply, total, total)
    },
    ..TIME_PER_OPERATION
};
