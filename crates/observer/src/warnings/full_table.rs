//! Rule: a process table that is nearly full.
//!
//! *Detects*: processes at [`RAISED`] of the limit or more. The warning stays until they fall below [`CLEARED`].
//!
//! *Advice*: see [`ADVICE`].

use super::rule::Rule;
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "Past the limit spawn makes processes that have ended already, with system_limit. \
     Sort the processes by function to see who becomes so many, and whether they are to end; raise \
     Builder::max_processes if they are not.";

/// Share of the limit that raises the warning. Enough room is left to react.
pub const RAISED: f64 = 0.8;

/// Share of the limit below which the warning is cleared. The gap provides hysteresis.
pub const CLEARED: f64 = 0.75;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct FullTable {
    reported: bool,
}

impl Rule for FullTable {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let overview = &snapshot.overview;
        let (processes, limit) = (overview.processes, overview.max_processes);
        let share = processes as f64 / f64::from(limit.max(1));
        self.reported = share >= if self.reported { CLEARED } else { RAISED };
        let line =
            format!("{processes} processes of {limit} that there may be: {:.0} %", share * 100.0);
        let subject = Subject::Node("processes");
        let detection = Warning { kind: Kind::FullTable, subject, line, since: overview.at };
        self.reported.then_some(detection).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::FullTable;
    use crate::snapshot::fixture::{at, overview};
    use crate::warnings::Warning;
    use crate::warnings::rule::Rule;

    fn seen(processes: &[usize]) -> Vec<Vec<Warning>> {
        let mut rule = FullTable::default();
        let snapshots = processes.iter().zip(1..);
        snapshots
            .map(|(&processes, second)| {
                let mut snapshot = at(second);
                let overview = overview(&mut snapshot);
                (overview.processes, overview.max_processes) = (processes, 1000);
                rule.check(&snapshot)
            })
            .collect()
    }

    #[test]
    fn the_warning_is_raised_at_four_fifths_and_cleared_below_three_quarters() {
        let seen = seen(&[799, 800, 799, 750, 749, 799, 1000]);
        let reported: Vec<_> = seen.iter().map(Vec::len).collect();
        assert_eq!(reported, [0, 1, 1, 1, 0, 0, 1]);
        assert_eq!(seen[1][0].line, "800 processes of 1000 that there may be: 80 %");
    }

    proptest! {
        #[test]
        fn a_nearly_full_node_is_reported_and_one_with_room_is_not(
            processes in proptest::collection::vec(0_usize..=1000, 1..40),
        ) {
            for (processes, seen) in processes.iter().zip(seen(&processes)) {
                prop_assert!(*processes < 800 || !seen.is_empty());
                prop_assert!(*processes >= 750 || seen.is_empty());
            }
        }
    }
}
