//! The programs on purlin: side by side on a node with threads, or each alone on a simulated node,
//! whose choices its seed repeats.
//!
//! Driven from a plain thread. With threads, a process counts its turns, and one that sleeps has
//! nothing in its inbox. So if every process of a program is seen to sleep, or to be over, and
//! afterwards every one is seen so again and has had no turn in between, then there was a moment at
//! which all slept and nothing was under way: the program rests. A simulated node says itself when
//! nobody is ready. No time is waited for.

mod abroad;
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

use self::process::Msg;
use self::world::World;
use crate::language::Program;
use crate::outcome::Outcome;

/// A node with threads that runs programs.
pub struct Native {
    node: Node,
    /// How many programs have begun, which tells their names apart.
    begun: u64,
}

/// What a process was seen at: how many turns it has had, or that it is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Glance {
    Asleep(u64),
    Over,
}

/// A program that runs.
struct Run {
    world: Arc<World>,
    /// What the last look saw, if all slept.
    last: Option<Vec<Glance>>,
    /// The waiting have been told to show their mailboxes.
    finishing: bool,
}

impl Native {
    /// Starts a node with so many workers.
    ///
    /// # Errors
    ///
    /// As [`purlin::Builder::build`].
    pub fn start(workers: usize) -> Result<Self, BuildError> {
        let node = Node::builder().name("differential").workers(workers).build()?;
        Ok(Self { node, begun: 0 })
    }

    /// Runs the programs side by side, each with the seed of its yields.
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

/// Runs a program alone on a simulated node; the seed is that of its yields and of every choice of
/// the node.
///
/// # Panics
///
/// If the operating system refuses what the node needs.
#[must_use]
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

    /// Looks once.
    fn is_at_rest(&mut self) -> bool {
        let look: Option<Vec<Glance>> = self.world.pids().iter().map(glance).collect();
        let rests = look.is_some() && look == self.last;
        self.last = if rests { None } else { look };
        rests
    }

    /// A program that rests goes on where it waited for that, or shows what is left; after that it is
    /// at its end.
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

/// `None` while the process is at work.
fn glance(pid: &Pid<Msg>) -> Option<Glance> {
    let info = pid.info();
    match info.state {
        ProcessState::Receiving | ProcessState::Waiting => Some(Glance::Asleep(info.reductions)),
        // An end is over when all have been told of it.
        ProcessState::Ended => {
            let over = pin!(pid.ended()).poll(&mut Context::from_waker(Waker::noop()));
            over.is_ready().then_some(Glance::Over)
        }
        _ => None,
    }
}
