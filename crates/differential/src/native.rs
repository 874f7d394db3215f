//! The interpreter on purlin: concurrently on a node with threads, or each program alone on a
//! simulated node whose decisions are repeated by its seed.
//!
//! A plain thread drives the programs. With threads, a process counts its turns, and one that
//! sleeps has an empty inbox. So if every process of a program is seen asleep or ended, and is seen
//! so again later without a turn in between, then there was a moment at which all slept and no
//! signal was in flight: the program is at rest. A simulated node reports when no process is
//! runnable. No clock is involved.

mod abroad;
mod alias;
mod message;
mod process;
mod reasons;
mod spread;
mod tree;
mod world;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use purlin::{BuildError, ExitReason, Node, Pid, ProcessState};
use purlin_testkit::Simulation;

pub(crate) use self::abroad::Abroad;
pub(crate) use self::spread::Half;
pub use self::tree::simulate_tree;

use self::message::Msg;
use self::world::World;
use crate::language::Program;
use crate::outcome::Outcome;

/// A node with threads that runs programs.
pub struct Native {
    node: Node,
    /// Number of programs started, which makes their names unique.
    begun: u64,
}

/// Observation of a process: asleep with its number of turns, or ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glance {
    Asleep(u64),
    Over,
}

/// A running program.
struct Run {
    world: Arc<World>,
    /// Previous observation, if all processes slept.
    last: Option<Vec<Glance>>,
    /// The waiting processes have been asked to show their mailboxes.
    finishing: bool,
}

impl Native {
    /// Starts a node with the given number of workers.
    ///
    /// # Errors
    ///
    /// The same as for [`purlin::Builder::build`].
    pub fn start(workers: usize) -> Result<Self, BuildError> {
        let node = Node::builder().name("differential").workers(workers).build()?;
        Ok(Self { node, begun: 0 })
    }

    /// Runs the programs concurrently, each with the seed for its yields.
    pub fn run(&mut self, programs: &[(Program, u32)]) -> Vec<Outcome> {
        let begin = |(number, (program, seed)): (u64, &(Program, u32))| {
            Run::begin(&self.node, program, number, *seed)
        };
        let mut going: Vec<Run> = (self.begun..).zip(programs).map(begin).collect();
        self.begun += programs.len() as u64;
        let worlds: Vec<_> = going.iter().map(|run| Arc::clone(&run.world)).collect();
        while !going.is_empty() {
            going.retain_mut(|run| !(run.is_at_rest() && run.goes_no_further()));
            thread::yield_now();
        }
        worlds.iter().map(|world| world.outcome()).collect()
    }
}

/// Runs a program alone on a simulated node; the seed determines its yields and every decision of
/// the node.
///
/// # Panics
///
/// Panics if the operating system refuses a resource that the node needs.
pub fn simulate(program: &Program, seed: u32) -> Outcome {
    let mut simulation = Simulation::new(seed.into());
    let mut run = Run::begin(simulation.node(), program, 0, seed);
    loop {
        simulation.advance(Duration::ZERO);
        if run.goes_no_further() {
            return run.world.outcome();
        }
    }
}

impl Run {
    fn begin(node: &Node, program: &Program, number: u64, seed: u32) -> Self {
        let world = Arc::new(World::new(program, number, seed, None));
        let base = |who| (who, node.spawn(process::base(Arc::clone(&world), who)));
        world.begin((0..program.bases).map(base).collect());
        Self { world, last: None, finishing: false }
    }

    /// Observes all processes once; returns whether two equal observations in a row show that the
    /// program is at rest.
    fn is_at_rest(&mut self) -> bool {
        let look: Option<Vec<Glance>> = self.world.pids().iter().map(glance).collect();
        let rests = look.is_some() && look == self.last;
        self.last = if rests { None } else { look };
        rests
    }

    /// Continues a program at rest: times out the first idle receive, or asks for the mailboxes.
    /// Returns `true` when the program is finished.
    fn goes_no_further(&mut self) -> bool {
        if self.finishing {
            self.world.pids().iter().for_each(|pid| pid.exit(ExitReason::Kill));
            return true;
        }
        match self.world.first_idle() {
            Some(who) => self.world.wake(who),
            None => {
                self.finishing = true;
                self.world.finish();
            }
        }
        false
    }
}

/// Observes a process; returns `None` while it is runnable or still ending.
fn glance(pid: &Pid<Msg>) -> Option<Glance> {
    let info = pid.info();
    match info.state {
        ProcessState::Receiving | ProcessState::Waiting => Some(Glance::Asleep(info.reductions)),
        // An ended process counts as over when its end has been reported.
        ProcessState::Ended => {
            let over = pin!(pid.ended()).poll(&mut Context::from_waker(Waker::noop()));
            over.is_ready().then_some(Glance::Over)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
