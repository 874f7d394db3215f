//! The table at the end of a run: one row per experiment, one column per contender. Pure.
//!
//! Each cell holds the median of the primary metric and half the width of its 95 % confidence
//! interval; the ratios follow with theirs. If both do not fit side by side, the ratios are printed
//! below. Figures of other variants come last.

use crate::results::{Document, Ratio, ResultEntry, Verdict};

/// Maximum line width, in characters.
pub(crate) const WIDTH: usize = 100;

/// Placeholder of an empty cell.
pub(crate) const NONE: &str = "—";

/// Returns the table, with a legend below.
#[must_use]
pub fn table(document: &Document) -> String {
    let figures = figures(document);
    let instrument = document.instrument.line();
    let variants = in_other_variants(document);
    let Some((ratios, against)) = ratios(document) else {
        return format!("{}{}\n{instrument}", narrow(&figures, 2), listed(&variants));
    };
    let beside: Vec<Vec<String>> = figures
        .iter()
        .zip(&ratios)
        .map(|(row, more)| [row.as_slice(), more.get(1..).unwrap_or(&[])].concat())
        .collect();
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
        text.push_str(&format!("{equal}: the interval of the ratio holds 1\n"));
    }
    if others {
        text.push_str("* than the first contender that has a figure\n");
    }
    if gaps {
        text.push_str(&format!(
            "no ratio (—) where a figure is missing or cannot be told from zero, and for {against}'s own variants\n"
        ));
    }
    text + &instrument
}

fn figures(document: &Document) -> Vec<Vec<String>> {
    let labels = document.contenders.iter().map(|contender| contender.label.clone());
    let head = ["experiment".to_owned(), "unit".to_owned()].into_iter().chain(labels).collect();
    let mut rows: Vec<Vec<String>> = vec![head];
    for experiment in &document.experiments {
        let mut row = vec![experiment.id.to_owned(), unit(experiment.unit)];
        for contender in &document.contenders {
            let found = document.results.iter().find(|result| {
                result.principal
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
    let principal = document.results.iter().filter(|result| result.principal);
    let others = principal.flat_map(|result| result.in_other_variants(&document.results));
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

/// Abbreviates a unit, so that three contenders fit into a line.
pub(crate) fn unit(stored: &str) -> String {
    stored.replace("processes", "proc").replace("elements", "elem")
}

fn cell(result: &ResultEntry) -> String {
    let half = (result.high - result.low) / 2.0;
    if result.low <= 0.0 && 0.0 <= result.high {
        // WHY: three digits would suggest a precision that a figure near 0 does not have.
        return format!("≈0 ±{}", short(half));
    }
    format!("{} ±{:.0}%", short(result.median), 100.0 * half / result.median.abs())
}

/// Formats with three significant digits, and k, M or G for large values.
pub(crate) fn short(value: f64) -> String {
    let steps = [(1e9, "G"), (1e6, "M"), (1e4, "k")];
    for (size, letter) in steps {
        if value.abs() >= size {
            let unit = if letter == "k" { 1e3 } else { size };
            return format!("{}{letter}", digits(value / unit));
        }
    }
    digits(value)
}

/// Formats with three significant digits.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    let after: usize = match size {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.after$}")
}

/// Formats a figure with its interval.
pub(crate) fn with_ends(figure: [f64; 3], shown: impl Fn(f64) -> String) -> String {
    let [value, low, high] = figure.map(shown);
    format!("{value} ({low}–{high})")
}

/// Splits a grid into parts of at most [`WIDTH`], each of which repeats the first `words` columns.
fn narrow(rows: &[Vec<String>], words: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let part = |from: usize, to: usize| -> Vec<Vec<String>> {
        let cells = |row: &Vec<String>| [&row[..words], &row[from..to]].concat();
        rows.iter().map(cells).collect()
    };
    let fits = |from: usize, to: usize| {
        grid(&part(from, to), words).lines().all(|line| line.chars().count() <= WIDTH)
    };
    if columns <= words {
        return grid(rows, words);
    }
    let mut parts = Vec::new();
    let mut from = words;
    while from < columns {
        let to = (from + 2..=columns).take_while(|&to| fits(from, to)).last().unwrap_or(from + 1);
        parts.push(grid(&part(from, to), words));
        from = to;
    }
    parts.join("\n")
}

/// Renders columns of minimum width; the first `words` columns are left-aligned, the others
/// right-aligned.
pub(crate) fn grid(rows: &[Vec<String>], words: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(wide).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            line.push_str(gap);
            line.push_str(&if column < words {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Appends a text wrapped at [`WIDTH`]; the first line follows `head`, later lines are indented
/// below it.
pub(crate) fn wrap(text: &mut String, head: &str, words: &str) {
    let indent = head.chars().count();
    text.push_str(head);
    let mut column = indent;
    for (place, word) in words.split(' ').enumerate() {
        let long = word.chars().count();
        if place > 0 && column + 1 + long > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if place > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += long;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        for (value, text) in [
            (0.0, "0.0000"),
            (0.0123, "0.0123"),
            (0.25, "0.250"),
            (4.5, "4.50"),
            (45.67, "45.7"),
            (456.7, "457"),
            (9876.0, "9876"),
            (45_670.0, "45.7k"),
            (358_599.0, "359k"),
            (9_154_400.0, "9.15M"),
            (2.5e9, "2.50G"),
            (-4.5, "-4.50"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    fn result(median: f64, low: f64, high: f64) -> ResultEntry {
        ResultEntry {
            experiment: "ping-pong".into(),
            contender: "beam".into(),
            variant: None,
            graph: None,
            params: crate::experiments::Params::new(),
            x: None,
            metric: "time".into(),
            unit: "ns".into(),
            better: "lower".into(),
            samples: Vec::new(),
            median,
            low,
            high,
            fit: None,
            principal: true,
        }
    }

    #[test]
    fn figure_that_may_be_zero_is_shown_as_such() {
        assert_eq!(cell(&result(0.002, -0.004, 0.006)), "≈0 ±0.0050");
        assert_eq!(cell(&result(200.0, 190.0, 210.0)), "200 ±5%");
    }

    #[test]
    fn columns_that_do_not_fit_are_printed_below() {
        let row = |head: &str| {
            let cells = (0..9).map(|column| format!("{head} 1.05 (1.01–1.09) {column}"));
            ["name".to_owned()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let text = narrow(&[row("a"), row("b")], 1);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let parts: Vec<_> = text.split("\n\n").collect();
        assert_eq!(parts.len(), 3, "{text}");
        assert!(parts.iter().all(|part| part.matches("name").count() == 2), "{text}");
        assert!((0..9).all(|column| text.matches(&format!("1.09) {column}")).count() == 2));
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let words = ["word"; 40].join(" ");
        let mut text = String::new();
        wrap(&mut text, "", &words);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [99, 99]);
        assert_eq!(text.replace('\n', " ").trim(), words);
    }

    #[test]
    fn columns_are_aligned_with_figures_to_the_right() {
        let rows = [["experiment", "unit", "beam"], ["a", "ns", "12 ±3%"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(grid(&rows, 2), "experiment  unit    beam\na           ns    12 ±3%\n");
    }
}
