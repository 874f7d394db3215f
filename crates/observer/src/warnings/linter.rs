//! The linter: applies every rule to each snapshot.

use std::fmt;
use std::time::Duration;

use super::rule::{MOST_OF_A_KIND, Rule};
use super::steady::Steady;
use super::warning::{Kind, Warning};
use super::{cycle, drops, full_table, growing, hogging, lost_name, storm};
use crate::snapshot::{PERIOD, Snapshot, supported};

/// Checks snapshots and reports warnings.
///
/// ```
/// use purlin::Node;
/// use purlin_observer::snapshot::Sampler;
/// use purlin_observer::warnings::Linter;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder().build()?;
/// let sampler = Sampler::start(&node)?;
/// let _watching = sampler.watch();
/// let mut linter = Linter::default();
/// for warning in linter.check(&sampler.latest()) {
///     println!("{}: {}. {}", warning.kind, warning.line, warning.kind.advice());
/// }
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
pub struct Linter {
    rules: Vec<Box<dyn Rule>>,
    steady: Steady,
}

impl Default for Linter {
    /// Creates a linter for one snapshot per [`PERIOD`].
    fn default() -> Self {
        Self::every(PERIOD)
    }
}

impl Linter {
    /// Creates a linter for one snapshot per `period`, which is clamped to between one millisecond and one hour. A
    /// warning stays for five periods after the last snapshot that showed it.
    #[must_use]
    pub fn every(period: Duration) -> Self {
        let rules: Vec<Box<dyn Rule>> = vec![
            Box::<cycle::Cycles>::default(),
            Box::<storm::Storms>::default(),
            Box::<hogging::Hogs>::default(),
            Box::<growing::Growing>::default(),
            Box::<lost_name::Names>::default(),
            Box::<drops::Dropped>::default(),
            Box::<full_table::FullTable>::default(),
        ];
        Self { rules, steady: Steady::resting(5 * supported(period)) }
    }

    /// Checks a snapshot and returns the current warnings: the most severe kind first, within a kind the
    /// longest-lasting first. Returns the same warnings for the same snapshot.
    pub fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        if self.steady.is_new(snapshot) {
            let rules = self.rules.iter_mut();
            let seen = rules.flat_map(|rule| rule.check(snapshot).into_iter().take(MOST_OF_A_KIND));
            self.steady.record(snapshot, seen);
        }
        self.steady.warnings()
    }
}

impl Kind {
    /// Returns advice on what to do.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::CallCycle => cycle::ADVICE,
            Self::FullTable => full_table::ADVICE,
            Self::RestartStorm => storm::ADVICE,
            Self::Hog => hogging::ADVICE,
            Self::GrowingMailbox => growing::ADVICE,
            Self::LostName => lost_name::ADVICE,
            Self::Drops => drops::ADVICE,
        }
    }
}

impl fmt::Debug for Linter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linter").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Kind, Linter, MOST_OF_A_KIND};
    use crate::snapshot::fixture::{at, overview, pid, row, with};
    use crate::snapshot::{Call, HogSeen, Snapshot};
    use crate::warnings::Subject;

    /// Returns a snapshot with several problems.
    fn bad(second: u64, waiting: u64) -> Snapshot {
        let processes = (1..=200).map(|number| {
            let mut process = row(pid(number));
            process.mailbox_len = waiting + u64::from(number);
            process
        });
        let mut snapshot = with(at(second), &processes.collect::<Vec<_>>());
        overview(&mut snapshot).hogs = vec![HogSeen {
            id: pid(5),
            function: "crate::compute",
            for_so_long: Duration::from_secs(1),
        }];
        let calls = [(1, 2), (2, 1)].map(|(a, b)| Call { caller: pid(a), callee: pid(b) });
        snapshot.calls = calls.into();
        snapshot
    }

    #[test]
    fn warnings_are_ordered_by_severity_unique_and_limited_per_kind() {
        let mut linter = Linter::default();
        for second in 1..=10 {
            linter.check(&bad(second, 100 * second));
        }
        let warnings = linter.check(&bad(11, 1100));
        let kinds: Vec<_> = warnings.iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds[..3], [Kind::CallCycle, Kind::Hog, Kind::GrowingMailbox]);
        assert_eq!(kinds.len(), 2 + MOST_OF_A_KIND);
        assert_eq!(warnings[0].subject, Subject::Cycle(vec![pid(1), pid(2)]));
        assert_eq!(warnings[1].subject.processes(), [pid(5)]);
    }

    #[test]
    fn the_same_snapshot_gives_the_same_warnings_and_an_unsampled_node_gives_none() {
        let mut linter = Linter::default();
        assert!(linter.check(&Snapshot::none()).is_empty());
        linter.check(&bad(1, 0));
        let snapshot = bad(2, 0);
        let warnings = linter.check(&snapshot);
        assert_eq!(warnings.len(), 2);
        for _ in 0..10 {
            assert_eq!(linter.check(&snapshot), warnings);
        }
    }

    #[test]
    fn warnings_end_after_the_problems_are_gone() {
        let mut linter = Linter::default();
        for second in 1..=6 {
            linter.check(&bad(second, 100 * second));
        }
        let left: Vec<_> = (7..=11).map(|second| linter.check(&at(second)).len()).collect();
        assert!(left[..4].iter().all(|left| *left > 0) && left[4] == 0, "{left:?}");
    }

    #[test]
    fn every_kind_has_a_unique_name_and_advice_in_whole_sentences() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert!(kind.advice().ends_with('.') && !kind.advice().contains("  "), "{kind}");
            assert!(Kind::ALL[..at].iter().all(|other| other.name() != kind.name()), "{kind}");
        }
    }
}
