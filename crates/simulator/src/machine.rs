//! Machine: cores, clocks and the event loop.

use std::sync::{Arc, Mutex, PoisonError};

use generator::{Generator, Gn};

use crate::coherence::Transfers;
use crate::costs::{Costs, Topology};
use crate::run::{self, Run};
use crate::thread;

/// Words of a coroutine's stack.
const STACK: usize = 0x8000;

/// Simulated machine.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    topology: Topology,
    costs: Costs,
    seed: u64,
}

/// Result of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report<T> {
    /// Value that the first thread returned.
    pub value: T,
    /// Time at which the last thread ended, in nanoseconds.
    pub nanoseconds: f64,
    /// Number of line transfers.
    pub transfers: Transfers,
}

/// Ends the simulation, also if a thread panics.
///
/// WHY before the coroutines are dropped: the destructors on their stacks must not yield.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        drop(run::replace(None));
    }
}

impl Machine {
    /// Creates a machine. The seed decides which of two simultaneous accesses comes first, and how
    /// much [`work`](crate::work) deviates.
    pub fn new(topology: Topology, costs: Costs, seed: u64) -> Self {
        Self { topology, costs, seed }
    }

    /// Runs `main` on core 0 and every thread that it spawns, until all have ended.
    ///
    /// # Panics
    /// If a thread panics, if the threads wait for each other, or inside of another simulation.
    pub fn run<T: Send + 'static>(self, main: impl FnOnce() -> T + Send + 'static) -> Report<T> {
        assert!(!run::is_running(), "a simulation cannot run inside of another one");
        let value = Arc::new(Mutex::new(None));
        let returned = Arc::clone(&value);
        let mut run = Run::new(self.topology, self.costs, self.seed);
        let main = move || *returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(main());
        run.add(None, Box::new(main));
        let mut coroutines = Vec::new();
        let ends = Ends;
        run::replace(Some(run));
        while step(&mut coroutines) {}
        let (nanoseconds, transfers, left) = run::with(|run| {
            (run.last_clock() as f64 / 1000.0, run.lines.transfers, run.unfinished())
        })
        .expect("the simulation is in progress");
        assert!(left.is_empty(), "deadlock: the simulated threads {left:?} wait forever");
        drop(ends);
        let value = value.lock().unwrap_or_else(PoisonError::into_inner).take();
        Report { value: value.expect("the first thread has ended"), nanoseconds, transfers }
    }
}

/// Runs the earliest thread up to its next switch. Returns `false` if no thread is ready.
fn step(coroutines: &mut Vec<Option<Generator<'static, (), ()>>>) -> bool {
    let next = run::with(|run| (std::mem::take(&mut run.starting), run.next()));
    let (starting, next) = next.expect("the simulation is in progress");
    for (number, code) in starting {
        debug_assert_eq!(number, coroutines.len(), "threads are numbered in order");
        coroutines.push(Some(Gn::new_opt(STACK, move || thread::run(code))));
    }
    let Some(next) = next else { return false };
    let coroutine = coroutines[next].as_mut().expect("an ended thread is not ready");
    coroutine.resume();
    if coroutine.is_done() {
        coroutines[next] = None;
    }
    true
}

#[cfg(test)]
mod tests;
