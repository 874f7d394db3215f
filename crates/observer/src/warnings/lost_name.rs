//! Rule: a registered name that has lost its process.
//!
//! *Detects*: a name that was registered for [`MIN_REGISTERED`] or longer and has been unregistered in [`MISSED`]
//! consecutive tables. The warning ends when the name is registered again, or after [`FORGET_AFTER`].
//!
//! *Advice*: see [`ADVICE`].
//!
//! COST: a look-up per name; memory is bounded by [`MOST_KEPT`].

use std::cmp::Reverse;
use std::time::Duration;

use purlin::{Name, ProcessId};
use rustc_hash::FxHashMap;

use super::rule::Rule;
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "Messages to the name are lost. If a process is to have it always, make \
     that process the child of a supervisor and have it register itself at its start; if it has done its work, \
     nothing is wrong.";

/// Shortest registration whose loss is reported. A name registered for a shorter time is assumed to be temporary.
pub const MIN_REGISTERED: Duration = Duration::from_secs(10);

/// Number of consecutive tables without the name. A supervisor restarts a child between two tables.
pub const MISSED: u32 = 2;

/// Duration of the warning: long enough for an operator who checks now and then.
pub const FORGET_AFTER: Duration = Duration::from_secs(600);

/// Largest number of tracked names, more than a program's authors choose. In a program that names each connection only
/// the first names are tracked.
pub const MOST_KEPT: usize = 10_000;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Time at which the last checked table was completed.
    at: Duration,
    kept: FxHashMap<Name, Kept>,
}

/// History of a registered name.
#[derive(Debug)]
struct Kept {
    /// Last process with the name, and the first and the last time at which it was registered.
    by: ProcessId,
    from: Duration,
    until: Duration,
    /// Consecutive tables without the name.
    missed: u32,
}

impl Rule for Names {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let at = snapshot.processes.made().1;
        if at > self.at {
            self.take(snapshot, at);
        }
        let mut lost: Vec<_> = self.kept.iter().filter(|(_, kept)| kept.missed >= MISSED).collect();
        lost.sort_by_key(|(_, kept)| Reverse(kept.until));
        let reported = lost.into_iter().map(|(name, kept)| Warning {
            kind: Kind::LostName,
            line: format!("name {name} is not registered any more; {} had it", kept.by),
            subject: Subject::Name(name.clone(), kept.by),
            since: kept.until,
        });
        reported.collect()
    }
}

impl Names {
    /// Checks a new table.
    fn take(&mut self, snapshot: &Snapshot, at: Duration) {
        self.at = at;
        for (name, by) in snapshot.processes.named() {
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
            let was_stable = kept.until.saturating_sub(kept.from) >= MIN_REGISTERED;
            gone.is_zero() || (was_stable && gone < FORGET_AFTER)
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MIN_REGISTERED, MISSED, Names};
    use crate::snapshot::fixture::{at, named, pid, with};
    use crate::warnings::Warning;
    use crate::warnings::rule::Rule;

    /// Runs the rule second by second; the process with that number is registered as `store`.
    fn seen(by: &[Option<u32>]) -> Vec<Vec<Warning>> {
        let mut rule = Names::default();
        let store = "store".into();
        let snapshots = by.iter().zip(1..);
        snapshots
            .map(|(by, second)| {
                let rows: Vec<_> = by.iter().map(|by| named(pid(*by), &store)).collect();
                rule.check(&with(at(second), &rows))
            })
            .collect()
    }

    #[test]
    fn a_settled_name_that_is_lost_is_reported_until_it_is_registered_again() {
        let mut by = vec![Some(4); 11];
        by.extend([None, None, None, Some(5), None]);
        let seen = seen(&by);
        let reported: Vec<_> = seen.iter().map(Vec::len).collect();
        assert_eq!(reported[..11], [0; 11]);
        assert_eq!(reported[11..], [0, 1, 1, 0, 0]);
        let due = "name store is not registered any more; <0.4.0> had it";
        assert_eq!((seen[12][0].line.as_str(), seen[12][0].since.as_secs()), (due, 11));
    }

    #[test]
    fn a_restart_or_a_short_registration_is_not_reported() {
        let mut restarted = vec![Some(4); 20];
        restarted.extend([None, Some(5), Some(5), None, Some(6)]);
        let brief = [vec![Some(1); 5], vec![None; 30]].concat();
        for by in [restarted, brief] {
            assert!(seen(&by).iter().all(Vec::is_empty), "{by:?}");
        }
    }

    #[test]
    fn the_warning_about_a_lost_name_expires() {
        let by = [vec![Some(1); 20], vec![None; 620]].concat();
        let seen = seen(&by);
        assert!(!seen[618].is_empty() && seen[619].is_empty());
    }

    proptest! {
        #[test]
        fn only_an_unregistered_name_is_reported(
            by in proptest::collection::vec(proptest::option::weighted(0.9, 1_u32..4), 1..60),
        ) {
            for (now, seen) in seen(&by).iter().enumerate() {
                if !seen.is_empty() {
                    let missed = (now + 1).saturating_sub(MISSED as usize);
                    prop_assert!(by[missed..=now].iter().all(Option::is_none));
                    prop_assert!(now >= MIN_REGISTERED.as_secs() as usize);
                }
            }
        }
    }
}
