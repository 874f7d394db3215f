//! Renders a comparison for a terminal: no colours, lines of at most 100 characters where names
//! allow.

use super::compared::{Compared, Comparison, LEGEND};
use crate::format::{WIDTH, grid, short, unit, wrap};

const HEAD: [&str; 4] = ["old", "new", "times worse", ""];

/// Returns the text, with one line per figure.
pub fn text(comparison: &Comparison<'_>) -> String {
    let [old, new] = &comparison.runs;
    let mut parts = vec![format!("old: {old}\nnew: {new}\n")];
    parts.push(wrapped("warning: ", &comparison.warnings) + &wrapped("note: ", &comparison.notes));
    parts.push(flat(&comparison.primary));
    parts.extend(by_metric(&comparison.rest));
    parts.push(format!("{}\n", comparison.tally()));
    if !comparison.not_compared.is_empty() {
        parts.push(format!("not compared:\n{}", wrapped("  ", &comparison.not_compared)));
    }
    parts.push(wrapped("", &[LEGEND.to_owned()]));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn wrapped(head: &str, lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        wrap(&mut text, head, line);
    }
    text
}

/// Renders one table of all figures, or one per metric if that table is too wide.
fn flat(figures: &[Compared<'_>]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let mut rows = vec![row(
        ["experiment", "contender", "unit"].map(String::from).into(),
        HEAD.map(String::from),
    )];
    for one in figures {
        let new = one.new;
        let names = vec![new.experiment.clone(), new.contender.clone(), unit(&new.unit)];
        rows.push(row(names, cells(one)));
    }
    let text = grid(&rows, 3);
    if text.lines().any(|line| line.chars().count() > WIDTH) {
        return by_metric(figures).join("\n");
    }
    text
}

fn heading(one: &Compared<'_>) -> String {
    let graph = one.new.graph.iter().map(|graph| format!("\n{graph}"));
    let graph: String = graph.collect();
    format!("{}: {}, {}{graph}", one.new.experiment, one.new.metric, one.new.unit)
}

/// Renders one table per metric and graph, in order of first occurrence.
fn by_metric(figures: &[Compared<'_>]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&Compared<'_>>)> = Vec::new();
    for one in figures {
        let heading = heading(one);
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, group)) => group.push(one),
            None => groups.push((heading, vec![one])),
        }
    }
    groups.into_iter().map(|(heading, group)| grouped(&heading, &group)).collect()
}

/// Renders the figures of one metric under its heading.
fn grouped(heading: &str, figures: &[&Compared<'_>]) -> String {
    let mut rows = vec![row(vec!["  contender".into(), "point".into()], HEAD.map(String::from))];
    for one in figures {
        rows.push(row(vec![format!("  {}", one.new.contender), one.new.point()], cells(one)));
    }
    format!("{heading}\n{}", grid(&rows, 2))
}

fn row(names: Vec<String>, cells: [String; 4]) -> Vec<String> {
    names.into_iter().chain(cells).collect()
}

fn cells(one: &Compared<'_>) -> [String; 4] {
    let [old, new] = one.moved.medians;
    [short(old), short(new), one.ratio(), one.word().to_owned()]
}
