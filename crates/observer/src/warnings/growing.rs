//! Rule: a mailbox that grows faster than it is drained.
//!
//! *Detects*: a mailbox that grows over [`TABLES`] consecutive tables and holds [`FLOOR`] messages or more at the end.
//! The warning stays, whether or not the mailbox still grows, until it has shrunk to half of its peak.
//!
//! *Advice*: see [`ADVICE`].
//!
//! COST: a pass over one column of the table; memory is bounded by [`MOST_KEPT`].

use std::time::Duration;

use purlin::ProcessId;
use rustc_hash::FxHashMap;

use super::rule::{Rule, describe};
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "Look at what it waits for, and for how long. Have its senders call it instead \
     of sending, so that they wait; bound its mailbox with SpawnOptions; or share the work out among several \
     processes.";

/// Smallest mailbox length that is considered. A healthy process may have that many messages after a burst and drains
/// them in a turn or two.
pub const FLOOR: u32 = 100;

/// Number of consecutive tables over which the mailbox has to grow. At one table per second that is longer than most
/// bursts, and early enough to react.
pub const TABLES: u32 = 4;

/// Largest number of tracked processes with [`FLOOR`] messages. If more than that are behind, it does not matter which
/// of them are reported.
pub const MOST_KEPT: usize = 10_000;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Growing {
    /// Time at which the last checked table was completed.
    at: Duration,
    kept: FxHashMap<ProcessId, Kept>,
    seen: Vec<Warning>,
}

/// A process with a long mailbox.
#[derive(Clone, Copy, Debug)]
struct Kept {
    waiting: u32,
    received: u64,
    /// Consecutive tables over which the mailbox has grown, and the time of the first.
    rising: u32,
    since: Duration,
    /// Peak length since the warning was raised; 0 if it is not raised.
    most: u32,
}

impl Rule for Growing {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let at = snapshot.processes.made().1;
        // WHY: tables before a pause in sampling are not consecutive with this one.
        if !snapshot.overview.measured {
            self.kept.clear();
        }
        if at > self.at {
            let span = at.saturating_sub(self.at).as_secs_f64();
            self.take(snapshot, at, span);
            self.at = at;
        }
        self.seen.clone()
    }
}

impl Growing {
    /// Checks a new table, completed `span` seconds after the previous one.
    fn take(&mut self, snapshot: &Snapshot, at: Duration, span: f64) {
        let table = &snapshot.processes;
        let mut kept = FxHashMap::default();
        let mut found = Vec::new();
        let long = table.mailboxes().iter().enumerate().filter(|(_, waiting)| **waiting >= FLOOR);
        for (row, &waiting) in long.take(MOST_KEPT) {
            let Some(row) = table.row(row) else { continue };
            let before = self.kept.get(&row.id);
            let now = Kept::after(before, waiting, row.messages_in, at);
            if let (true, Some(before)) = (now.most > 0, before) {
                let per_second = |count: u64| (count as f64 / span).round();
                let more = per_second(waiting.saturating_sub(before.waiting).into());
                let received = per_second(row.messages_in.saturating_sub(before.received));
                let line = format!(
                    "the mailbox of {} has {waiting} messages, {more} more each second, of which it receives \
                     {received}",
                    describe(snapshot, row.id)
                );
                let subject = Subject::Process(row.id);
                let since = now.since;
                found.push((waiting, Warning { kind: Kind::GrowingMailbox, subject, line, since }));
            }
            kept.insert(row.id, now);
        }
        found.sort_by(|(a, _), (b, _)| b.cmp(a));
        self.seen = found.into_iter().map(|(_, detection)| detection).collect();
        self.kept = kept;
    }
}

