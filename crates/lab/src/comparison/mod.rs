//! Two runs compared: which figures moved beyond their noise. Pure.
//!
//! [`compare`] pairs the figures that both runs have at the same point and
//! judges them; [`text`] and [`markdown`] show the outcome. Nothing is read
//! from the clock or by chance: the same files always give the same words.
//!
//! | module | role |
//! |---|---|
//! | `pairing` | what is the same point in both runs, and what only one of them has |
//! | `sides` | two contenders of one run, as if they were two runs |
//! | `verdict` | whether one figure moved |
//! | `surroundings` | in what else the runs differ |
//! | `text`, `markdown` | what is shown |

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
    /// As the old run has it.
    pub old: &'a ResultEntry,
    /// As the new one has it.
    pub new: &'a ResultEntry,
    /// What became of it.
    pub moved: Moved,
}

/// A comparison, ready to be shown.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// What the two runs are called, when and how each was made.
    pub runs: [String; 2],
    /// What makes the comparison doubtful.
    pub warnings: Vec<String>,
    /// What else differs.
    pub notes: Vec<String>,
    /// The figures by which the contenders are judged.
    pub principal: Vec<Compared<'a>>,
    /// All others, if they were asked for.
    pub rest: Vec<Compared<'a>>,
    /// How many others there are that were not asked for.
    pub unasked: usize,
    /// What is not compared, and why.
    pub apart: Vec<String>,
}

/// Compares two runs, each with its name; `all` asks for more than the principal figures.
///
/// `None` if they have no figure in common.
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

/// Compares two contenders of one run, round by round; else as [`compare`].
///
/// `None` if they have no figure in common.
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
    // WHY: a bandwidth has its peak where it is; the peaks of both runs are compared where each lies.
    let (principal, rest): (Vec<_>, Vec<_>) =
        pairs.both.into_iter().partition(|(old, new)| old.principal || new.principal);
    // OTP's text has no principal figures.
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

/// Judges figures that are read together.
fn judged<'a>(pairs: Vec<(&'a ResultEntry, &'a ResultEntry)>, rounds: Rounds) -> Vec<Compared<'a>> {
    let moved = verdict::judge(&pairs, rounds);
    let judged = pairs.into_iter().zip(moved);
    judged.map(|((old, new), moved)| Compared { old, new, moved }).collect()
}

impl<'a> Comparison<'a> {
    /// The principal figures that got worse by more than so many percent beyond their noise:
    /// they are told worse, and the whole interval lies above the bound.
    pub fn beyond(&self, percent: f64) -> impl Iterator<Item = &Compared<'a>> {
        self.principal.iter().filter(move |one| {
            let above = |ratio: Interval| ratio.low > 1.0 + percent / 100.0;
            one.moved.verdict == Verdict::Worse && one.moved.ratio.is_some_and(above)
        })
    }

    /// How many figures of each verdict there are, in words.
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
    /// `faster`, `slower`, `better`, `worse` or `indistinguishable`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.moved.verdict.word(&self.new.unit)
    }

    /// How many times worse, with the interval.
    fn ratio(&self) -> String {
        let shown = |ratio: Interval| with_ends([ratio.value, ratio.low, ratio.high], digits);
        self.moved.ratio.map_or_else(|| NONE.to_owned(), shown)
    }
}

/// Three digits behind the point near 1, where most ratios lie.
fn digits(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) { format!("{ratio:.3}") } else { table::digits(ratio) }
}

/// What makes the comparison of one run's contenders the better one.
const ONE_RUN: &str = "both are of one run, so each round is compared with itself and what the \
                       machine did to both drops out";

/// How a table of them is read.
const LEGEND: &str = "times worse: the new median against the old, with its 95 % interval; above 1 is worse, \
                      whichever way the figure goes. A change is told if the interval leaves out 1 and the \
                      ratio is off by 2 % or more, and so that of all changes told in a table about one in \
                      twenty at most is chance.";
