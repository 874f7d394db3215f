//! Compares two runs: which figures changed beyond their noise. Pure.
//!
//! [`compare`] pairs the figures that both runs have at the same point, the verdict of
//! [`results`](crate::results) judges them, and [`text()`], [`markdown()`] and
//! [`json()`] render the result. The
//! result is deterministic: it depends neither on the clock nor on random numbers.
//!
//! | module | role |
//! |---|---|
//! | `pairing` | matching the points of both runs, and listing those only one run has |
//! | `sides` | two contenders of one run, presented as two runs |
//! | `compared` | the comparison, to be rendered |
//! | `notes` | other differences between the runs, limits of the figures |
//! | `text`, `markdown`, `json` | rendering |

mod compared;
mod json;
mod markdown;
mod notes;
mod pairing;
mod sides;
mod text;

use crate::results::{Control, Figures, ResultEntry, Rounds, judge};

use pairing::pair;

pub use crate::results::{Moved, Verdict};
pub use compared::{Compared, Comparison};
pub use json::json;
pub use markdown::markdown;
pub use sides::{Sides, sides};
pub use text::text;

/// Compares two runs, each with its name; `all` includes figures other than the primary metrics.
///
/// Returns `None` if the runs have no figure in common.
///
/// COST: 4000 resamples of each figure.
pub fn compare<'a>(
    old: (&str, &'a Figures),
    new: (&str, &'a Figures),
    all: bool,
) -> Option<Comparison<'a>> {
    let mut comparison = compared(old, new, all, Rounds::Unrelated)?;
    comparison.notes.extend(notes::control(old.1, new.1));
    Some(comparison)
}

/// Compares two contenders of one run, round by round; otherwise like [`compare`].
///
/// Returns `None` if the contenders have no figure in common.
pub fn compare_within<'a>(name: &str, sides: &'a Sides, all: bool) -> Option<Comparison<'a>> {
    let Sides { names, figures: [old, new], control } = sides;
    let of = |side: &str| format!("{side} in {name}");
    let (before, now) = (of(&names[0]), of(&names[1]));
    let mut comparison = compared((&before, old), (&now, new), all, Rounds::Shared)?;
    comparison.notes.insert(0, ONE_RUN.into());
    comparison.notes.extend(control.as_ref().map(Control::line));
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
    // WHY either: the primary metric of an experiment may have changed between the versions of the lab.
    let (primary, rest): (Vec<_>, Vec<_>) =
        pairs.both.into_iter().partition(|(old, new)| old.primary || new.primary);
    // OTP's text has no primary metrics.
    let all = all || primary.is_empty();
    let unasked = if all { 0 } else { rest.len() };
    let asked = if all { rest } else { Vec::new() };
    let of = |(name, run): (&str, &Figures)| {
        let words = [name, &run.profile, &run.started];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let (warnings, mut notes) = notes::differences(old.1, new.1, rounds);
    let primary = judged(primary, rounds);
    let rest = judged(asked, rounds);
    notes.extend(notes::unchanged_but_moved(old.1, new.1, &primary));
    notes.extend(notes::reservations(&primary, &rest));
    Some(Comparison {
        runs: [of(old), of(new)],
        warnings,
        notes,
        primary,
        rest,
        unasked,
        not_compared: pairs.unmatched,
    })
}

/// Judges the figures of one table together.
fn judged<'a>(pairs: Vec<(&'a ResultEntry, &'a ResultEntry)>, rounds: Rounds) -> Vec<Compared<'a>> {
    let moved = judge(&pairs, rounds);
    let judged = pairs.into_iter().zip(moved);
    judged.map(|((old, new), moved)| Compared { old, new, moved }).collect()
}

/// Note on the advantage of comparing contenders of one run.
const ONE_RUN: &str = "both are of one run, so each round is compared with itself and what the \
                       machine did to both drops out";
