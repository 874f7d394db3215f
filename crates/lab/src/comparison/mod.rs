//! Compares two runs: which figures changed beyond their noise. Pure.
//!
//! [`compare`] pairs the figures that both runs have at the same point and judges each pair;
//! [`text`] and [`markdown`] render the result. The result is deterministic: it depends neither on
//! the clock nor on random numbers.
//!
//! | module | role |
//! |---|---|
//! | `pairing` | matching the points of both runs, and listing those only one run has |
//! | `sides` | two contenders of one run, presented as two runs |
//! | `verdict` | whether one figure changed |
//! | `surroundings` | other differences between the runs |
//! | `text`, `markdown` | rendering |

mod markdown;
mod pairing;
mod sides;
mod surroundings;
mod text;
mod verdict;

use crate::results::ResultEntry;
use crate::stats::Interval;
use crate::stored::Figures;
use crate::table::{self, NONE, with_ends};

use pairing::pair;
use verdict::Rounds;

pub use crate::results::Verdict;
pub use markdown::markdown;
pub use sides::{Sides, sides};
pub use text::text;
pub use verdict::Moved;

/// One figure in both runs.
#[derive(Debug, Clone)]
pub struct Compared<'a> {
    /// The figure in the old run.
    pub old: &'a ResultEntry,
    /// The figure in the new run.
    pub new: &'a ResultEntry,
    /// The change between them.
    pub moved: Moved,
}

/// A comparison, ready to be rendered.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// Name, profile and start time of each run.
    pub runs: [String; 2],
    /// Reasons to doubt the comparison.
    pub warnings: Vec<String>,
    /// Other differences between the runs.
    pub notes: Vec<String>,
    /// The primary metrics.
    pub principal: Vec<Compared<'a>>,
    /// All other figures, if they were requested.
    pub rest: Vec<Compared<'a>>,
    /// Number of other figures that were not requested.
    pub unasked: usize,
    /// Figures that are not compared, each with the reason.
    pub apart: Vec<String>,
}

/// Compares two runs, each with its name; `all` includes figures other than the primary metrics.
///
/// Returns `None` if the runs have no figure in common.
///
/// COST: 4000 resamples of each figure.
#[must_use]
pub fn compare<'a>(
    old: (&str, &'a Figures),
    new: (&str, &'a Figures),
    all: bool,
) -> Option<Comparison<'a>> {
    compared(old, new, all, Rounds::Apart)
}

/// Compares two contenders of one run, round by round; otherwise like [`compare`].
///
/// Returns `None` if the contenders have no figure in common.
#[must_use]
pub fn compare_within<'a>(name: &str, sides: &'a Sides, all: bool) -> Option<Comparison<'a>> {
    let Sides { names, figures: [old, new] } = sides;
    let of = |side: &str| format!("{side} in {name}");
    let (before, now) = (of(&names[0]), of(&names[1]));
    let mut comparison = compared((&before, old), (&now, new), all, Rounds::Shared)?;
    comparison.notes.insert(0, ONE_RUN.into());
    Some(comparison)
}

fn compared<'a>(
    old: (&str, &'a Figures),
    new: (&str, &'a Figures),
    all: bool,
    rounds: Rounds,
) -> Option<Comparison<'a>> {
    let pairs = pair(old.1, new.1);
    if pairs.both.is_empty() {
        return None;
    }
    // WHY: the point of peak bandwidth is a primary metric and differs between runs; each run's
    // peak is compared with the other run's figure at the same point.
    let (principal, rest): (Vec<_>, Vec<_>) =
        pairs.both.into_iter().partition(|(old, new)| old.principal || new.principal);
    // OTP's text has no primary metrics.
    let all = all || principal.is_empty();
    let unasked = if all { 0 } else { rest.len() };
    let asked = if all { rest } else { Vec::new() };
    let of = |(name, run): (&str, &Figures)| {
        let told = [name, &run.profile, &run.started];
        told.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let (warnings, mut notes) = surroundings::differences(old.1, new.1, rounds);
    let principal = judged(principal, rounds);
    let rest = judged(asked, rounds);
    notes.extend(surroundings::unchanged_but_moved(old.1, new.1, &principal));
    notes.extend(verdict::reservations(&principal, &rest));
    Some(Comparison {
        runs: [of(old), of(new)],
        warnings,
        notes,
        principal,
        rest,
        unasked,
        apart: pairs.apart,
    })
}

/// Judges the figures of one table together.
fn judged<'a>(pairs: Vec<(&'a ResultEntry, &'a ResultEntry)>, rounds: Rounds) -> Vec<Compared<'a>> {
    let moved = verdict::judge(&pairs, rounds);
    let judged = pairs.into_iter().zip(moved);
    judged.map(|((old, new), moved)| Compared { old, new, moved }).collect()
}

impl<'a> Comparison<'a> {
    /// Returns the primary metrics that regressed by more than `percent`: the verdict is worse, and
    /// the whole confidence interval lies above the threshold.
    pub fn beyond(&self, percent: f64) -> impl Iterator<Item = &Compared<'a>> {
        self.principal.iter().filter(move |one| {
            let above = |ratio: Interval| ratio.low > 1.0 + percent / 100.0;
            one.moved.verdict == Verdict::Worse && one.moved.ratio.is_some_and(above)
        })
    }

    /// Returns the number of figures per verdict, in words.
    fn tally(&self) -> String {
        let shown = || self.principal.iter().chain(&self.rest);
        let words = ["slower", "worse", "faster", "better", Verdict::INDISTINGUISHABLE];
        let counts = words.map(|word| (shown().filter(|one| one.word() == word).count(), word));
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<_> = told.map(|(count, word)| format!("{count} {word}")).collect();
        let more = match self.unasked {
            0 => String::new(),
            count => format!("; {count} more figures with --all"),
        };
        format!("{}{more}", told.join(", "))
    }
}

impl Compared<'_> {
    /// Returns `faster`, `slower`, `better`, `worse` or `indistinguishable`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.moved.verdict.word(&self.new.unit)
    }

    /// Returns how many times worse the new figure is, with the confidence interval.
    fn ratio(&self) -> String {
        let shown = |ratio: Interval| with_ends([ratio.value, ratio.low, ratio.high], digits);
        self.moved.ratio.map_or_else(|| NONE.to_owned(), shown)
    }
}

/// Formats a ratio, with three decimals near 1, where most ratios lie.
fn digits(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) { format!("{ratio:.3}") } else { table::digits(ratio) }
}

/// Note on the advantage of comparing contenders of one run.
const ONE_RUN: &str = "both are of one run, so each round is compared with itself and what the \
                       machine did to both drops out";

/// Legend of a table.
const LEGEND: &str = "times worse: the new median against the old, with its 95 % interval; above 1 is worse, \
                      whichever way the figure goes. A change is told if the interval leaves out 1 and the \
                      ratio is off by 2 % or more, and so that of all changes told in a table about one in \
                      twenty at most is chance.";
