//! Whether a figure changed beyond its noise.
//!
//! A change is reported if all of these hold:
//!
//! - the 95 % confidence interval of the ratio of medians, from resampling, excludes 1;
//! - the rank-sum test of the samples is among the discoveries of its table at a false discovery
//!   rate of 5 %;
//! - the ratio differs from 1 by 2 % or more.
//!
//! The first condition alone gives a false positive for 1 in 20 unchanged figures, and more often
//! with a dozen samples. The second alone reports two sets with the same median and a different
//! spread. Both account for autocorrelation of neighbouring rounds, because machines drift. The
//! third covers what no sample of a run can show: the difference between two runs of the same
//! program.
//!
//! If both contenders are of one run, each round of the one is compared with the same round of the
//! other, which cancels what affected both. The ratio is then the median of the rounds' ratios with
//! the confidence interval of a median, and the sign test replaces the rank-sum test.

use std::cmp::Ordering;

use crate::results::{ResultEntry, Verdict};
use crate::stats::{self, Interval};

/// False discovery rate of the reported changes.
const CHANCE: f64 = 0.05;

/// Minimum distance of a ratio from 1: two runs of the same program differ by about 1 %.
const LEAST: f64 = 0.02;

/// Seed of the resampling, fixed so that the same files give the same verdicts.
const SEED: u64 = 5;

/// The change of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The old and the new median.
    pub medians: [f64; 2],
    /// How many times worse the new figure is; `None` if either median cannot be distinguished from
    /// 0.
    pub ratio: Option<Interval>,
    /// Factor by which the variance was multiplied to account for autocorrelation of the rounds.
    pub inflation: f64,
    /// The verdict.
    pub verdict: Verdict,
}

impl Verdict {
    /// Returns the word a reader sees: a figure that is neither a time nor a rate gets `better`
    /// instead of `faster`.
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

/// Relation between the rounds of two sets of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounds {
    /// Unrelated: the samples are of two runs.
    Unrelated,
    /// Shared: one run took both.
    Shared,
}

/// Judges figures of one table, each as a pair of old and new.
pub(super) fn compare(pairs: &[(&ResultEntry, &ResultEntry)], rounds: Rounds) -> Vec<Moved> {
    let evidence: Vec<_> = pairs.iter().map(|(old, new)| Evidence::of(old, new, rounds)).collect();
    let probabilities: Vec<_> = evidence.iter().map(|one| one.probability).collect();
    let differ = stats::discoveries(&probabilities, CHANCE);
    let all = pairs.iter().zip(evidence).zip(differ);
    all.map(|(((old, new), evidence), differs)| moved(old, new, evidence, differs)).collect()
}

/// Statistics of two sets of samples.
struct Evidence {
    inflation: f64,
    probability: f64,
    /// How many times worse, before the interval is widened.
    ratio: Option<Interval>,
}

impl Evidence {
    fn of(old: &ResultEntry, new: &ResultEntry, rounds: Rounds) -> Self {
        // WHY: if a round of one set is invalid, the remaining samples cannot be matched by
        // position.
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
        // Logarithms of the ratios, so that 2 and 1/2 are equally far from 1.
        let difference = |(over, under): (&f64, &f64)| match positive {
            true => (over / under).ln(),
            false => over - under,
        };
        let differences: Vec<f64> = pairs().map(difference).collect();
        let inflation = stats::persistence(&[&differences]);
        let ratio = stats::median_interval(&differences).filter(|_| positive).map(|logs| {
            Interval { value: logs.value.exp(), low: logs.low.exp(), high: logs.high.exp() }
        });
        let probability = stats::sign_test(&differences, inflation).unwrap_or(1.0);
        Self { inflation, probability, ratio }
    }
}

/// Returns the samples so that a larger ratio of first to second means the new figure is worse.
fn worse_over_better<'a>(old: &'a ResultEntry, new: &'a ResultEntry) -> (&'a [f64], &'a [f64]) {
    if new.better == "higher" { (&old.samples, &new.samples) } else { (&new.samples, &old.samples) }
}

fn moved(old: &ResultEntry, new: &ResultEntry, evidence: Evidence, differs: bool) -> Moved {
    let medians = [old, new].map(|one| stats::median(&one.samples).unwrap_or(f64::NAN));
    let higher = new.better == "higher";
    let inflation = evidence.inflation;
    let ratio = evidence.ratio.map(|ratio| ratio.widened(inflation.sqrt()));
    let distinct = ratio.is_none_or(|ratio| {
        ratio.excludes(1.0) && ratio.value.max(1.0 / ratio.value) >= 1.0 + LEAST
    });
    // WHY: if there is a ratio it decides the direction, so that ratio and verdict never
    // contradict.
    let way = match ratio {
        Some(ratio) => ratio.value.partial_cmp(&1.0),
        None if higher => medians[0].partial_cmp(&medians[1]),
        None => medians[1].partial_cmp(&medians[0]),
    };
    let verdict = match way {
        Some(Ordering::Greater) if differs && distinct => Verdict::Worse,
        Some(Ordering::Less) if differs && distinct => Verdict::Better,
        _ => Verdict::Indistinguishable,
    };
    Moved { medians, ratio, inflation, verdict }
}

/// Returns the ratio of medians; swapping the arguments gives exactly the inverse.
fn ratio(over: &[f64], under: &[f64]) -> Option<Interval> {
    // WHY: resampling draws for the first set first, so the order must not depend on the caller.
    if over.partial_cmp(under) == Some(Ordering::Less) {
        return stats::ratio_of_medians(under, over, SEED).map(Interval::inverse);
    }
    stats::ratio_of_medians(over, under, SEED)
}
