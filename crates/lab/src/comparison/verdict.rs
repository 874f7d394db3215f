//! Whether a figure moved beyond its noise.
//!
//! A change is told where all of these hold:
//!
//! - the 95 % interval of the ratio of medians, from resampling, leaves out 1;
//! - the rank-sum test of the samples is among the discoveries of its table at
//!   a rate of one in twenty;
//! - the ratio is away from 1 by two percent or more.
//!
//! The first alone would be wrong in every twentieth figure that did not move,
//! and more often with a dozen samples; the second alone would call two sets
//! different that have the same median and another spread. Both allow for
//! rounds that resemble their neighbours, because machines drift. The third is
//! for what no sample of a run can show: how far the same program is from
//! itself in the next run.
//!
//! Where both are of one run, each round of the one is compared with the same round of the other:
//! what the machine did to both drops out. The ratio is then the median of the rounds' ratios with
//! the interval of a median, and the sign test takes the place of the rank sums.

use std::cmp::Ordering;

use super::Compared;
use crate::profile::FEWEST;
use crate::results::{ResultEntry, Verdict};
use crate::stats::{self, Interval};

/// The share of chance among the changes told.
const CHANCE: f64 = 0.05;

/// How far from 1 a ratio must be: two runs of the same program differ by about one percent.
const LEAST: f64 = 0.02;

/// From which inflation of the variance on a figure is said to have drifted.
const DRIFTED: f64 = 1.5;

/// Of the resampling: the same files are to give the same words.
const SEED: u64 = 5;

/// What became of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The old median and the new.
    pub medians: [f64; 2],
    /// How many times worse the new one is; none where either cannot be told from zero.
    pub ratio: Option<Interval>,
    /// What the variance was multiplied by, because neighbouring rounds resemble each other.
    pub inflation: f64,
    /// The outcome.
    pub verdict: Verdict,
}

impl Verdict {
    /// As a reader sees it: what is no time and no rate is not faster, but better.
    #[must_use]
    pub fn word(self, unit: &str) -> &'static str {
        let speed = unit.ends_with("/s") || ["ns", "µs", "ms", "s", "ticks"].contains(&unit);
        match (self, speed) {
            (Self::Better, true) => "faster",
            (Self::Worse, true) => "slower",
            (Self::Better, false) => "better",
            (Self::Worse, false) => "worse",
            (Self::Indistinguishable, _) => Self::INDISTINGUISHABLE,
        }
    }
}

/// What the rounds of two sets of samples have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounds {
    /// Nothing: they are of two runs.
    Apart,
    /// They are the same: one run took both.
    Shared,
}

/// Judges figures that are read together, the old and the new of each.
pub(super) fn judge(pairs: &[(&ResultEntry, &ResultEntry)], rounds: Rounds) -> Vec<Moved> {
    let evidence: Vec<_> = pairs.iter().map(|(old, new)| Evidence::of(old, new, rounds)).collect();
    let probabilities: Vec<_> = evidence.iter().map(|one| one.probability).collect();
    let differ = stats::discoveries(&probabilities, CHANCE);
    let all = pairs.iter().zip(evidence).zip(differ);
    all.map(|(((old, new), evidence), differs)| moved(old, new, evidence, differs)).collect()
}

/// What two sets of samples say about each other.
struct Evidence {
    inflation: f64,
    probability: f64,
    /// How many times worse, not yet widened.
    ratio: Option<Interval>,
}

impl Evidence {
    fn of(old: &ResultEntry, new: &ResultEntry, rounds: Rounds) -> Self {
        // WHY: where a round of one is void, the rest cannot be told apart by their places.
        if rounds == Rounds::Shared && old.samples.len() == new.samples.len() {
            return Self::of_pairs(old, new);
        }
        let inflation = stats::persistence(&[&old.samples, &new.samples]);
        let probability = stats::rank_sum(&old.samples, &new.samples, inflation).unwrap_or(1.0);
        let (over, under) = worse_over_better(old, new);
        Self { inflation, probability, ratio: ratio(over, under) }
    }