impl Kept {
    /// Returns the next state of a process.
    fn after(before: Option<&Self>, waiting: u32, received: u64, at: Duration) -> Self {
        let new = Self { waiting, received, rising: 0, since: at, most: 0 };
        let Some(before) = before else { return new };
        let reported = before.most > 0 && waiting > before.most / 2;
        let rises = waiting > before.waiting;
        let rising = if rises { before.rising + 1 } else { 0 };
        let since = if reported || rises { before.since } else { at };
        let most = if reported || rising >= TABLES { waiting.max(before.most) } else { 0 };
        Self { rising, since, most, ..new }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FLOOR, Growing, TABLES};
    use crate::snapshot::fixture::{at, overview, pid, row, with};
    use crate::warnings::Warning;
    use crate::warnings::rule::Rule;

    /// Runs the rule on a process with these mailbox lengths, second by second; it receives ten messages per second.
    fn seen(waiting: &[u32]) -> Vec<Vec<Warning>> {
        let mut rule = Growing::default();
        let snapshots = waiting.iter().zip(1..);
        snapshots
            .map(|(&waiting, second)| {
                let mut process = row(pid(3));
                (process.mailbox_len, process.messages_in) = (waiting.into(), second * 10);
                rule.check(&with(at(second), &[process]))
            })
            .collect()
    }

    #[test]
    fn a_mailbox_that_grows_steadily_is_reported_with_figures_and_start() {
        let seen = seen(&[10, 120, 150, 190, 250, 310]);
        assert!(seen[..5].iter().all(Vec::is_empty));
        let [reported] = &seen[5][..] else { panic!("{seen:?}") };
        let due = "the mailbox of <0.3.0> (crate::run) has 310 messages, 60 more each second, of which it \
                   receives 10";
        assert_eq!((reported.line.as_str(), reported.since.as_secs()), (due, 2));
    }

    #[test]
    fn the_warning_stays_until_half_of_the_mailbox_is_drained() {
        let seen = seen(&[100, 200, 300, 400, 500, 400, 251, 250, 260]);
        let reported: Vec<_> = seen.iter().map(Vec::len).collect();
        assert_eq!(reported, [0, 0, 0, 0, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_constant_short_or_fluctuating_mailbox_is_not_reported() {
        for waiting in [vec![5000; 20], (0..99).collect(), [100, 900].repeat(10)] {
            assert!(seen(&waiting).iter().all(Vec::is_empty), "{waiting:?}");
        }
    }

    #[test]
    fn tables_before_and_after_a_pause_are_not_consecutive() {
        let mut rule = Growing::default();
        let reported =
            [100, 200, 300, 400, 500, 600, 700].into_iter().zip(1..).map(|(waiting, second)| {
                let mut process = row(pid(3));
                process.mailbox_len = waiting;
                let mut snapshot = with(at(second), &[process]);
                overview(&mut snapshot).measured = second != 3;
                rule.check(&snapshot).len()
            });
        assert_eq!(reported.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn checking_the_same_table_again_changes_nothing() {
        let mut rule = Growing::default();
        let mut process = row(pid(3));
        for (second, waiting) in (1..).zip([100, 200, 300, 400, 500]) {
            process.mailbox_len = waiting;
            let table = with(at(second), &[process]);
            let once = rule.check(&table);
            assert_eq!(once, rule.check(&table));
            assert_eq!(once.len(), usize::from(second == 5));
        }
    }

    proptest! {
        /// For any sequence of lengths, the warning is raised only after the required growth and above the minimum
        /// length.
        #[test]
        fn the_warning_is_never_raised_without_growth(
            waiting in proptest::collection::vec(0_u32..1000, 1..40),
        ) {
            let seen = seen(&waiting);
            let mut reported = false;
            for (now, seen) in seen.iter().enumerate() {
                if !seen.is_empty() {
                    prop_assert!(waiting[now] >= FLOOR);
                    let grown = now >= TABLES as usize
                        && waiting[now - TABLES as usize..=now].is_sorted();
                    prop_assert!(reported || grown, "{} of {:?}", now, waiting);
                }
                reported = !seen.is_empty();
            }
        }
    }
}
