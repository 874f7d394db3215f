//! Matching of points between two runs.
//!
//! Two points match if experiment, contender, variant, graph, metric, unit, direction and
//! parameters are equal. A parameter that calibration sets for each contender is ignored, because
//! it differs between any two runs.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde_json::json;

use crate::experiments::{ALL, Params};
use crate::profile::Profile;
use crate::results::{Figures, ResultEntry};

/// The figures of two runs, matched.
pub(super) struct Pairs<'a> {
    /// Figures in both runs, in the order of the new run.
    pub(super) both: Vec<(&'a ResultEntry, &'a ResultEntry)>,
    /// Figures in only one run or with differing parameters; one line each.
    pub(super) unmatched: Vec<String>,
}

/// A figure, its parameters without the calibrated ones, and whether it is matched.
struct Entry<'a> {
    result: &'a ResultEntry,
    params: Params,
    paired: bool,
}

pub(super) fn pair<'a>(old: &'a Figures, new: &'a Figures) -> Pairs<'a> {
    let (mut olds, mut news) = (entries(old), entries(new));
    let both = take(&mut olds, &mut news, same)
        .into_iter()
        .map(|(old, new)| (olds[old].result, news[new].result))
        .collect();
    let differing = take(&mut olds, &mut news, akin);
    let mut unmatched = Tally::default();
    for (old, new) in differing {
        let (old, new) = (&olds[old], &news[new]);
        unmatched
            .count(new.result, &format!("differs in what was asked ({})", difference(old, new)));
    }
    for (entries, run) in [(&olds, "old"), (&news, "new")] {
        for entry in entries.iter().filter(|entry| !entry.paired) {
            unmatched.count(entry.result, &format!("only in the {run} run"));
        }
    }
    Pairs { both, unmatched: unmatched.lines() }
}

fn entries(run: &Figures) -> Vec<Entry<'_>> {
    let profile = Profile::from_str(&run.profile, false).ok();
    let entry = |result: &'_ ResultEntry| asked(result, profile);
    run.results
        .iter()
        .map(|result| Entry { result, params: entry(result), paired: false })
        .collect()
}

/// Returns the parameters that were not set by calibration.
fn asked(result: &ResultEntry, profile: Option<Profile>) -> Params {
    let mut params = result.params.clone();
    let experiment = ALL.iter().find(|experiment| experiment.id == result.experiment);
    if let (Some(experiment), Some(profile)) = (experiment, profile) {
        for scaled in (experiment.points)(profile).iter().filter_map(|point| point.scaled) {
            params.remove(scaled.param);
        }
    }
    params
}

/// Returns the key that two comparable figures share.
fn same(entry: &Entry<'_>) -> String {
    let (result, params) = (entry.result, &entry.params);
    json!([akin(entry), result.unit, result.better, params]).to_string()
}

/// Returns the key that two figures of the same point share, whatever their parameters and unit.
fn akin(entry: &Entry<'_>) -> String {
    let ResultEntry { experiment, contender, variant, graph, metric, x, .. } = entry.result;
    json!([experiment, contender, variant, graph, metric, x]).to_string()
}

/// Matches unpaired entries with equal keys, each once; returns pairs in the order of the new run.
fn take(
    olds: &mut [Entry<'_>],
    news: &mut [Entry<'_>],
    key: impl Fn(&Entry<'_>) -> String,
) -> Vec<(usize, usize)> {
    let mut waiting: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, entry) in olds.iter().enumerate().rev().filter(|(_, entry)| !entry.paired) {
        waiting.entry(key(entry)).or_default().push(index);
    }
    let mut pairs = Vec::new();
    for (index, entry) in news.iter_mut().enumerate().filter(|(_, entry)| !entry.paired) {
        if let Some(old) = waiting.get_mut(&key(entry)).and_then(Vec::pop) {
            entry.paired = true;
            olds[old].paired = true;
            pairs.push((old, index));
        }
    }
    pairs
}

/// Describes how two entries with the same point differ.
fn difference(old: &Entry<'_>, new: &Entry<'_>) -> String {
    let mut differences = Vec::new();
    let mut names: Vec<&String> = old.params.keys().chain(new.params.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let [before, now] = [old, new].map(|entry| match entry.params.get(name) {
            Some(value) => value.to_string(),
            None if entry.result.params.contains_key(name) => "set by time".into(),
            None => "none".into(),
        });
        if before != now {
            differences.push(format!("{name} {before} → {now}"));
        }
    }
    for (before, now) in
        [(&old.result.unit, &new.result.unit), (&old.result.better, &new.result.better)]
    {
        if before != now {
            differences.push(format!("{before} → {now}"));
        }
    }
    differences.join(", ")
}

/// Counts figures by experiment, contender and description, in order of first occurrence.
#[derive(Default)]
struct Tally(Vec<(String, String, usize)>);

impl Tally {
    fn count(&mut self, result: &ResultEntry, text: &str) {
        let whose = format!("{} {}", result.experiment, result.contender);
        let known = self.0.iter_mut().find(|(other, words, _)| *other == whose && words == text);
        match known {
            Some((_, _, count)) => *count += 1,
            None => self.0.push((whose, text.into(), 1)),
        }
    }

    fn lines(self) -> Vec<String> {
        let line = |(whose, text, count): (String, String, usize)| match count {
            1 => format!("{whose}: {text}"),
            count => format!("{whose}: {count} figures, {text}"),
        };
        self.0.into_iter().map(line).collect()
    }
}
