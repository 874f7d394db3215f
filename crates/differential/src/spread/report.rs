//! Report of a campaign with spread programs.

use std::fmt;
use std::time::Duration;

use crate::language::{Op, Program, Reason};
use crate::model::Reached;
use crate::outcome::{End, Item, Outcome, Seen};
use crate::report::{Operations, share};

/// Counters and differences of a campaign.
#[derive(Debug, Default)]
pub struct Report {
    programs: u64,
    excluded: u64,
    /// Compared programs in which a process saw `noconnection`.
    lost: u64,
    /// Number of cuts in compared programs.
    cuts: usize,
    operations: Operations,
    /// Outcomes that the clauses do not allow.
    pub differences: Vec<Difference>,
    pub(super) took: Duration,
}

/// A program with an outcome that the clauses do not allow.
#[derive(Debug)]
pub struct Difference {
    pub(super) seed: u64,
    pub(super) program: String,
    pub(super) seen: String,
}

impl Report {
    pub(super) fn count(&mut self, program: &Program, reached: &Reached, seen: &Outcome) {
        self.programs += 1;
        let done = program.scripts.iter().zip(reached);
        let steps = done.flat_map(|(script, steps)| script.iter().take(*steps));
        let steps: Vec<&Op> = steps.collect();
        self.cuts += steps.iter().filter(|op| matches!(op, Op::Cut(_))).count();
        self.operations.count(steps.into_iter().map(Op::kind).collect());
        self.lost += u64::from(tells_of_a_loss(seen));
    }

    /// Adds the report of another pair of nodes.
    pub(super) fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.excluded += other.excluded;
        self.lost += other.lost;
        self.cuts += other.cuts;
        self.operations.add(other.operations);
        self.differences.extend(other.differences);
    }

    pub(super) fn exclude(&mut self) {
        self.programs += 1;
        self.excluded += 1;
    }
}

fn tells_of_a_loss(seen: &Outcome) -> bool {
    const WHY: Reason = Reason::NoConnection;
    let is_it = |item: &Item| matches!(item, Item::Down(.., WHY) | Item::Exit(_, WHY));
    seen.0.iter().any(|trace| {
        let left = match &trace.end {
            End::Waits(left) => left.iter().any(is_it),
            end => *end == End::Ended(WHY),
        };
        left || trace.log.iter().any(|seen| matches!(seen, Seen::Got(item) if is_it(item)))
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        let compared = self.programs - self.excluded;
        writeln!(f, "spread programs run {:>9}  in {:.0?}", self.programs, self.took)?;
        writeln!(f, "  excluded          {:>9}", self.excluded)?;
        writeln!(f, "  saw noconnection  {:>9}  {:>5.1} %", self.lost, share(self.lost, compared))?;
        writeln!(f, "cuts                {:>9}", self.cuts)?;
        writeln!(f, "differences         {:>9}", self.differences.len())?;
        self.operations.write(f, compared)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, program, seen } = self;
        writeln!(f, "a difference on two nodes, found with program {seed}:\n{program}")?;
        writeln!(f, "seen, and not allowed:\n{seen}")?;
        writeln!(f, "again: make differential SPREAD=1 SEED={seed} PROGRAMS=1")
    }
}
