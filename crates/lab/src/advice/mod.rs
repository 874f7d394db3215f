//! Estimates what a design costs on each runtime, from the fits of a run. Pure.
//!
//! [`advise`] uses the figures of a run as a model: a message costs the slope of `exchange`, each
//! of its elements the slope of `message-size` unless messages are moved, a process the slope of `spawn-chain`. Rate times
//! hops times cost is the share of a core. `throughput`, a stream of messages in which no process
//! waits, gives the lower bound. [`ASSUMPTIONS`] lists what the model leaves out and is printed
//! with every estimate.

mod shown;

use serde::Serialize;

use crate::results::{Figures, ResultEntry};
use crate::stats::{self, Interval};
use crate::warning::Warning;

pub(crate) use shown::{markdown, text};

/// Assumptions of the model.
pub(crate) const ASSUMPTIONS: [&str; 5] = [
    "A message costs the slope of exchange, in which two processes send and receive one each. If they ran at once, on two cores, that is what a message costs its two ends together; if on one core, it costs half. So the share is rather too high than too low.",
    "An element costs nothing on a contender that can move it to the receiver (it has a figure of message-moved), elsewhere the slope of message-size, where every element is copied.",
    "In bulk is the time per message of throughput, where a stream of messages never lets its receiver sleep; a design that sends now and then does not reach it.",
    "Costs add up and do not depend on the rate. Waking a core that sleeps, caches that other work has emptied and what the processes themselves compute come on top.",
    "The intervals are those of the fits, taken for independent; they say nothing of another machine, or of another hour.",
];

/// The design whose cost is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Design {
    /// Messages that enter per second.
    pub rate: f64,
    /// Elements per message.
    pub size: u64,
    /// Sends per message on its way through the system.
    pub hops: u32,
    /// Processes spawned per second.
    pub spawns: f64,
}

/// The cost of the design on one contender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// The contender's label.
    pub contender: String,
    /// Treatment of the elements, `moved` or `copied`; absent if messages have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// Cost of one message over one hop, elements included, in ns.
    pub message_ns: Interval,
    /// Share of one core; 1 is a whole core.
    pub share: Interval,
    /// The same share at the cost per message of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_bulk: Option<Interval>,
}

/// The estimate for all contenders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Advice {
    /// The design.
    pub design: Design,
    /// The run the figures come from: file, profile and start time.
    pub source: String,
    /// The contenders' costs, in the order of the run.
    pub costs: Vec<Cost>,
    /// Contenders without a figure the model needs, each with the missing experiment.
    pub left_out: Vec<String>,
    /// Conditions under which the model does not hold for this design.
    pub warnings: Vec<String>,
    /// Assumptions that hold for every design.
    pub assumptions: [&'static str; 5],
}

/// Estimates the cost of a design from a run; `name` identifies the run in the output.
pub(crate) fn advise(design: Design, name: &str, run: &Figures) -> Advice {
    let (mut costs, mut left_out) = (Vec::new(), Vec::new());
    let mut labels: Vec<&str> = Vec::new();
    for result in &run.results {
        if !labels.contains(&&*result.contender) {
            labels.push(&result.contender);
        }
    }
    for label in labels {
        match cost(design, label, run) {
            Ok(cost) => costs.push(cost),
            Err(missing) => left_out.push(format!("{label}: no figure of {missing} in this run")),
        }
    }
    Advice {
        design,
        source: format!("{name}, {}, {}", run.profile, run.started),
        warnings: warnings(design, run, &costs),
        costs,
        left_out,
        assumptions: ASSUMPTIONS,
    }
}

