//! A run of many programs: each on both runtimes, judged, counted, and made smaller if it differs.

use std::io;
use std::slice;
use std::time::{Duration, Instant};

use crate::beam::Beam;
use crate::compare::{Legal, Verdict};
use crate::generate::generate;
use crate::language::Program;
use crate::model::Runtime;
use crate::native::Native;
use crate::outcome::Outcome;
use crate::report::{Difference, Report};
use crate::shrink::shrink;
use crate::tree::{self, Event, Tree};

/// How many programs run side by side.
const BATCH: u64 = 64;
/// How often a program is tried while it is made smaller; where it yields is different each time.
const TRIES: u32 = 100;
/// After so many differences there is no need for more.
const MOST_DIFFERENCES: usize = 5;

/// Every fourth program is a tree of supervisors.
fn is_tree(seed: &u64) -> bool {
    seed % 4 == 0
}

/// Both runtimes.
pub struct Campaign {
    beam: Beam,
    native: Native,
}

/// The program of this number, as text.
#[must_use]
pub fn show(seed: u64) -> String {
    if is_tree(&seed) {
        tree::generate::generate(seed).to_string()
    } else {
        generate(seed).to_string()
    }
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// So many programs have run.
    Programs(u64),
    /// So much time has passed.
    Time(Duration),
}

impl Campaign {
    /// Starts a BEAM, and a node with so many workers.
    ///
    /// # Errors
    ///
    /// One of them cannot be started.
    pub fn start(workers: usize) -> io::Result<Self> {
        let native = Native::start(workers).map_err(io::Error::other)?;
        Ok(Self { beam: Beam::start()?, native })
    }

    /// Runs the programs from that number on.
    ///
    /// # Errors
    ///
    /// The BEAM ended, or saw what cannot be.
    pub fn run(&mut self, first: u64, until: Until) -> io::Result<Report> {
        let began = Instant::now();
        let mut report = Report::default();
        let mut next = first;
        while report.differences.len() < MOST_DIFFERENCES {
            let end = match until {
                Until::Programs(count) => (next + BATCH).min(first + count),
                Until::Time(time) if began.elapsed() >= time => next,
                Until::Time(_) => next + BATCH,
            };
            if end == next {
                break;
            }
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
            seeds.iter().map(|seed| (generate(*seed), *seed as u32)).collect();
        let of_beam = self.beam.run(&batch)?;
        let of_native = self.native.run(&batch);
        let seen = of_beam.iter().zip(&of_native);
        for (seed, ((program, _), seen)) in seeds.iter().zip(batch.iter().zip(seen)) {
            self.judge(*seed, program, seen, report)?;
        }
        Ok(())
    }

    fn run_trees(&mut self, seeds: &[u64], report: &mut Report) -> io::Result<()> {
        let trees: Vec<Tree> = seeds.iter().map(|seed| tree::generate::generate(*seed)).collect();
        let of_beam = self.beam.run_trees(&trees)?;
        for (seed, (tree, seen)) in seeds.iter().zip(trees.iter().zip(&of_beam)) {
            if *seen != tree::model::events(tree) {
                report.differences.push(self.explain_tree(*seed, tree.clone())?);
            }
            report.count_tree(tree);
        }
        Ok(())
    }

    fn explain_tree(&mut self, seed: u64, tree: Tree) -> io::Result<Difference> {
        let mut sees = |tree: &Tree| Ok(self.beam.run_trees(slice::from_ref(tree))?.remove(0));
        let mut fails = |tree: &Tree| {
            sees(tree).is_ok_and(|seen: Vec<Event>| seen != tree::model::events(tree))
        };
        let tree = shrink(tree, &mut fails);
        Ok(Difference {
            seed,
            runtime: Runtime::Beam,
            seen: tree::text(&sees(&tree)?),
            allowed: tree::text(&tree::model::events(&tree)),
            program: tree.to_string(),
        })
    }

    fn judge(
        &mut self,
        seed: u64,
        program: &Program,
        (of_beam, of_native): (&Outcome, &Outcome),
        report: &mut Report,
    ) -> io::Result<()> {
        let beams = Legal::of(program, Runtime::Beam);
        let own = Runtime::differ_on(program).then(|| Legal::of(program, Runtime::Purlin));
        let verdicts = [
            (Runtime::Beam, beams.judge(of_beam)),
            (Runtime::Purlin, own.as_ref().unwrap_or(&beams).judge(of_native)),
        ];
        for (runtime, verdict) in &verdicts {
            if *verdict == Verdict::Refused {
                let seen = if *runtime == Runtime::Beam { of_beam } else { of_native };
                let again = self.explain(program, *runtime)?;
                let (program, seen) = again.as_ref().map_or((program, seen), |(p, s)| (p, s));
                report.differences.push(Difference {
                    seed,
                    runtime: *runtime,
                    program: program.to_string(),
                    seen: seen.to_string(),
                    allowed: Legal::of(program, *runtime).examples(),
                });
            }
        }
        report.count(program, beams.count(), &verdicts.map(|(_, verdict)| verdict));
        Ok(())
    }

    /// The smallest program that still differs, and what is seen of it, if this one does so again.
    fn explain(
        &mut self,
        program: &Program,
        runtime: Runtime,
    ) -> io::Result<Option<(Program, Outcome)>> {
        let mut trouble = None;
        let mut found = None;
        let mut fails = |program: &Program| match self.refused(program, runtime) {
            Ok(Some(seen)) => {
                found = Some((program.clone(), seen));
                true
            }
            Ok(None) => false,
            Err(error) => {
                trouble = Some(error);
                false
            }
        };
        if fails(program) {
            let _ = shrink(program.clone(), &mut fails);
        }
        trouble.map_or(Ok(found), Err)
    }

    /// What is seen of a program on a runtime, if it is refused at any of several tries.
    fn refused(&mut self, program: &Program, runtime: Runtime) -> io::Result<Option<Outcome>> {
        let tries: Vec<(Program, u32)> = (0..TRIES).map(|seed| (program.clone(), seed)).collect();
        let seen = match runtime {
            Runtime::Beam => self.beam.run(&tries)?,
            Runtime::Purlin => self.native.run(&tries),
        };
        let legal = Legal::of(program, runtime);
        Ok(seen.into_iter().find(|seen| legal.judge(seen) == Verdict::Refused))
    }
}
