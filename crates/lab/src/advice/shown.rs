//! Renders an estimate as text and as Markdown. Pure.

use std::fmt::Write;

use super::{Advice, Design};
use crate::format::{NONE, digits, grid, short, with_ends, wrap};
use crate::markdown::plain;
use crate::stats::Interval;

const HEAD: [&str; 4] = ["contender", "ns per message and hop", "% of a core", "in bulk, %"];

/// Renders text for a terminal: one row per contender, then warnings and assumptions.
pub(crate) fn text(advice: &Advice) -> String {
    let head: Vec<String> = HEAD.map(str::to_owned).into();
    let rows: Vec<_> = std::iter::once(head).chain(rows(advice).map(Vec::from)).collect();
    let mut text =
        format!("{}\nfrom {}\n\n{}", asked(&advice.design), advice.source, grid(&rows, 1));
    let mut part = |before: &str, lines: &[String]| {
        for line in lines {
            text.push('\n');
            wrap(&mut text, before, line);
        }
    };
    part("warning: ", &advice.warnings);
    part("left out: ", &advice.left_out);
    part("", &advice.assumptions.map(str::to_owned));
    text
}

/// Renders the same content as Markdown.
pub(crate) fn markdown(advice: &Advice) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("**{}**, from {}\n\n", asked(&advice.design), plain(&advice.source));
    text.push_str(&line(&HEAD.map(str::to_owned)));
    text.push_str("|---|--:|--:|--:|\n");
    for cells in rows(advice) {
        text.push_str(&line(&cells.map(|cell| plain(&cell))));
    }
    text.push('\n');
    for (what, lines) in [("Warning", &advice.warnings), ("Left out", &advice.left_out)] {
        for line in lines {
            let _ = writeln!(text, "- **{what}:** {}", plain(line));
        }
    }
    for line in advice.assumptions {
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// Returns the design in words.
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
        let name = match &cost.payload {
            Some(payload) => format!("{} ({payload})", cost.contender),
            None => cost.contender.clone(),
        };
        let share = percent(cost.share);
        let bulk = cost.in_bulk.map_or_else(|| NONE.to_owned(), percent);
        [name, with_ends(cost.message_ns, short), share, bulk]
    })
}

fn percent(share: Interval) -> String {
    with_ends(share, |end| digits(100.0 * end))
}
