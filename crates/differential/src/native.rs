//! The programs on purlin: a real node, many programs at the same time, and when each has come to
//! rest.
//!
//! Driven from a plain thread. A process counts its turns, and one that sleeps has nothing in its
//! inbox. So if every process of a program is seen to sleep, or to be over, and afterwards every one
//! is seen so again and has had no turn in between, then there was a moment at which all slept and
//! nothing was under way: the program rests. No time is waited for.

mod process;
mod world;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::thread;

use purlin::{BuildError, ExitReason, Node, Pid, ProcessState};

use self::process::Msg;
use self::world::World;
use crate::language::Program;
use crate::outcome::Outcome;

/// A node that runs programs.
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
        let runs: Vec<Run> =
            programs.iter().map(|(program, seed)| self.begin(program, *seed)).collect();
        let mut going: Vec<Run> = runs;
        let worlds: Vec<_> = going.iter().map(|run| Arc::clone(&run.world)).collect();
        while !going.is_empty() {
            going.retain_mut(|run| !run.is_done());
            thread::yield_now();
        }
        worlds.iter().map(|world| world.outcome()).collect()
    }

    fn begin(&mut self, program: &Program, seed: u32) -> Run {
        self.begun += 1;
        let world = Arc::new(World::new(program, self.begun, seed));
        let bases: Vec<Pid<Msg>> = (0..program.bases)
            .map(|who| self.node.spawn(process::base(Arc::clone(&world), who)))
            .collect();
        world.begin(bases);
        Run { world, last: None, finishing: false }
    }
}

impl Run {
    /// Looks once. A program that rests goes on where it waited for that, or shows what is left.
    fn is_done(&mut self) -> bool {
        let pids = self.world.pids();
        let look: Option<Vec<Glance>> = pids.iter().map(glance).collect();
        let rests = look.is_some() && look == self.last;
        self.last = look;
        if !rests {
            return false;
        }
        self.last = None;
        if self.finishing {
            pids.iter().for_each(|pid| pid.exit(ExitReason::Kill));
            return true;
        }
        if !self.world.wake_first_idle() {
            self.finishing = true;
            self.world.finishing.store(true, Ordering::SeqCst);
            self.world.nudge_all();
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
