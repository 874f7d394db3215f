//! Exports the primary metrics as a Markdown table, with intervals and ratios. Pure.

use crate::format::{NONE, digits, short, with_ends};
use crate::markdown::plain;
use crate::results::{Figures, Ratio, ResultEntry, VERDICT, Verdict, control, ratios};
use crate::stats::Interval;

/// Returns a line about the run, then one row per primary metric, each followed by rows for the
/// contender's other variants that are compared.
///
/// If there is no primary metric, as in OTP's text, every figure gets a row, in one table per
/// graph.
pub(crate) fn markdown(figures: &Figures) -> String {
    let mut parts = vec![about(figures)];
    let primary: Vec<&ResultEntry> =
        figures.results.iter().filter(|result| result.primary).collect();
    if primary.is_empty() {
        for (graph, results) in by_graph(&figures.results) {
            parts.extend(graph.map(|graph| format!("### {}\n", plain(graph))));
            parts.push(table(&results, &[], true));
        }
    } else {
        let ratios = ratios(&figures.results);
        // The contender's other variants of a compared figure get rows, too.
        let beside = |one: &&'_ ResultEntry| ratios.iter().any(|ratio| ratio.is_of(one));
        let rows = primary.iter().flat_map(|one| {
            let others = one.in_other_variants(&figures.results).filter(beside);
            [*one].into_iter().chain(others)
        });
        parts.push(table(&rows.collect::<Vec<_>>(), &ratios, false));
    }
    parts.push(format!("<sub>Median, with its 95 % interval.{}</sub>\n", in_words(figures)));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Returns the legend of the verdicts and the control, if there are ratios.
fn in_words(figures: &Figures) -> String {
    let control =
        control(&figures.results).map(|control| format!("<br>{}", plain(&control.line())));
    let compared = figures.results.iter().any(|result| result.primary);
    let words = if compared { format!(" {VERDICT}") } else { String::new() };
    words + &control.unwrap_or_default()
}

/// Returns start time, profile and machine, as far as they are known.
fn about(figures: &Figures) -> String {
    let machine = figures.host.as_ref().map(|host| {
        let cores = if host.cores == 1 { "core" } else { "cores" };
        format!("{}, {} {cores}, {}", host.cpu, host.cores, host.os)
    });
    let machine = machine.unwrap_or_default();
    let stopped = if figures.interrupted { "stopped before its end" } else { "" };
    let head = [&figures.started, &figures.profile, &machine, stopped];
    let head: Vec<_> =
        head.iter().filter(|word| !word.is_empty()).map(|word| plain(word)).collect();
    let versions = figures.contenders.iter().filter(|contender| !contender.version.is_empty());
    let versions =
        versions.map(|one| format!("- {}: {}\n", plain(&one.label), plain(&one.version)));
    let versions: String = versions.collect();
    let head = if head.is_empty() { String::new() } else { format!("{}\n", head.join(", ")) };
    [head, versions].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Groups the figures by graph, in order of first occurrence.
fn by_graph(results: &[ResultEntry]) -> Vec<(Option<&str>, Vec<&ResultEntry>)> {
    let mut groups: Vec<(Option<&str>, Vec<&ResultEntry>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for result in results {
        let graph = result.graph.as_deref();
        let index = *places.entry(graph).or_insert_with(|| {
            groups.push((graph, Vec::new()));
            groups.len() - 1
        });
        groups[index].1.push(result);
    }
    groups
}

/// Renders one row per figure; `headed` if the graph is already named in a heading above.
fn table(results: &[&ResultEntry], ratios: &[Ratio], headed: bool) -> String {
    let against = ratios.first().map(|ratio| ratio.against.as_str());
    let (worse, rule) = match against {
        Some(against) => (format!(" times worse than {} |", plain(against)), "--:|"),
        None => (String::new(), ""),
    };
    let mut text = format!(
        "| experiment | contender | figure | unit | median | 95 % interval |{worse}\n\
         |---|---|---|---|--:|--:|{rule}\n"
    );
    for result in results {
        let (median, low, high) = (short(result.median), short(result.low), short(result.high));
        let names = [&result.experiment, &result.contender].map(|name| plain(name));
        text.push_str(&format!(
            "| {} | {} | {} | {median} | {low}–{high} |",
            names.join(" | "),
            plain(&figure(result, headed)),
            plain(&result.unit),
        ));
        if let Some(usual) = against {
            let own = ratios.iter().find(|ratio| ratio.is_of(result));
            text.push_str(&format!(" {} |", own.map_or(NONE.into(), |own| worse_by(own, usual))));
        }
        text.push('\n');
    }
    text
}

/// Returns the metric and the point at which it was taken.
fn figure(result: &ResultEntry, headed: bool) -> String {
    let point = if headed { result.point() } else { result.point_and_graph() };
    if point.is_empty() { result.metric.clone() } else { format!("{}: {point}", result.metric) }
}

/// Returns the ratio with its interval, the reference if it is not the usual one, and the verdict
/// if it is indistinguishable.
fn worse_by(ratio: &Ratio, usual: &str) -> String {
    let Ratio { ratio: value, low, high, .. } = *ratio;
    let times = with_ends(Interval { value, low, high }, digits);
    let than = if ratio.against == usual {
        String::new()
    } else {
        format!(" than {}", plain(&ratio.against))
    };
    let word = match ratio.verdict {
        Verdict::Indistinguishable => format!(", {}", Verdict::INDISTINGUISHABLE),
        Verdict::Better | Verdict::Worse => String::new(),
    };
    format!("{times}{than}{word}")
}
