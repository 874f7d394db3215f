//! Rule: dropped messages, and processes missing in the observer's table.
//!
//! *Detects*: messages dropped because of a mailbox bound; [`MANY_UNDELIVERED`] messages per second to processes that had
//! ended, in [`SNAPSHOTS`] consecutive snapshots; processes missing in the observer's table because it is full.
//!
//! *Advice*: see [`ADVICE`].

use std::time::Duration;

use purlin::Drops;

use super::rule::Rule;
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "Where mailboxes are full: give their processes less to do, more room, or a bound \
     that has senders wait. Where processes had ended: have their senders monitor them, or send to a name. Where \
     the observer left processes out, its figures of processes are those of the others.";

/// Threshold in messages per second to processes that have ended. Single ones are normal: a process may end while
/// others still reply to it.
pub const MANY_UNDELIVERED: f64 = 10.0;

/// Number of consecutive snapshots above the threshold. A process that ends with a long mailbox drops all of it once.
pub const SNAPSHOTS: u32 = 3;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    /// Time and drop counters of the last snapshot; `None` before the first.
    ///
    /// WHY the time: the linter may have missed a snapshot, and a snapshot's span refers to the one before it.
    before: Option<(Duration, Drops)>,
    /// Consecutive snapshots above the threshold.
    in_a_row: u32,
}

impl Rule for Dropped {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let (at, now) = (snapshot.overview.at, snapshot.overview.drops.total);
        let (last, before) = self.before.replace((at, now)).unwrap_or((at, now));
        let span = at.saturating_sub(last).as_secs_f64();
        let mut seen = Vec::new();
        let mut see = |what, line| {
            let subject = Subject::Node(what);
            seen.push(Warning { kind: Kind::Drops, subject, line, since: at });
        };
        let [rejected, newest, oldest] = [
            now.rejected.saturating_sub(before.rejected),
            now.newest.saturating_sub(before.newest),
            now.oldest.saturating_sub(before.oldest),
        ];
        if rejected + newest + oldest > 0 {
            let line = format!(
                "full mailboxes dropped {} messages since the last snapshot: {rejected} rejected, {newest} of the \
                 newest, {oldest} of the oldest",
                rejected + newest + oldest
            );
            see("full mailboxes", line);
        }
        let count = |drops: Drops| drops.ended + drops.alias;
        let undelivered = count(now).saturating_sub(count(before)) as f64;
        // WHY only if measured: the interval without watchers does not count as a snapshot.
        let many =
            snapshot.overview.measured && span > 0.0 && undelivered / span >= MANY_UNDELIVERED;
        self.in_a_row = if many { self.in_a_row + 1 } else { 0 };
        if self.in_a_row >= SNAPSHOTS {
            let each = undelivered / span;
            see(
                "receivers ended",
                format!("{each:.0} messages a second go to processes that have ended"),
            );
        }
        if snapshot.cost.left_out > 0 {
            let line = format!(
                "the observer's table is full: {} processes are not in it",
                snapshot.cost.left_out
            );
            see("observer", line);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Dropped, SNAPSHOTS};
    use crate::snapshot::fixture::{at, overview};
    use crate::warnings::rule::Rule;

    /// Runs the rule once per second with these cumulative counters: rejected messages, and messages to ended
    /// processes.
    fn lines(totals: &[(u64, u64)]) -> Vec<Vec<String>> {
        lines_each(1, totals)
    }

    /// Like `lines`, with one snapshot per `seconds` seconds.
    fn lines_each(seconds: u64, totals: &[(u64, u64)]) -> Vec<Vec<String>> {
        let mut rule = Dropped::default();
        let snapshots = totals.iter().zip((1..).map(|number| number * seconds));
        snapshots
            .map(|(&(rejected, ended), second)| {
                let mut snapshot = at(second);
                let overview = overview(&mut snapshot);
                overview.span = Duration::from_secs(1);
                (overview.drops.total.rejected, overview.drops.total.ended) = (rejected, ended);
                rule.check(&snapshot).into_iter().map(|detection| detection.line).collect()
            })
            .collect()
    }

    #[test]
    fn new_drops_of_full_mailboxes_are_reported_and_earlier_ones_are_not() {
        let seen = lines(&[(50, 0), (50, 0), (51, 0), (51, 0)]);
        let due = "full mailboxes dropped 1 messages since the last snapshot: 1 rejected, 0 of the newest, 0 of the \
                   oldest";
        assert_eq!(seen, [vec![], vec![], vec![due.to_owned()], vec![]]);
    }

    #[test]
    fn continuous_messages_to_ended_processes_are_reported_and_a_single_burst_is_not() {
        let seen = lines(&[(0, 0), (0, 20), (0, 40), (0, 60), (0, 60), (0, 100_000)]);
        let reported: Vec<_> = seen.iter().map(Vec::len).collect();
        assert_eq!(reported, [0, 0, 0, 1, 0, 0]);
        assert_eq!(seen[3], ["20 messages a second go to processes that have ended"]);
    }

    #[test]
    fn the_rate_is_correct_when_snapshots_are_missed() {
        let few: Vec<_> = (0..6).map(|number| (0, 15 * number)).collect();
        assert!(lines_each(2, &few).iter().all(Vec::is_empty));
        let many: Vec<_> = (0..6).map(|number| (0, 40 * number)).collect();
        assert_eq!(
            lines_each(2, &many)[3],
            ["20 messages a second go to processes that have ended"]
        );
    }

    #[test]
    fn snapshots_before_and_after_a_pause_are_not_consecutive() {
        let mut rule = Dropped::default();
        let reported = (1..=6).map(|second| {
            let mut snapshot = at(second);
            let overview = overview(&mut snapshot);
            (overview.measured, overview.drops.total.ended) = (second != 3, 20 * second);
            rule.check(&snapshot).len()
        });
        assert_eq!(reported.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn processes_missing_in_the_observers_table_are_reported() {
        let mut snapshot = at(1);
        snapshot.cost.left_out = 3;
        let seen = Dropped::default().check(&snapshot);
        assert_eq!(seen[0].line, "the observer's table is full: 3 processes are not in it");
    }

    proptest! {
        #[test]
        fn every_drop_of_a_bounded_mailbox_is_reported_once(
            steps in proptest::collection::vec((0_u64..3, 0_u64..20), 1..40),
        ) {
            let sum = |all: &mut (u64, u64), step: &(u64, u64)| {
                *all = (all.0 + step.0, all.1 + step.1);
                Some(*all)
            };
            let totals: Vec<_> = steps.iter().scan((0, 0), sum).collect();
            let mut in_a_row = 0;
            for ((now, seen), step) in lines(&totals).iter().enumerate().zip(&steps) {
                let many = now > 0 && step.1 >= 10;
                in_a_row = if many { in_a_row + 1 } else { 0 };
                let due = usize::from(now > 0 && step.0 > 0) + usize::from(in_a_row >= SNAPSHOTS);
                prop_assert_eq!(seen.len(), due);
            }
        }
    }
}
