//! Graph lines of a document: their names, and their extraction. Pure.

use std::borrow::Cow;
use std::collections::HashMap;

use super::records::{SCENARIO, trim};
use super::title::{Measure, options_of};
use crate::results::{Figures, ResultEntry};

/// The experiment the suite's figures belong to.
pub(super) const EXPERIMENT: &str = "signals";
/// Suffix of the metric of a figure computed as the suite does: divided by the configured duration.
pub(super) const AS_OTP: &str = ", as OTP computes it";
/// Parameter that stores the spawn options of a scenario as written.
pub(super) const OPTIONS: &str = "spawn_options";
/// Parameter that numbers repeated runs of a scenario within one text, from 2.
pub(super) const RUN: &str = "run";
/// Maximum length of a label, in characters.
pub(super) const LABEL: usize = 200;

/// A line of a graph.
pub(super) struct Line<'a> {
    /// The graph's name.
    pub(super) graph: &'a str,
    /// The receiver's spawn options; `None` if the runtime has none.
    pub(super) options: Option<Cow<'a, str>>,
    /// Number of the run, from 1, if one text has several runs of a scenario.
    pub(super) run: u64,
    /// The label, cleaned for use as the first field of a record.
    pub(super) label: String,
    /// Pairs of sender count and throughput, in document order, each sender count once.
    pub(super) points: Vec<(u64, f64)>,
}

/// A line for which both kinds of computed throughput are still collected.
struct Draft<'a> {
    first: &'a ResultEntry,
    graph: &'a str,
    ours: Vec<(u64, f64)>,
    as_otp: Vec<(u64, f64)>,
}

/// Returns all lines of `signals`, in document order.
pub(super) fn lines(figures: &Figures) -> Vec<Line<'_>> {
    let labels: HashMap<&str, &str> =
        figures.contenders.iter().map(|one| (one.id.as_str(), one.label.as_str())).collect();
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut places = HashMap::new();
    for result in figures.results.iter().filter(|result| result.experiment == EXPERIMENT) {
        let (Some(graph), Some(x)) = (result.graph.as_deref(), result.x) else { continue };
        let plain = result.metric.strip_suffix(AS_OTP);
        let metric = plain.unwrap_or(&result.metric);
        // WHY: other figures of the same run, such as its memory, are not throughput.
        let due = Measure::of(graph).map(Measure::metric);
        if due.is_some_and(|due| due != metric) || !metric.ends_with(" throughput") {
            continue;
        }
        let whose = (&result.contender, &result.variant, options(result), run(result));
        let index = *places.entry((graph, whose)).or_insert_with(|| {
            drafts.push(Draft { first: result, graph, ours: Vec::new(), as_otp: Vec::new() });
            drafts.len() - 1
        });
        let draft = &mut drafts[index];
        let points = if plain.is_some() { &mut draft.as_otp } else { &mut draft.ours };
        if points.iter().all(|(known, _)| *known != x) {
            points.push((x, result.median));
        }
    }
    drafts.into_iter().map(|draft| draft.line(&labels)).collect()
}

impl<'a> Draft<'a> {
    fn line(self, labels: &HashMap<&str, &str>) -> Line<'a> {
        let first = self.first;
        let options = options(first);
        let label = labels.get(first.contender.as_str()).copied().unwrap_or(&first.contender);
        let label = label.strip_prefix(&version(run(first))).unwrap_or(label);
        let label = match &first.variant {
            Some(variant) if options.is_none() => fit(&format!("{label} {variant}")),
            _ => fit(label),
        };
        let points = if self.as_otp.is_empty() { self.ours } else { self.as_otp };
        Line { graph: self.graph, options, run: run(first), label, points }
    }
}

/// Returns the spawn options as written if they are stored, otherwise those the variant implies.
fn options(result: &ResultEntry) -> Option<Cow<'_, str>> {
    let written = result.params.get(OPTIONS).and_then(|options| options.as_str());
    let meant = || result.variant.as_deref().and_then(options_of).map(Cow::Owned);
    written.map(Cow::Borrowed).or_else(meant)
}

fn run(result: &ResultEntry) -> u64 {
    result.params.get(RUN).and_then(|run| run.as_u64()).unwrap_or(1)
}

/// Returns the label prefix of a run; empty for the first.
pub(super) fn version(run: u64) -> String {
    if run < 2 { String::new() } else { format!("Ver: {run} ") }
}

/// Returns a label that cannot end a field or a record and cannot be read as a comment or a title.
pub(super) fn fit(label: &str) -> String {
    let free = |letter: char| letter == ';' || letter == '$' || letter.is_control();
    let label: String = label.chars().map(|one| if free(one) { ' ' } else { one }).collect();
    let label: String = trim(&label).chars().take(LABEL).collect();
    let label = trim(&label);
    if label.is_empty() || label.starts_with('#') || format!("{label} ").starts_with(SCENARIO) {
        return format!("contender {label}").trim_end().into();
    }
    label.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_is_never_a_comment_a_title_or_more_than_one_field() {
        for (label, due) in [
            ("beam:+sbwt none", "beam:+sbwt none"),
            ("a;b$\n", "a b"),
            ("#1", "contender #1"),
            ("Scenario: x", "contender Scenario: x"),
            ("Scenario:", "contender Scenario:"),
            (" \u{feff}", "contender"),
        ] {
            assert_eq!(fit(label), due, "{label:?}");
        }
        assert_eq!(fit(&"é".repeat(300)).chars().count(), LABEL);
    }
}
