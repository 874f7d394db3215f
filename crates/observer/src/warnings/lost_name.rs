//! Rule: a name that was there and is nobody's now.
//!
//! *What it sees*: a name that a process had for [`SETTLED`] or longer and that no process has at [`MISSED`]
//! looks in a row. The warning ends when somebody has the name again, or after [`FORGOTTEN`].
//!
//! *What to do*: see [`ADVICE`].
//!
//! COST: a look-up for each name; what is kept is bounded by [`MOST_KEPT`].

use std::cmp::Reverse;
use std::time::Duration;

use purlin::{Name, ProcessId};
use rustc_hash::FxHashMap;

use super::{Kind, Rule, Sighting, Subject};
use crate::census::Census;

/// What to do about it.
pub const ADVICE: &str = "Whoever sends to the name reaches nobody. If a process is to have it always, make \
     that process the child of a supervisor and have it register itself at its start; if it has done its work, \
     nothing is wrong.";

/// How long somebody must have had a name for its loss to be told. What is registered for a shorter time is
/// registered to be given up.
pub const SETTLED: Duration = Duration::from_secs(10);

/// At how many looks in a row nobody has it. A supervisor restarts a child between two looks.
pub const MISSED: u32 = 2;

/// How long it is told of: long enough to be noticed by whoever looks now and then.
pub const FORGOTTEN: Duration = Duration::from_secs(600);

/// How many names are remembered. More than a program's authors give; who names each connection is told of the
/// first so many.
pub const MOST_KEPT: usize = 10_000;

/// The rule.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// When the table was made that was looked at last.
    at: Duration,
    kept: FxHashMap<Name, Kept>,
}

#[derive(Debug)]
struct Kept {
    /// Who had it last, since when and until when.
    by: ProcessId,
    from: Duration,
    until: Duration,
    /// Looks in a row at which nobody had it.
    missed: u32,
}

impl Rule for Names {
    fn look(&mut self, census: &Census) -> Vec<Sighting> {
        let at = census.processes.made().1;
        if at > self.at {
            self.take(census, at);
        }
        let mut lost: Vec<_> = self.kept.iter().filter(|(_, kept)| kept.missed >= MISSED).collect();
        lost.sort_by_key(|(_, kept)| Reverse(kept.until));
        let told = lost.into_iter().map(|(name, kept)| Sighting {
            kind: Kind::LostName,
            line: format!("nobody is called {name} any more; {} had the name", kept.by),
            subject: Subject::Name(name.clone(), kept.by),
            since: kept.until,
        });
        told.collect()
    }
}

impl Names {
    /// Takes a new table.
    fn take(&mut self, census: &Census, at: Duration) {
        self.at = at;
        for (name, by) in census.processes.named() {
            let room = self.kept.len() < MOST_KEPT;
            if let Some(kept) = self.kept.get_mut(name) {
                let from = if kept.missed < MISSED { kept.from } else { at };
                *kept = Kept { by, from, until: at, missed: 0 };
            } else if room {
                self.kept.insert(name.clone(), Kept { by, from: at, until: at, missed: 0 });
            }
        }
        self.kept.retain(|_, kept| {
            let gone = at.saturating_sub(kept.until);
            kept.missed += u32::from(!gone.is_zero());
            let settled = kept.until.saturating_sub(kept.from) >= SETTLED;
            gone.is_zero() || (settled && gone < FORGOTTEN)
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MISSED, Names, SETTLED};
    use crate::warnings::fixture::{at, named, pid, with};
    use crate::warnings::{Rule, Sighting};

    /// What is seen when the process of this number has the name `store`, second by second.
    fn seen(by: &[Option<u32>]) -> Vec<Vec<Sighting>> {
        let mut rule = Names::default();
        let store = "store".into();
        let looks = by.iter().zip(1..);
        looks
            .map(|(by, second)| {
                let rows: Vec<_> = by.iter().map(|by| named(pid(*by), &store)).collect();
                rule.look(&with(at(second), &rows))
            })
            .collect()
    }

    #[test]
    fn a_name_that_was_there_for_long_and_is_gone_is_told_of_until_somebody_has_it() {
        let mut by = vec![Some(4); 11];
        by.extend([None, None, None, Some(5), None]);
        let seen = seen(&by);
        let told: Vec<_> = seen.iter().map(Vec::len).collect();
        assert_eq!(told[..11], [0; 11]);
        assert_eq!(told[11..], [0, 1, 1, 0, 0]);
        let due = "nobody is called store any more; <0.4.0> had the name";
        assert_eq!((seen[12][0].line.as_str(), seen[12][0].since.as_secs()), (due, 11));
    }

    #[test]
    fn a_restart_and_a_name_that_was_there_for_a_moment_are_left_alone() {
        let mut restarted = vec![Some(4); 20];
        restarted.extend([None, Some(5), Some(5), None, Some(6)]);
        let brief = [vec![Some(1); 5], vec![None; 30]].concat();
        for by in [restarted, brief] {
            assert!(seen(&by).iter().all(Vec::is_empty), "{by:?}");
        }
    }

    #[test]
    fn a_loss_is_forgotten_in_the_end() {
        let by = [vec![Some(1); 20], vec![None; 620]].concat();
        let seen = seen(&by);
        assert!(!seen[618].is_empty() && seen[619].is_empty());
    }

    proptest! {
        #[test]
        fn only_a_name_that_nobody_has_is_told_of(
            by in proptest::collection::vec(proptest::option::weighted(0.9, 1_u32..4), 1..60),
        ) {
            for (now, seen) in seen(&by).iter().enumerate() {
                if !seen.is_empty() {
                    let missed = (now + 1).saturating_sub(MISSED as usize);
                    prop_assert!(by[missed..=now].iter().all(Option::is_none));
                    prop_assert!(now >= SETTLED.as_secs() as usize);
                }
            }
        }
    }
}