    fn of_pairs(old: &ResultEntry, new: &ResultEntry) -> Self {
        let (over, under) = worse_over_better(old, new);
        let pairs = || over.iter().zip(under);
        let positive = pairs().all(|(over, under)| *over > 0.0 && *under > 0.0);
        // The ratios by their logarithms, so that twice and half are as far from once.
        let apart = |(over, under): (&f64, &f64)| match positive {
            true => (over / under).ln(),
            false => over - under,
        };
        let apart: Vec<f64> = pairs().map(apart).collect();
        let inflation = stats::persistence(&[&apart]);
        let ratio = stats::median_interval(&apart).filter(|_| positive).map(|logs| Interval {
            value: logs.value.exp(),
            low: logs.low.exp(),
            high: logs.high.exp(),
        });
        let probability = stats::sign_test(&apart, inflation).unwrap_or(1.0);
        Self { inflation, probability, ratio }
    }
}

/// The samples of which more is worse in the new one, over those of the old.
fn worse_over_better<'a>(old: &'a ResultEntry, new: &'a ResultEntry) -> (&'a [f64], &'a [f64]) {
    if new.better == "higher" { (&old.samples, &new.samples) } else { (&new.samples, &old.samples) }
}

fn moved(old: &ResultEntry, new: &ResultEntry, evidence: Evidence, differs: bool) -> Moved {
    let medians = [old, new].map(|one| stats::median(&one.samples).unwrap_or(f64::NAN));
    let higher = new.better == "higher";
    let inflation = evidence.inflation;
    let ratio = evidence.ratio.map(|ratio| ratio.widened(inflation.sqrt()));
    let apart = ratio.is_none_or(|ratio| {
        ratio.excludes(1.0) && ratio.value.max(1.0 / ratio.value) >= 1.0 + LEAST
    });
    // WHY: where there is a ratio it has the word, so that both always say the same.
    let way = match ratio {
        Some(ratio) => ratio.value.partial_cmp(&1.0),
        None if higher => medians[0].partial_cmp(&medians[1]),
        None => medians[1].partial_cmp(&medians[0]),
    };
    let verdict = match way {
        Some(Ordering::Greater) if differs && apart => Verdict::Worse,
        Some(Ordering::Less) if differs && apart => Verdict::Better,
        _ => Verdict::Indistinguishable,
    };
    Moved { medians, ratio, inflation, verdict }
}

/// The ratio of medians; that of the two swapped is exactly its inverse.
fn ratio(over: &[f64], under: &[f64]) -> Option<Interval> {
    // WHY: resampling draws for the first set first, so the order must not be the caller's.
    if over.partial_cmp(under) == Some(Ordering::Less) {
        return stats::ratio_of_medians(under, over, SEED).map(Interval::inverse);
    }
    stats::ratio_of_medians(over, under, SEED)
}

/// What a reader should know of the figures that are shown.
pub(super) fn reservations(principal: &[Compared<'_>], rest: &[Compared<'_>]) -> Vec<String> {
    let shown = || principal.iter().chain(rest);
    let mut notes = Vec::new();
    let few = |one: &&Compared<'_>| one.old.samples.len().min(one.new.samples.len()) < FEWEST;
    let count = shown().filter(few).count();
    if count > 0 {
        notes.push(format!(
            "{} fewer than {FEWEST} samples, of which hardly any change can be told",
            figures(count)
        ));
    }
    let count = shown().filter(|one| one.moved.inflation >= DRIFTED).count();
    if count > 0 {
        notes.push(format!(
            "{} drifted within a run; a machine that does so drifts between runs too",
            figures(count)
        ));
    }
    if shown().any(|one| one.moved.ratio.is_none()) {
        notes.push(
            "no ratio (—) where a figure cannot be told from zero; --fail-above does not judge it"
                .into(),
        );
    }
    notes
}

fn figures(count: usize) -> String {
    if count == 1 { "1 figure has".into() } else { format!("{count} figures have") }
}
