//! Renders a comparison as Markdown, for a comment on a pull request.

use super::compared::{Compared, Comparison, LEGEND};
use crate::format::short;
use crate::markdown::plain;
use crate::results::Verdict;

/// Returns warnings and notes, then the tables.
pub fn markdown(comparison: &Comparison<'_>) -> String {
    let [old, new] = comparison.runs.each_ref().map(|run| plain(run));
    let mut parts = vec![
        format!("**purlin lab compare**: {}\n", comparison.tally()),
        format!("- old: {old}\n- new: {new}\n"),
    ];
    let paragraphs = |before: &str, lines: &[String]| -> String {
        lines.iter().map(|line| format!("- {before}{}\n", plain(line))).collect()
    };
    parts.push(
        paragraphs("**Warning:** ", &comparison.warnings)
            + &paragraphs("Note: ", &comparison.notes),
    );
    parts.push(table(&comparison.primary, false));
    if !comparison.rest.is_empty() {
        let rest = table(&comparison.rest, true);
        parts
            .push(format!("<details><summary>All other figures</summary>\n\n{rest}\n</details>\n"));
    }
    if !comparison.not_compared.is_empty() {
        parts.push(format!("Not compared:\n\n{}", paragraphs("", &comparison.not_compared)));
    }
    parts.push(format!("<sub>{LEGEND}</sub>\n"));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn table(figures: &[Compared<'_>], all: bool) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let (names, rule) = if all { (" figure |", "---|") } else { ("", "") };
    let mut text = format!(
        "| experiment |{names} contender | unit | old | new | times worse | |\n\
         |---|{rule}---|---|--:|--:|--:|---|\n"
    );
    for one in figures {
        let new = one.new;
        let [before, now] = one.moved.medians.map(short);
        let figure = if all {
            format!(" {} |", plain(format!("{} {}", new.metric, new.point_and_graph()).trim_end()))
        } else {
            String::new()
        };
        let word = match one.moved.verdict {
            Verdict::Indistinguishable => one.word().to_owned(),
            Verdict::Better | Verdict::Worse => format!("**{}**", one.word()),
        };
        text.push_str(&format!(
            "| {} |{figure} {} | {} | {before} | {now} | {} | {word} |\n",
            plain(&new.experiment),
            plain(&new.contender),
            plain(&new.unit),
            one.ratio(),
        ));
    }
    text
}
