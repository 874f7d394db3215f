//! A campaign runs many programs on both runtimes, judges and counts the outcomes, and shrinks
//! differences.

use std::io;
use std::slice;
use std::time::{Duration, Instant};

use crate::beam::Beam;
use crate::compare::{Legal, Verdict};
use crate::generate::{FIRST_WITH_PRIORITY, generate};
use crate::language::Program;
use crate::model::Runtime;
use crate::native::{Native, simulate, simulate_tree};
use crate::outcome::Outcome;
use crate::report::{Difference, Place, Report};
use crate::shrink::{shrink, shrink_refused};
use crate::tree::{self, Event, Tree};

/// Number of programs that run concurrently.
const BATCH: u64 = 64;
/// Number of tries per program while it is shrunk; the yields differ for each try.
const TRIES: u32 = 100;
/// Number of differences after which the campaign stops.
pub(crate) const MOST_DIFFERENCES: usize = 5;

/// Returns `true` for every fourth program, which is a tree of supervisors.
fn is_tree(seed: &u64) -> bool {
    seed.is_multiple_of(4)
}

/// Both runtimes.
pub struct Campaign {
    beam: Beam,
    /// Whether the BEAM supports priority messages.
    priority: bool,
    native: Native,
}

/// Returns the program with this number as text; `priority` is as for [`generate`].
pub fn show(seed: u64, priority: bool) -> String {
    if is_tree(&seed) {
        tree::generate::generate(seed).to_string()
    } else {
        generate(seed, priority).to_string()
    }
}

/// Length of a campaign.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// Stop after this number of programs.
    Programs(u64),
    /// Stop after this time.
    Time(Duration),
}

impl Until {
    /// Returns the end of the batch from number `next` on, or `None` at the end of the campaign.
    pub(crate) fn next(self, first: u64, next: u64, batch: u64, began: Instant) -> Option<u64> {
        match self {
            Self::Programs(count) => {
                Some((next + batch).min(first + count)).filter(|end| *end > next)
            }
            Self::Time(time) => (began.elapsed() < time).then_some(next + batch),
        }
    }
}

impl Campaign {
    /// Starts a BEAM and a node with the given number of workers.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them cannot be started.
    pub fn start(workers: usize) -> io::Result<Self> {
        let native = Native::start(workers).map_err(io::Error::other)?;
        let mut beam = Beam::start()?;
        let priority = beam.release()? >= FIRST_WITH_PRIORITY;
        Ok(Self { beam, priority, native })
    }

    /// Runs the programs from number `first` on.
    ///
    /// # Errors
    ///
    /// Returns an error if the BEAM has ended or returned an invalid outcome.
    pub fn run(&mut self, first: u64, until: Until) -> io::Result<Report> {
        let began = Instant::now();
        let mut report = Report::default();
        let mut next = first;
        while report.differences.len() < MOST_DIFFERENCES {
            let Some(end) = until.next(first, next, BATCH, began) else { break };
            let (trees, programs): (Vec<u64>, Vec<u64>) = (next..end).partition(is_tree);
            self.run_programs(&programs, &mut report)?;
            self.run_trees(&trees, &mut report)?;
            next = end;
        }
        report.took = began.elapsed();
        Ok(report)
    }

    fn run_programs(&mut self, seeds: &[u64], report: &mut Report) -> io::Result<()> {
        let batch: Vec<(Program, u32)> =
            seeds.iter().map(|seed| (generate(*seed, self.priority), *seed as u32)).collect();
        let of_beam = self.beam.run(&batch)?;
        let of_native = self.native.run(&batch);
        let seen = of_beam.into_iter().zip(of_native);
        for (seed, ((program, chance), (beam, native))) in seeds.iter().zip(batch.iter().zip(seen))
        {
            let simulated = simulate(program, *chance);
            let seen =
                [(Place::Beam, beam), (Place::Purlin, native), (Place::Simulated, simulated)];
            self.judge(*seed, program, seen, report)?;
        }
        Ok(())
    }

    fn run_trees(&mut self, seeds: &[u64], report: &mut Report) -> io::Result<()> {
        let trees: Vec<Tree> = seeds.iter().map(|seed| tree::generate::generate(*seed)).collect();
        let of_beam = self.beam.run_trees(&trees)?;
        for ((seed, tree), of_beam) in seeds.iter().zip(&trees).zip(of_beam) {
            let simulated = simulate_tree(tree, *seed as u32);
            let must = tree::model::events(tree);
            for (place, seen) in [(Place::Beam, of_beam), (Place::Simulated, simulated)] {
                if seen != must {
                    report.differences.push(self.explain_tree(*seed, tree.clone(), place)?);
                }
            }
            report.count_tree(tree);
        }
        Ok(())
    }

    fn explain_tree(&mut self, seed: u64, tree: Tree, place: Place) -> io::Result<Difference> {
        let mut sees = |tree: &Tree| match place {
            Place::Beam => Ok(self.beam.run_trees(slice::from_ref(tree))?.remove(0)),
            Place::Purlin | Place::Simulated => Ok(simulate_tree(tree, seed as u32)),
        };
        let differs = |seen: io::Result<Vec<Event>>, tree: &Tree| {
            seen.is_ok_and(|seen| seen != tree::model::events(tree))
        };
        let tree = shrink(tree, &mut |tree| differs(sees(tree), tree));
        Ok(Difference {
            seed,
            place,
            seen: tree::text(&sees(&tree)?),
            allowed: tree::text(&tree::model::events(&tree)),
            program: tree.to_string(),
        })
    }

    fn judge(
        &mut self,
        seed: u64,
        program: &Program,
        seen: [(Place, Outcome); 3],
        report: &mut Report,
    ) -> io::Result<()> {
        let beams = Legal::of(program, Runtime::Beam);
        let own = Runtime::differ_on(program).then(|| Legal::of(program, Runtime::Purlin));
        let mut verdicts = Vec::new();
        for (place, seen) in seen {
            let legal = match place.runtime() {
                Runtime::Beam => &beams,
                _ => own.as_ref().unwrap_or(&beams),
            };
            let verdict = legal.judge(&seen);
            if verdict == Verdict::Refused {
                let mut run = |program: &Program| self.refused(program, seed as u32, place);
                let (program, seen) =
                    shrink_refused(program, &mut run)?.unwrap_or_else(|| (program.clone(), seen));
                report.differences.push(Difference {
                    seed,
                    place,
                    program: program.to_string(),
                    seen: seen.to_string(),
                    allowed: Legal::of(&program, place.runtime()).examples(),
                });
            }
            verdicts.push(verdict);
        }
        report.count(program, beams.count(), &verdicts);
        Ok(())
    }

    /// Runs a program several times on one runtime and returns the first refused outcome, if any.
    /// The first try has the seed of the campaign.
    fn refused(
        &mut self,
        program: &Program,
        chance: u32,
        place: Place,
    ) -> io::Result<Option<Outcome>> {
        let chances = (0..TRIES).map(|more| chance.wrapping_add(more));
        let tries: Vec<(Program, u32)> = chances.map(|chance| (program.clone(), chance)).collect();
        let seen = match place {
            Place::Beam => self.beam.run(&tries)?,
            Place::Purlin => self.native.run(&tries),
            Place::Simulated => {
                tries.iter().map(|(program, chance)| simulate(program, *chance)).collect()
            }
        };
        let legal = Legal::of(program, place.runtime());
        Ok(seen.into_iter().find(|seen| legal.judge(seen) == Verdict::Refused))
    }
}
