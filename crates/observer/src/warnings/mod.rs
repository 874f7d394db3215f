//! Warnings: a linter for live systems.
//!
//! A [`Linter`] is shown each [`Census`] as it comes and says what looks wrong: what it is, whom it
//! concerns, since when, and what to do about it. It keeps what it needs of those before, bounded. It
//! looks at no clock and at no node: the same censuses give the same warnings. Whoever has it may show
//! it censuses from any thread.
//!
//! | rule | sees |
//! |---|---|
//! | [`growing`] | a mailbox that grows faster than it is emptied |
//! | [`hogging`] | a process that does not await |
//! | [`cycle`] | processes that wait for each other's answers: a deadlock |
//! | [`storm`] | a supervisor that is about to give up, or has |
//! | [`lost_name`] | a name that was there and is nobody's now |
//! | [`drops`] | messages that nobody received, and processes that the observer had to leave out |
//! | [`full_table`] | a node that is about to have no room for another process |
//!
//! # They come and go without flapping
//!
//! Each rule asks for more before it begins to warn than it asks for to go on: it waits until it has
//! seen the same several times in a row, and lets go only well below where it began. What is left is
//! smoothed in one place, [`steady`]: a warning stays until its cause has not been seen for five
//! seconds, or for five periods of another length, and one that returns within them is the same warning, with the same
//! beginning.
//!
//! COST: a pass over the column of mailbox lengths, and over the names, for each table; the rest is as
//! large as what is wrong.

pub mod cycle;
pub mod drops;
#[cfg(test)]
pub(crate) mod fixture;
pub mod full_table;
pub mod growing;
pub mod hogging;
pub mod lost_name;
pub mod steady;
pub mod storm;
mod warning;

use std::fmt;
use std::time::Duration;

pub use warning::{Kind, Subject, Warning};
pub(crate) use warning::{Sighting, called};

use crate::census::{Census, supported};
use steady::Steady;

/// How many warnings of one kind there can be. More say nothing more, and cost those who look.
pub const MOST_OF_A_KIND: usize = 100;

/// What looks for one thing that can be wrong.
trait Rule: Send {
    /// What it sees now, the worst first. Called for each census in order; the table of processes may
    /// be the same as before.
    fn look(&mut self, census: &Census) -> Vec<Sighting>;
}

/// Says what looks wrong.
///
/// ```
/// use purlin::Node;
/// use purlin_observer::census::Sampler;
/// use purlin_observer::warnings::Linter;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder().build()?;
/// let sampler = Sampler::start(&node)?;
/// let _watching = sampler.watch();
/// let mut linter = Linter::default();
/// for warning in linter.look(&sampler.latest()) {
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
    fn default() -> Self {
        let rules: Vec<Box<dyn Rule>> = vec![
            Box::<cycle::Cycles>::default(),
            Box::<storm::Storms>::default(),
            Box::<hogging::Hogs>::default(),
            Box::<growing::Growing>::default(),
            Box::<lost_name::Names>::default(),
            Box::<drops::Dropped>::default(),
            Box::<full_table::FullTable>::default(),
        ];
        Self { rules, steady: Steady::default() }
    }
}

impl Linter {
    /// Creates a linter for a census per period, from one millisecond to one hour. A warning stays for five periods after
    /// the last census that showed it.
    #[must_use]
    pub fn every(period: Duration) -> Self {
        Self { steady: Steady::resting(5 * supported(period)), ..Self::default() }
    }
}

impl Linter {
    /// What looks wrong now, the gravest kind first, and of a kind what has lasted longest. Shown the
    /// same census again it says the same.
    pub fn look(&mut self, census: &Census) -> Vec<Warning> {
        if self.steady.is_news(census) {
            let seen = self.rules.iter_mut().flat_map(|rule| {
                let mut seen = rule.look(census);
                seen.truncate(MOST_OF_A_KIND);
                seen
            });
            self.steady.look(census, seen);
        }
        self.steady.warnings()
    }
}

impl fmt::Debug for Linter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linter").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;
    use super::fixture::{at, overview, pid, row, with};
    use super::{Kind, Linter, MOST_OF_A_KIND, Subject};
    use crate::census::{Call, Census, HogSeen};

    /// A second in which much goes wrong.
    fn bad(second: u64, waiting: u64) -> Census {
        let processes = (1..=200).map(|number| {
            let mut process = row(pid(number));
            process.mailbox_len = waiting + u64::from(number);
            process
        });
        let mut census = with(at(second), &processes.collect::<Vec<_>>());
        overview(&mut census).hogs = vec![HogSeen {
            id: pid(5),
            function: "crate::compute",
            for_so_long: Duration::from_secs(1),
        }];
        let calls = [(1, 2), (2, 1)].map(|(a, b)| Call { caller: pid(a), callee: pid(b) });
        census.calls = calls.into();
        census
    }

    #[test]
    fn the_gravest_come_first_each_is_named_once_and_of_a_kind_there_are_not_too_many() {
        let mut linter = Linter::default();
        for second in 1..=10 {
            linter.look(&bad(second, 100 * second));
        }
        let warnings = linter.look(&bad(11, 1100));
        let kinds: Vec<_> = warnings.iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds[..3], [Kind::CallCycle, Kind::Hog, Kind::GrowingMailbox]);
        assert_eq!(kinds.len(), 2 + MOST_OF_A_KIND);
        assert_eq!(warnings[0].subject, Subject::Cycle(vec![pid(1), pid(2)]));
        assert_eq!(warnings[1].subject.processes(), [pid(5)]);
    }

    #[test]
    fn the_same_census_says_the_same_and_a_node_that_nobody_has_looked_at_says_nothing() {
        let mut linter = Linter::default();
        assert!(linter.look(&Census::none()).is_empty());
        linter.look(&bad(1, 0));
        let census = bad(2, 0);
        let warnings = linter.look(&census);
        assert_eq!(warnings.len(), 2);
        for _ in 0..10 {
            assert_eq!(linter.look(&census), warnings);
        }
    }

    #[test]
    fn when_all_is_well_again_the_warnings_end() {
        let mut linter = Linter::default();
        for second in 1..=6 {
            linter.look(&bad(second, 100 * second));
        }
        let left: Vec<_> = (7..=11).map(|second| linter.look(&at(second)).len()).collect();
        assert!(left[..4].iter().all(|left| *left > 0) && left[4] == 0, "{left:?}");
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_and_advice_in_whole_sentences() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert!(kind.advice().ends_with('.') && !kind.advice().contains("  "), "{kind}");
            assert!(Kind::ALL[..at].iter().all(|other| other.name() != kind.name()), "{kind}");
        }
    }
}
