//! Report of a campaign.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::compare::Verdict;
use crate::language::{Op, Program};
use crate::model::Runtime;
use crate::tree::Tree;

/// Counters and differences of a campaign.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs that were run.
    pub programs: u64,
    /// Programs that were trees of supervisors.
    pub trees: u64,
    /// Programs excluded because the model has too many states.
    pub excluded: u64,
    /// Compared programs with exactly one allowed outcome.
    pub determined: u64,
    /// Compared programs with several allowed outcomes, all of which were listed.
    pub listed: u64,
    operations: Operations,
    /// Outcomes that the clauses do not allow.
    pub differences: Vec<Difference>,
    /// Duration of the campaign.
    pub took: Duration,
}

/// Number of compared programs that executed each operation.
#[derive(Debug, Default)]
pub(crate) struct Operations(BTreeMap<&'static str, u64>);

impl Operations {
    /// Counts a program with these operations.
    pub(crate) fn count(&mut self, mut kinds: Vec<&'static str>) {
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            *self.0.entry(kind).or_default() += 1;
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (kind, count) in other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, compared: u64) -> fmt::Result {
        writeln!(f, "operations carried out, by the compared programs they are in:")?;
        self.0.iter().try_for_each(|(kind, count)| {
            writeln!(f, "  {kind:<22}{count:>9}  {:>5.1} %", share(*count, compared))
        })
    }
}

/// Place where a program ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The real BEAM.
    Beam,
    /// A purlin node with threads.
    Purlin,
    /// A simulated purlin node.
    Simulated,
}

impl Place {
    /// Returns the runtime whose rules apply.
    pub fn runtime(self) -> Runtime {
        match self {
            Self::Beam => Runtime::Beam,
            Self::Purlin | Self::Simulated => Runtime::Purlin,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Beam => "the BEAM",
            Self::Purlin => "purlin",
            Self::Simulated => "purlin, simulated",
        })
    }
}

/// A program with an outcome that the clauses do not allow.
#[derive(Debug)]
pub struct Difference {
    /// Number of the program with which the difference was found.
    pub seed: u64,
    /// Place of the outcome.
    pub place: Place,
    /// The shrunk program.
    pub program: String,
    /// The observed outcome.
    pub seen: String,
    /// Allowed outcomes, up to three.
    pub allowed: String,
}

impl Report {
    /// Counts a program; `outcomes` is the number of its allowed outcomes, if they could be listed.
    pub fn count(&mut self, program: &Program, outcomes: Option<usize>, verdicts: &[Verdict]) {
        self.programs += 1;
        if verdicts.contains(&Verdict::Unknown) {
            self.excluded += 1;
            return;
        }
        match outcomes {
            Some(1) => self.determined += 1,
            Some(_) => self.listed += 1,
            None => {}
        }
        let mut done = Vec::new();
        for verdict in verdicts {
            let Verdict::Allowed(reached) = verdict else { continue };
            for (script, steps) in program.scripts.iter().zip(reached) {
                done.extend(script.iter().take(*steps).map(Op::kind));
            }
        }
        self.operations.count(done);
    }

    /// Counts a tree, which always has exactly one outcome.
    pub fn count_tree(&mut self, tree: &Tree) {
        self.programs += 1;
        self.trees += 1;
        self.determined += 1;
        self.operations.count(tree.kinds());
    }

    /// Returns the number of compared programs.
    pub fn compared(&self) -> u64 {
        self.programs - self.excluded
    }
}

/// Returns a part in percent.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compared = self.compared();
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        writeln!(f, "programs run        {:>9}  in {:.0?}", self.programs, self.took)?;
        let line = |f: &mut fmt::Formatter<'_>, what: &str, count: u64, of: u64| {
            writeln!(f, "{what:<20}{count:>9}  {:>5.1} %", share(count, of))
        };
        line(f, "  supervisor trees", self.trees, self.programs)?;
        line(f, "  excluded", self.excluded, self.programs)?;
        line(f, "  compared", compared, self.programs)?;
        line(f, "    one outcome", self.determined, compared)?;
        line(f, "    several, listed", self.listed, compared)?;
        line(f, "    too many to list", compared - self.determined - self.listed, compared)?;
        writeln!(f, "differences         {:>9}", self.differences.len())?;
        self.operations.write(f, compared)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, place, program, seen, allowed } = self;
        writeln!(f, "a difference on {place}, found with program {seed}:\n{program}")?;
        writeln!(f, "seen:\n{seen}\nallowed:\n{allowed}")?;
        writeln!(f, "again: make differential SEED={seed} PROGRAMS=1")
    }
}
