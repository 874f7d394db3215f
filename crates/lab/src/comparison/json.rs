//! Renders a comparison as JSON, for a program.

use serde_json::{Value, json};

use super::compared::{Compared, Comparison};

/// Returns one object. `figures` has the primary metrics first, then the others.
pub fn json(comparison: &Comparison<'_>) -> String {
    let Comparison { runs, warnings, notes, primary, rest, unasked, not_compared } = comparison;
    let [old, new] = runs;
    let primary = primary.iter().map(|one| figure(one, true));
    let figures: Vec<_> = primary.chain(rest.iter().map(|one| figure(one, false))).collect();
    let document = json!({
        "old": old,
        "new": new,
        "warnings": warnings,
        "notes": notes,
        "figures": figures,
        "unasked": unasked,
        "not_compared": not_compared,
    });
    format!("{document:#}\n")
}

/// Renders a figure. `times_worse` is null for too few rounds, and if a figure cannot be distinguished from 0.
fn figure(one: &Compared<'_>, primary: bool) -> Value {
    let (new, moved) = (one.new, &one.moved);
    let ratio = moved
        .ratio
        .map(|ratio| json!({ "estimate": ratio.value, "low": ratio.low, "high": ratio.high }));
    json!({
        "experiment": new.experiment,
        "contender": new.contender,
        "variant": new.variant,
        "graph": new.graph,
        "params": new.params,
        "metric": new.metric,
        "unit": new.unit,
        "better": new.better,
        "primary": primary,
        "old": moved.medians[0],
        "new": moved.medians[1],
        "times_worse": ratio,
        "rounds": moved.rounds,
        "verdict": one.word(),
    })
}
