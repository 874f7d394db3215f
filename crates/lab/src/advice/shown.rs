//! An answer for a terminal and for a document. Pure.

use std::fmt::Write;

use super::{Advice, Design, Ends};
use crate::table::{NONE, WIDTH, digits, grid, short};

const HEAD: [&str; 4] = ["contender", "ns per message and hop", "% of a core", "in bulk, %"];

/// The text: a row for each contender, then what to bear in mind.
#[must_use]
pub fn text(advice: &Advice) -> String {
    let head: Vec<String> = HEAD.map(str::to_owned).into();
    let rows: Vec<_> = std::iter::once(head).chain(rows(advice).map(Vec::from)).collect();
    let mut text =
        format!("{}\nfrom {}\n\n{}", asked(&advice.design), advice.source, grid(&rows, 1));
    let mut part = |before: &str, lines: &[String]| {
        for line in lines {
            text.push('\n');
            text.push_str(&wrapped(&format!("{before}{line}")));
        }
    };
    part("warning: ", &advice.warnings);
    part("left out: ", &advice.left_out);
    part("", &advice.assumptions.map(str::to_owned));
    text
}

/// The same as Markdown.
#[must_use]
pub fn markdown(advice: &Advice) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("**{}**, from {}\n\n", asked(&advice.design), advice.source);
    text.push_str(&line(&HEAD.map(str::to_owned)));
    text.push_str("|---|--:|--:|--:|\n");
    for cells in rows(advice) {
        // WHY: a contender's options may hold what divides columns.
        text.push_str(&line(&cells.map(|cell| cell.replace('|', "\\|"))));
    }
    text.push('\n');
    for (what, lines) in [("Warning: ", &advice.warnings), ("Left out: ", &advice.left_out)] {
        for line in lines {
            let _ = writeln!(text, "- **{what}**{line}");
        }
    }
    for line in advice.assumptions {
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// Words in lines that are not too wide.
fn wrapped(words: &str) -> String {
    let mut text = String::new();
    let mut wide = 0;
    for word in words.split(' ') {
        let more = word.chars().count();
        let between = match wide {
            0 => "",
            _ if wide + 1 + more > WIDTH => "\n",
            _ => " ",
        };
        wide = if between == " " { wide + 1 + more } else { more };
        text.push_str(between);
        text.push_str(word);
    }
    text.push('\n');
    text
}

/// What was asked, in words.
fn asked(design: &Design) -> String {
    let Design { rate, size, hops, spawns } = design;
    let many =
        |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut text = format!(
        "{rate} messages/s of {} over {}",
        many(*size, "element"),
        many(u64::from(*hops), "hop")
    );
    if *spawns > 0.0 {
        let _ = write!(text, ", and {spawns} processes/s");
    }
    text
}

fn rows(advice: &Advice) -> impl Iterator<Item = [String; 4]> {
    advice.costs.iter().map(|cost| {
        let name = match &cost.variant {
            Some(variant) => format!("{} ({variant})", cost.contender),
            None => cost.contender.clone(),
        };
        let share = percent(cost.share);
        let bulk = cost.in_bulk.map_or_else(|| NONE.to_owned(), percent);
        [name, ends(cost.message_ns, short), share, bulk]
    })
}

fn percent(share: Ends) -> String {
    let Ends { value, low, high } = share;
    ends(Ends { value: 100.0 * value, low: 100.0 * low, high: 100.0 * high }, digits)
}

fn ends(ends: Ends, shown: impl Fn(f64) -> String) -> String {
    format!("{} ({}–{})", shown(ends.value), shown(ends.low), shown(ends.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let words = ["word"; 40].join(" ");
        let text = wrapped(&words);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [99, 99]);
        assert_eq!(text.replace('\n', " ").trim(), words);
    }
}
