//! Rule: a process that does not await and blocks a worker thread.
//!
//! *Detects*: a process that has not awaited for [`LONG`], or one found blocking its thread in [`OFTEN`] of the last
//! [`SNAPSHOTS`] snapshots.
//!
//! *Advice*: see [`ADVICE`].

use std::collections::VecDeque;
use std::time::Duration;

use purlin::ProcessId;
use rustc_hash::FxHashMap;

use super::rule::{Rule, describe};
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "Where it computes for long, have it await purlin::consume_budget() in its loop; \
     what blocks a thread belongs in a process with SpawnOptions::blocking. Its worker has another thread, so no other \
     process waits, but it takes a core.";

/// Duration of a single turn that raises the warning: a hundred times the duration above which the runtime logs a turn.
pub const LONG: Duration = Duration::from_millis(500);

/// Number of snapshots remembered: ten seconds at the default period.
pub const SNAPSHOTS: usize = 10;

/// Number of snapshots in which the process has to be found. A turn of some milliseconds is rarely found by chance; a
/// process found in three of ten uses about a third of a thread.
pub const OFTEN: usize = 3;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Hogs {
    /// Blocking processes of the last snapshots, newest last.
    recent: VecDeque<Vec<ProcessId>>,
}

impl Rule for Hogs {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        if !snapshot.overview.measured {
            // WHY: snapshots before a pause are not among the last seconds.
            self.recent.clear();
        }
        if self.recent.len() == SNAPSHOTS {
            self.recent.pop_front();
        }
        let hogs = &snapshot.overview.hogs;
        self.recent.push_back(hogs.iter().map(|hog| hog.id).collect());
        let mut found = FxHashMap::<ProcessId, usize>::default();
        for id in self.recent.iter().flatten() {
            *found.entry(*id).or_default() += 1;
        }
        let at = snapshot.overview.at;
        let bad = hogs.iter().filter_map(|hog| {
            let times = found.get(&hog.id).copied().unwrap_or_default();
            let who = describe(snapshot, hog.id);
            let line = if hog.for_so_long >= LONG {
                let seconds = hog.for_so_long.as_secs_f64();
                format!("{who} has not awaited for {seconds:.1} s; it runs {}", hog.function)
            } else if times >= OFTEN {
                let snapshots = self.recent.len();
                format!(
                    "{who} blocked its thread in {times} of {snapshots} snapshots; it runs {}",
                    hog.function
                )
            } else {
                return None;
            };
            let since = at.saturating_sub(hog.for_so_long);
            let detection =
                Warning { kind: Kind::Hog, subject: Subject::Process(hog.id), line, since };
            Some((hog.for_so_long, detection))
        });
        let mut bad: Vec<_> = bad.collect();
        bad.sort_by(|(a, _), (b, _)| b.cmp(a));
        bad.into_iter().map(|(_, detection)| detection).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Hogs, OFTEN, SNAPSHOTS};
    use crate::snapshot::HogSeen;
    use crate::snapshot::fixture::{at, overview, pid};
    use crate::warnings::Warning;
    use crate::warnings::rule::Rule;

    fn check(rule: &mut Hogs, second: u64, hogs: &[(u32, u64)]) -> Vec<Warning> {
        let mut snapshot = at(second);
        overview(&mut snapshot).hogs = hogs
            .iter()
            .map(|&(number, milliseconds)| HogSeen {
                id: pid(number),
                function: "crate::compute",
                for_so_long: Duration::from_millis(milliseconds),
            })
            .collect();
        rule.check(&snapshot)
    }

    #[test]
    fn a_long_turn_is_reported_immediately_and_the_longest_first() {
        let seen = check(&mut Hogs::default(), 10, &[(1, 600), (2, 1500), (3, 20)]);
        let lines: Vec<_> = seen.iter().map(|detection| detection.line.as_str()).collect();
        let due = [
            "<0.2.0> has not awaited for 1.5 s; it runs crate::compute",
            "<0.1.0> has not awaited for 0.6 s; it runs crate::compute",
        ];
        assert_eq!(lines, due);
        assert_eq!(seen[0].since, Duration::from_millis(8500));
    }

    #[test]
    fn a_process_found_repeatedly_is_reported_and_one_found_by_chance_is_not() {
        let mut rule = Hogs::default();
        for second in 1..=3 {
            let seen = check(&mut rule, second, &[(1, 20), (second as u32 + 5, 20)]);
            assert_eq!(seen.len(), usize::from(second == 3), "{seen:?}");
        }
        let seen = check(&mut rule, 4, &[(1, 20)]);
        let due = "<0.1.0> blocked its thread in 4 of 4 snapshots; it runs crate::compute";
        assert_eq!(seen[0].line, due);
    }

    #[test]
    fn snapshots_before_a_pause_do_not_count() {
        let mut rule = Hogs::default();
        for second in 1..=2 {
            assert!(check(&mut rule, second, &[(1, 20)]).is_empty());
        }
        let mut snapshot = at(3600);
        overview(&mut snapshot).measured = false;
        rule.check(&snapshot);
        assert!(check(&mut rule, 3601, &[(1, 20)]).is_empty());
    }

    proptest! {
        #[test]
        fn short_turns_are_reported_when_found_often_enough(
            found in proptest::collection::vec(any::<bool>(), 1..40),
        ) {
            let mut rule = Hogs::default();
            for now in 0..found.len() {
                let hogs: &[_] = if found[now] { &[(1, 20)] } else { &[] };
                let reported = !check(&mut rule, now as u64 + 1, hogs).is_empty();
                let lately = &found[(now + 1).saturating_sub(SNAPSHOTS)..=now];
                let times = lately.iter().filter(|found| **found).count();
                prop_assert_eq!(reported, found[now] && times >= OFTEN);
            }
        }
    }
}