/// Returns the cost on one contender, or the experiment whose figure is missing.
fn cost(design: Design, label: &str, run: &Figures) -> Result<Cost, &'static str> {
    let figure = |experiment: &'static str| {
        primary(run, experiment, label)
            .and_then(|result| Some((result, stats::median_interval(&result.samples)?)))
            .ok_or(experiment)
    };
    let (_, message) = figure("exchange")?;
    let (payload, elements) = match design.size {
        0 => (None, None),
        _ if figure("message-moved").is_ok() => (Some("moved".to_owned()), None),
        size => {
            let (result, element) = figure("message-size")?;
            // Runs of versions without `message-moved` name the variant.
            let payload = result.variant.clone().unwrap_or_else(|| "copied".to_owned());
            (Some(payload), Some((size as f64, element)))
        }
    };
    let spawn = if design.spawns > 0.0 { Some(figure("spawn-chain")?.1) } else { None };
    let sent = design.rate * f64::from(design.hops) / 1e9;
    let whole = |message: Interval| {
        let elements = elements.map(|(size, element)| (sent * size, element));
        let spawn = spawn.map(|process| (design.spawns / 1e9, process));
        sum(std::iter::once((sent, message)).chain(elements).chain(spawn))
    };
    Ok(Cost {
        contender: label.to_owned(),
        payload,
        message_ns: sum(std::iter::once((1.0, message)).chain(elements)),
        share: whole(message),
        in_bulk: figure("throughput").ok().map(|(_, message)| whole(message)),
    })
}

fn primary<'a>(run: &'a Figures, experiment: &str, label: &str) -> Option<&'a ResultEntry> {
    let mut results = run.results.iter();
    results.find(|one| one.primary && one.experiment == experiment && one.contender == label)
}

/// Returns the weighted sum of figures with its confidence interval, by G. Y. Zou and A. Donner,
/// *Statistics in Medicine* 27, 2008. Values below 0, which the noise of a slope can yield, are
/// clamped to 0.
fn sum(parts: impl Iterator<Item = (f64, Interval)>) -> Interval {
    let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
    for (times, part) in parts {
        value += times * part.value;
        below += (times * (part.value - part.low)).powi(2);
        above += (times * (part.high - part.value)).powi(2);
    }
    let [value, low, high] =
        [value, value - below.sqrt(), value + above.sqrt()].map(|one: f64| one.max(0.0));
    Interval { value, low, high }
}

/// Returns warnings where the design lies outside of the model's range.
fn warnings(design: Design, run: &Figures, costs: &[Cost]) -> Vec<String> {
    let mut warnings = Vec::new();
    if run.interrupted {
        warnings.push(Warning::interrupted().to_string());
    }
    let sizes = run.results.iter().filter(|result| result.experiment == "message-size");
    let largest = sizes.filter_map(|result| result.x).max();
    if let Some(largest) = largest.filter(|&largest| design.size > largest) {
        warnings.push(format!(
            "{} elements are more than the {largest} that were measured: the line is drawn out, and \
             larger messages often cost more than it says; measure with \
             `purlin lab run -e bandwidth --profile full`",
            design.size
        ));
    }
    let over: Vec<_> =
        costs.iter().filter(|cost| cost.share.high > 1.0).map(|cost| &*cost.contender).collect();
    if !over.is_empty() {
        warnings.push(format!(
            "more than one core's worth, or nearly, on {}: the model knows no queue and no second \
             core; a single process cannot take more than one core's worth, so spread the work over \
             several and measure that (`purlin lab run -e fan-in,thread-ring`)",
            over.join(", ")
        ));
    }
    if let Some(host) = &run.host {
        let cores = host.cores as f64;
        let full = costs.iter().filter(|cost| cost.share.value > cores);
        let full: Vec<_> = full.map(|cost| &*cost.contender).collect();
        if !full.is_empty() {
            warnings.push(format!(
                "more than the {cores} cores of the machine that was measured, on {}",
                full.join(", ")
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn about(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    #[test]
    fn interval_of_a_sum_is_the_root_of_the_summed_squares() {
        let both = sum([(1.0, about(10.0, 3.0)), (2.0, about(5.0, 2.0))].into_iter());
        assert_eq!(both, Interval { value: 20.0, low: 15.0, high: 25.0 });
    }

    #[test]
    fn negative_costs_are_clamped_to_zero() {
        let noise = sum([(1000.0, about(-0.002, 0.004))].into_iter());
        assert_eq!((noise.value, noise.low, noise.high), (0.0, 0.0, 2.0));
    }

    proptest! {
        #[test]
        fn interval_of_a_sum_contains_its_value(
            parts in prop::collection::vec((0.0f64..1e6, -1e3f64..1e6, 0.0f64..1e3), 1..5)
        ) {
            let all = parts.into_iter().map(|(times, value, half)| (times, about(value, half)));
            let all = sum(all);
            prop_assert!(0.0 <= all.low && all.low <= all.value && all.value <= all.high);
        }
    }
}
