//! Whether two figures differ beyond their noise: the one verdict of table, page, export and compare.
//!
//! Two figures of one run are compared round by round. The ratio is the median of the rounds'
//! ratios, with the confidence interval of a median, which cancels what affected both in a round.
//! Rounds are paired by number, so an invalid sample costs its own round only. A difference is
//! reported if all of these hold:
//!
//! - the 95 % confidence interval of the ratio excludes 1;
//! - the sign test of the rounds is among the discoveries of its table at a false discovery rate of
//!   5 %;
//! - the ratio differs from 1 by 2 % or more.
//!
//! Figures of two runs share no rounds. Their ratio is that of the medians, with its interval from
//! resampling, and the rank-sum test replaces the sign test.
//!
//! The first condition alone gives a false positive for 1 in 20 unchanged figures, and more often
//! with a dozen samples. The second alone reports two sets with the same median and a different
//! spread. Both account for autocorrelation of neighbouring rounds, because machines drift. The
//! third covers what no sample of a run can show: the difference between two runs of the same
//! program.
//!
//! Fewer than [`FEWEST`] rounds have no ratio: even the range of their ratios contains the true one
//! with less than 95 % probability.

use std::cmp::Ordering;

use super::schema::{ResultEntry, Verdict};
use crate::profile::FEWEST;
use crate::stats::{self, Interval};

/// False discovery rate of the reported changes.
const CHANCE: f64 = 0.05;

/// Minimum distance of a ratio from 1: two runs of the same program differ by about 1 %.
const LEAST: f64 = 0.02;

/// Description of the verdict for a reader; one line.
pub(crate) const VERDICT: &str = "indistinguishable: not different by 2 % or more beyond the noise of \
                                  the rounds, at most one in twenty of the differences being chance";

/// Seed of the resampling, fixed so that the same files give the same verdicts.
const SEED: u64 = 5;

/// The change of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The old and the new median.
    pub medians: [f64; 2],
    /// The number of rounds that both figures have; for two runs, the smaller number of samples.
    pub rounds: usize,
    /// How many times worse the new figure is; `None` if either figure cannot be distinguished from
    /// 0, and for fewer than [`FEWEST`] rounds.
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
pub(crate) enum Rounds {
    /// Unrelated: the samples are of two runs.
    Unrelated,
    /// Shared: one run took both.
    Shared,
}

/// Judges the figures of one table together, each as a pair of old and new.
pub(crate) fn judge(pairs: &[(&ResultEntry, &ResultEntry)], rounds: Rounds) -> Vec<Moved> {
    let evidence: Vec<_> = pairs.iter().map(|(old, new)| Evidence::of(old, new, rounds)).collect();
    // WHY: a figure with too few rounds is not tested, so it must not weaken the other tests.
    let probabilities: Vec<_> = evidence.iter().filter_map(|one| one.probability).collect();
    let mut differ = stats::discoveries(&probabilities, CHANCE).into_iter();
    let judged = pairs.iter().zip(evidence).map(|((old, new), evidence)| {
        let differs = evidence.probability.is_some() && differ.next() == Some(true);
        moved(old, new, evidence, differs)
    });
    judged.collect()
}

/// Statistics of two sets of samples.
struct Evidence {
    rounds: usize,
    inflation: f64,
    /// The p-value; `None` for too few rounds.
    probability: Option<f64>,
    /// How many times worse, before the interval is widened.
    ratio: Option<Interval>,
    /// Whether the typical difference that the test examines is worse (`Greater`).
    way: Option<Ordering>,
}

impl Evidence {
    fn of(old: &ResultEntry, new: &ResultEntry, rounds: Rounds) -> Self {
        let (over, under) = if new.better == "higher" { (old, new) } else { (new, old) };
        match rounds {
            Rounds::Shared => Self::of_pairs(&pairs(over, under)),
            Rounds::Unrelated => Self::of_sets(&over.samples, &under.samples),
        }
    }

    /// Returns the statistics of two sets; a larger ratio of first to second is worse.
    fn of_sets(over: &[f64], under: &[f64]) -> Self {
        let rounds = over.len().min(under.len());
        if rounds < FEWEST {
            return Self::of_too_few(rounds);
        }
        let inflation = stats::persistence(&[over, under]);
        let probability = stats::rank_sum(over, under, inflation);
        let medians = stats::median(over).zip(stats::median(under));
        let way = medians.and_then(|(over, under)| over.partial_cmp(&under));
        Self { rounds, inflation, probability, ratio: ratio(over, under), way }
    }

    /// Returns the statistics of pairs; a larger ratio of first to second is worse.
    fn of_pairs(pairs: &[(f64, f64)]) -> Self {
        let rounds = pairs.len();
        if rounds < FEWEST {
            return Self::of_too_few(rounds);
        }
        let positive = pairs.iter().all(|(over, under)| *over > 0.0 && *under > 0.0);
        // Logarithms of the ratios, so that 2 and 1/2 are equally far from 1.
        let difference = |(over, under): &(f64, f64)| match positive {
            true => (over / under).ln(),
            false => over - under,
        };
        let differences: Vec<f64> = pairs.iter().map(difference).collect();
        let inflation = stats::persistence(&[&differences]);
        let ratio = stats::median_interval(&differences).filter(|_| positive).map(|logs| {
            Interval { value: logs.value.exp(), low: logs.low.exp(), high: logs.high.exp() }
        });
        let probability = stats::sign_test(&differences, inflation);
        let way = stats::median(&differences).and_then(|median| median.partial_cmp(&0.0));
        Self { rounds, inflation, probability, ratio, way }
    }

