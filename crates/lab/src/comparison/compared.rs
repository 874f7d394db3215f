//! Result of a comparison, ready to be rendered.

use crate::format::{self, NONE, with_ends};
use crate::profile::FEWEST;
use crate::results::{Moved, ResultEntry, Verdict};
use crate::stats::Interval;

/// Legend of a table.
pub(super) const LEGEND: &str = "times worse: the new median against the old, with its 95 % interval; above 1 is worse, \
                      whichever way the figure goes. A change is significant if the interval excludes 1, the ratio \
                      is off by 2 % or more, and a test of the samples agrees; about one in twenty of the changes \
                      in a table at most is chance.";

/// The word for a figure with too few rounds.
const NOT_JUDGED: &str = "not judged";

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
    pub primary: Vec<Compared<'a>>,
    /// All other figures, if they were requested.
    pub rest: Vec<Compared<'a>>,
    /// Number of other figures that were not requested.
    pub unasked: usize,
    /// Figures that are not compared, each with the reason.
    pub not_compared: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Returns the primary metrics that regressed by more than `percent`: the verdict is worse, and
    /// the whole confidence interval lies above the threshold.
    pub fn beyond(&self, percent: f64) -> impl Iterator<Item = &Compared<'a>> {
        self.primary.iter().filter(move |one| {
            let above = |ratio: Interval| ratio.low > 1.0 + percent / 100.0;
            one.moved.verdict == Verdict::Worse && one.moved.ratio.is_some_and(above)
        })
    }

    /// Returns the number of figures per verdict, in words.
    pub(super) fn tally(&self) -> String {
        let shown = || self.primary.iter().chain(&self.rest);
        let words = ["slower", "worse", "faster", "better", Verdict::INDISTINGUISHABLE, NOT_JUDGED];
        let counts = words.map(|word| (shown().filter(|one| one.word() == word).count(), word));
        let counted = counts.iter().filter(|(count, _)| *count > 0);
        let counted: Vec<_> = counted.map(|(count, word)| format!("{count} {word}")).collect();
        let more = match self.unasked {
            0 => String::new(),
            count => format!("; {count} more figures with --all"),
        };
        format!("{}{more}", counted.join(", "))
    }
}

impl Compared<'_> {
    /// Returns `faster`, `slower`, `better`, `worse` or `indistinguishable`; `not judged` for too few
    /// rounds.
    pub fn word(&self) -> &'static str {
        if self.moved.rounds < FEWEST {
            NOT_JUDGED
        } else {
            self.moved.verdict.word(&self.new.unit)
        }
    }

    /// Returns how many times worse the new figure is, with the confidence interval.
    pub(super) fn ratio(&self) -> String {
        self.moved.ratio.map_or_else(|| NONE.to_owned(), |ratio| with_ends(ratio, digits))
    }
}

/// Formats a ratio, with three decimals near 1, where most ratios lie.
fn digits(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) { format!("{ratio:.3}") } else { format::digits(ratio) }
}
