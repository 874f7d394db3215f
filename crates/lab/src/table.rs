//! The table at the end of a run: one row per experiment, one column per contender, headed by its
//! name and its runtime's version. Pure.
//!
//! Each cell holds the median of the primary metric and half the width of its 95 % confidence
//! interval; the ratios follow with theirs. If both do not fit side by side, the ratios are printed
//! below. Figures of other variants come last.

use crate::format::{NONE, WIDTH, digits, grid, narrow, short, unit, wrap};
use crate::profile::FEWEST;
use crate::results::{Document, Ratio, ResultEntry, VERDICT, Verdict};

/// Returns the table, with a legend below.
pub(crate) fn table(document: &Document) -> String {
    let mut figures = figures(document);
    let instrument = document.instrument.line();
    let variants = in_other_variants(document);
    let Some((ratios, against)) = ratios(document) else {
        figures.insert(1, versions(document));
        return format!("{}{}\n{instrument}", narrow(&figures, 2), listed(&variants));
    };
    let mut beside: Vec<Vec<String>> = figures
        .iter()
        .zip(&ratios)
        .map(|(row, more)| [row.as_slice(), more.get(1..).unwrap_or(&[])].concat())
        .collect();
    for rows in [&mut figures, &mut beside] {
        rows.insert(1, versions(document));
    }
    let mut text = grid(&beside, 2);
    if text.lines().any(|line| line.chars().count() > WIDTH) {
        text = format!("{}\n{}", narrow(&figures, 2), narrow(&ratios, 1));
    }
    text.push_str(&listed(&variants));
    let compared = || ratios.iter().skip(1).chain(&variants).flatten();
    let any = |sign: &str| compared().any(|cell| cell.contains(sign));
    let equal = Verdict::INDISTINGUISHABLE;
    let (gaps, others, same) = (any(NONE), any("*"), any(equal));
    text.push_str(&format!(
        "\nmedian ± half its 95 % interval; ratios, with theirs, say how many times worse than {against}\n"
    ));
    if same {
        wrap(&mut text, "", VERDICT);
    }
    if others {
        text.push_str("* than the first contender that has a figure\n");
    }
    if gaps {
        let without = format!(
            "no ratio (—) for a figure that is missing or {equal} from 0, for fewer than {FEWEST} rounds in common, and for {against}'s own variants"
        );
        wrap(&mut text, "", &without);
    }
    if let Some(control) = &document.control {
        wrap(&mut text, "", &control.line());
    }
    text + &instrument
}

/// Returns the second row of the head: the version of each contender's runtime.
fn versions(document: &Document) -> Vec<String> {
    let versions = document.contenders.iter().map(|contender| contender.brief_version().to_owned());
    [String::new(), String::new()].into_iter().chain(versions).collect()
}

fn figures(document: &Document) -> Vec<Vec<String>> {
    let labels = document.contenders.iter().map(|contender| contender.label.clone());
    let head = ["experiment".to_owned(), "unit".to_owned()].into_iter().chain(labels).collect();
    let mut rows: Vec<Vec<String>> = vec![head];
    for experiment in &document.experiments {
        let mut row = vec![experiment.id.to_owned(), unit(experiment.unit)];
        for contender in &document.contenders {
            let found = document.results.iter().find(|result| {
                result.primary
                    && result.experiment == experiment.id
                    && result.contender == contender.id
            });
            let starves = document.absences.iter().any(|absence| {
                absence.experiment == experiment.id
                    && absence.contender == contender.id
                    && absence.word == "starves"
            });
            let without = if starves { "starves" } else { NONE };
            row.push(found.map_or_else(|| without.to_owned(), cell));
        }
        rows.push(row);
    }
    rows
}

/// Returns the ratios and their reference; `None` if nothing is compared.
fn ratios(document: &Document) -> Option<(Vec<Vec<String>>, String)> {
    let against = document.ratios.first()?.against.clone();
    let others: Vec<_> = document
        .contenders
        .iter()
        .filter(|contender| document.ratios.iter().any(|ratio| ratio.contender == contender.id))
        .collect();
    let mut head = vec!["experiment".to_owned()];
    head.extend(others.iter().map(|other| format!("{}/{against}", other.label)));
    let mut rows = vec![head];
    for experiment in &document.experiments {
        let mut row = vec![experiment.id.to_owned()];
        for other in &others {
            let found = document.ratios.iter().find(|ratio| {
                let natural = ratio.variant.is_none();
                natural && ratio.experiment == experiment.id && ratio.contender == other.id
            });
            row.push(found.map_or_else(|| NONE.to_owned(), |ratio| worse_by(ratio, &against)));
        }
        rows.push(row);
    }
    Some((rows, against))
}

/// Returns the ratio with its interval, or that it is indistinguishable.
fn worse_by(ratio: &Ratio, against: &str) -> String {
    let elsewhere = if ratio.against == against { "" } else { "*" };
    if ratio.verdict == Verdict::Indistinguishable {
        return format!("{}{elsewhere}", Verdict::INDISTINGUISHABLE);
    }
    let (low, high) = (digits(ratio.low), digits(ratio.high));
    format!("{}{elsewhere} ({low}–{high})", digits(ratio.ratio))
}

/// Returns one row per variant other than the natural one, which is in the table: the figure, and
/// its ratio if it is compared.
fn in_other_variants(document: &Document) -> Vec<Vec<String>> {
    let primary = document.results.iter().filter(|result| result.primary);
    let others = primary.flat_map(|result| result.in_other_variants(&document.results));
    others
        .map(|other| {
            let ratio = document.ratios.iter().find(|ratio| ratio.is_of(other));
            vec![
                other.experiment.clone(),
                format!("{} · {}", other.contender, other.variant.as_deref().unwrap_or("")),
                unit(&other.unit),
                cell(other),
                ratio.map_or_else(|| NONE.to_owned(), |ratio| worse_by(ratio, &ratio.against)),
            ]
        })
        .collect()
}

/// Renders the other variants under a heading, if there are any.
fn listed(variants: &[Vec<String>]) -> String {
    if variants.is_empty() {
        String::new()
    } else {
        format!("\nin other variants\n{}", grid(variants, 3))
    }
}

fn cell(result: &ResultEntry) -> String {
    let half = (result.high - result.low) / 2.0;
    if result.low <= 0.0 && 0.0 <= result.high {
        // WHY: three digits would suggest a precision that a figure near 0 does not have.
        return format!("≈0 ±{}", short(half));
    }
    format!("{} ±{:.0}%", short(result.median), 100.0 * half / result.median.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(median: f64, low: f64, high: f64) -> ResultEntry {
        ResultEntry { median, low, high, ..ResultEntry::default() }
    }

    #[test]
    fn figure_that_may_be_zero_is_shown_as_such() {
        assert_eq!(cell(&result(0.002, -0.004, 0.006)), "≈0 ±0.0050");
        assert_eq!(cell(&result(200.0, 190.0, 210.0)), "200 ±5%");
    }
}
