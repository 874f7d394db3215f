//! Formatting of numbers and columns for a terminal. Pure.

use crate::stats::Interval;

/// Maximum line width, in characters.
pub(crate) const WIDTH: usize = 100;

/// Placeholder of an empty cell.
pub(crate) const NONE: &str = "—";

/// Abbreviates a unit, so that three contenders fit into a line.
pub(crate) fn unit(stored: &str) -> String {
    stored.replace("processes", "proc").replace("elements", "elem")
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

/// Rounds to one decimal, where more would suggest a precision the value does not have.
pub(crate) fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Formats a figure with its interval.
pub(crate) fn with_ends(figure: Interval, shown: impl Fn(f64) -> String) -> String {
    format!("{} ({}–{})", shown(figure.value), shown(figure.low), shown(figure.high))
}

/// Splits a grid into parts of at most [`WIDTH`], each of which repeats the first `words` columns.
pub(crate) fn narrow(rows: &[Vec<String>], words: usize) -> String {
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
    for (index, word) in words.split(' ').enumerate() {
        let long = word.chars().count();
        if index > 0 && column + 1 + long > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
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
