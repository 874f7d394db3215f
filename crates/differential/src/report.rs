//! What a run of many programs came to.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::compare::Verdict;
use crate::language::{Op, Program};
use crate::model::Runtime;
use crate::tree::Tree;

/// What was counted, and what differed.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs that ran.
    pub programs: u64,
    /// Of these, those that were trees of supervisors.
    pub trees: u64,
    /// Those whose outcomes nobody could judge.
    pub excluded: u64,
    /// Of those compared, the ones with one outcome only.
    pub determined: u64,
    /// The ones with several, all of them listed.
    pub listed: u64,
    /// In how many compared programs each operation was carried out.
    pub operations: BTreeMap<&'static str, u64>,
    /// What is not allowed.
    pub differences: Vec<Difference>,
    /// How long it took.
    pub took: Duration,
}

/// Where programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The real BEAM.
    Beam,
    /// A node of purlin's with threads.
    Purlin,
    /// A simulated node of purlin's.
    Simulated,
}

impl Place {
    /// Whose rules hold there.
    #[must_use]
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

/// A program that came to what the clauses do not allow.
#[derive(Debug)]
pub struct Difference {
    /// The number of the program that it was found with.
    pub seed: u64,
    /// Where.
    pub place: Place,
    /// The program, as small as it could be made.
    pub program: String,
    /// What was seen.
    pub seen: String,
    /// What is allowed, or some of it.
    pub allowed: String,
}

impl Report {
    /// Counts a program, with how many outcomes it has if they could be listed.
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
        self.did(done);
    }

    /// Counts a tree, of which there is one outcome always.
    pub fn count_tree(&mut self, tree: &Tree) {
        self.programs += 1;
        self.trees += 1;
        self.determined += 1;
        self.did(tree.kinds());
    }

    fn did(&mut self, mut kinds: Vec<&'static str>) {
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            *self.operations.entry(kind).or_default() += 1;
        }
    }

    /// Programs that were judged.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.programs - self.excluded
    }
}

fn share(part: u64, whole: u64) -> f64 {
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
        writeln!(f, "operations carried out, by the compared programs they are in:")?;
        for (kind, count) in &self.operations {
            writeln!(f, "  {kind:<22}{count:>9}  {:>5.1} %", share(*count, compared))?;
        }
        Ok(())
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