    fn of_too_few(rounds: usize) -> Self {
        Self { rounds, inflation: 1.0, probability: None, ratio: None, way: None }
    }
}

/// Returns the samples of the rounds that both figures have.
fn pairs(over: &ResultEntry, under: &ResultEntry) -> Vec<(f64, f64)> {
    let own = over.rounds.iter().zip(&over.samples);
    own.filter_map(|(round, sample)| Some((*sample, under.in_round(*round)?))).collect()
}

fn moved(old: &ResultEntry, new: &ResultEntry, evidence: Evidence, differs: bool) -> Moved {
    let medians = [old, new].map(|one| stats::median(&one.samples).unwrap_or(f64::NAN));
    let Evidence { rounds, inflation, .. } = evidence;
    let ratio = evidence.ratio.map(|ratio| ratio.widened(inflation.sqrt()));
    let distinct = ratio.is_none_or(|ratio| {
        ratio.excludes(1.0) && ratio.value.max(1.0 / ratio.value) >= 1.0 + LEAST
    });
    // WHY: if there is a ratio it decides the direction, so that ratio and verdict never
    // contradict.
    let way = match ratio {
        Some(ratio) => ratio.value.partial_cmp(&1.0),
        None => evidence.way,
    };
    let verdict = match way {
        Some(Ordering::Greater) if differs && distinct => Verdict::Worse,
        Some(Ordering::Less) if differs && distinct => Verdict::Better,
        _ => Verdict::Indistinguishable,
    };
    Moved { medians, rounds, ratio, inflation, verdict }
}

/// Returns the ratio of medians; swapping the arguments gives exactly the inverse.
fn ratio(over: &[f64], under: &[f64]) -> Option<Interval> {
    // WHY: resampling draws for the first set first, so the order must not depend on the caller.
    if over.partial_cmp(under) == Some(Ordering::Less) {
        return stats::ratio_of_medians(under, over, SEED).map(Interval::inverse);
    }
    stats::ratio_of_medians(over, under, SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(rounds: &[usize], samples: &[f64]) -> ResultEntry {
        ResultEntry {
            rounds: rounds.to_vec(),
            samples: samples.to_vec(),
            better: "lower".into(),
            ..ResultEntry::default()
        }
    }

    fn judged(old: &ResultEntry, new: &ResultEntry) -> Moved {
        judge(&[(old, new)], Rounds::Shared)[0]
    }

    /// The machine is slower by half from round to round; the new figure is 10 % worse in each.
    #[test]
    fn rounds_are_paired_by_their_number() {
        let rounds: Vec<usize> = (1..=9).collect();
        let speed = |round: &usize| 100.0 * 1.5f64.powi(i32::try_from(*round).unwrap() % 4);
        let old: Vec<f64> = rounds.iter().map(speed).collect();
        let new: Vec<f64> = old.iter().map(|sample| 1.1 * sample).collect();
        let whole = judged(&figure(&rounds, &old), &figure(&rounds, &new));
        // The third round of the one and the sixth of the other are invalid.
        let without = |values: &[f64], round: usize| {
            let kept = rounds.iter().zip(values).filter(|(other, _)| **other != round);
            let (rounds, values): (Vec<usize>, Vec<f64>) = kept.unzip();
            figure(&rounds, &values)
        };
        let partial = judged(&without(&old, 3), &without(&new, 6));
        assert_eq!((whole.rounds, partial.rounds), (9, 7));
        for moved in [whole, partial] {
            assert_eq!(moved.verdict, Verdict::Worse);
            let ratio = moved.ratio.expect("there are enough rounds");
            assert!((ratio.low - 1.1).abs() < 1e-9 && (ratio.high - 1.1).abs() < 1e-9, "{ratio:?}");
        }
    }

    #[test]
    fn fewer_than_six_shared_rounds_have_no_ratio() {
        let old = figure(&[1, 2, 3, 4, 5, 6, 7], &[1.0; 7]);
        let new = figure(&[3, 4, 5, 6, 7, 8, 9], &[5.0; 7]);
        let moved = judged(&old, &new);
        assert_eq!((moved.rounds, moved.ratio), (5, None));
        assert_eq!(moved.verdict, Verdict::Indistinguishable);
        let few = figure(&[1, 2, 3, 4, 5], &[5.0; 5]);
        assert_eq!(judge(&[(&old, &few)], Rounds::Unrelated)[0].ratio, None);
    }

    #[test]
    fn without_a_ratio_the_verdict_has_the_direction_of_the_differences() {
        let rounds: Vec<usize> = (1..=11).collect();
        let old: Vec<f64> = rounds.iter().map(|&round| round as f64).collect();
        let mut new: Vec<f64> = old.iter().map(|sample| sample + 0.1).collect();
        // The median falls, although ten of eleven rounds are worse.
        new[10] = -5.0;
        let moved = judged(&figure(&rounds, &old), &figure(&rounds, &new));
        assert_eq!((moved.ratio, moved.verdict), (None, Verdict::Worse));
    }

    #[test]
    fn figure_with_too_few_rounds_does_not_weaken_the_tests_of_others() {
        let rounds: Vec<usize> = (1..=6).collect();
        let (old, new) = (figure(&rounds, &[1.0; 6]), figure(&rounds, &[1.5; 6]));
        let few = figure(&rounds[..3], &[1.0; 3]);
        let mut table = vec![(&old, &new)];
        table.resize(10, (&few, &few));
        assert_eq!(judge(&table, Rounds::Shared)[0].verdict, Verdict::Worse);
    }

    #[test]
    fn verdict_is_stored_as_a_word() {
        let stored = serde_json::to_value(Verdict::Indistinguishable).unwrap();
        assert_eq!(stored, "indistinguishable");
    }
}
