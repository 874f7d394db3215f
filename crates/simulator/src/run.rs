//! State of the simulation in progress: clocks, ready threads, sleepers.
//!
//! One simulation at a time runs on an OS thread. The state is never borrowed while a coroutine
//! yields.

use std::any::Any;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::coherence::{Access, Lines, Outcome};
use crate::costs::{Costs, Time, Topology, time};

/// Code of a simulated thread.
pub(crate) type Code = Box<dyn FnOnce() + Send>;

/// Thread-local of a simulated thread: address of its key, and value.
pub(crate) type Local = (usize, Rc<dyn Any>);

/// Simulated thread.
#[derive(Default)]
pub(crate) struct Thread {
    core: usize,
    clock: Time,
    /// When all stores of the core have reached their lines.
    stored: Time,
    /// Number of the last wait. An entry of the queue with another number is stale.
    wait: u64,
    /// Whether the last wait was ended by a wake-up and not by its deadline.
    woken: bool,
    ended: bool,
    pub(crate) locals: Vec<Local>,
}

/// Entry of the queue of ready threads: time, tie-breaker, thread, number of its wait.
type Entry = Reverse<(Time, u64, usize, u64)>;

pub(crate) struct Run {
    pub(crate) lines: Lines,
    pub(crate) topology: Topology,
    pub(crate) costs: Costs,
    pub(crate) threads: Vec<Thread>,
    pub(crate) current: usize,
    /// Threads whose coroutine does not exist yet.
    pub(crate) starting: Vec<(usize, Code)>,
    ready: BinaryHeap<Entry>,
    /// Threads that wait at an address.
    sleepers: FxHashMap<usize, VecDeque<usize>>,
    random: fastrand::Rng,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// Begins or ends the simulation of this OS thread. Returns the previous state.
pub(crate) fn replace(run: Option<Run>) -> Option<Run> {
    RUN.replace(run)
}

/// Applies `f` to the state of the simulation. Returns `None` outside of a simulation.
pub(crate) fn with<R>(f: impl FnOnce(&mut Run) -> R) -> Option<R> {
    // WHY `try_with`: a thread-local of the OS thread may be dropped after this one.
    RUN.try_with(|run| run.try_borrow_mut().ok()?.as_mut().map(f)).ok().flatten()
}

impl Run {
    pub(crate) fn new(topology: Topology, costs: Costs, seed: u64) -> Self {
        Self {
            lines: Lines::new(topology, costs),
            topology,
            costs,
            threads: Vec::new(),
            current: 0,
            starting: Vec::new(),
            ready: BinaryHeap::new(),
            sleepers: FxHashMap::default(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    pub(crate) fn clock(&self) -> Time {
        self.threads[self.current].clock
    }

    /// Adds a thread on `core`, or on the first core without one.
    pub(crate) fn add(&mut self, core: Option<usize>, code: Code) -> usize {
        let used = |core| self.threads.iter().any(|thread| !thread.ended && thread.core == core);
        let core = core.or_else(|| (0..self.topology.cores()).find(|&core| !used(core)));
        let core = core.expect("each simulated thread needs a core of its own, and all are in use");
        assert!(core < self.topology.cores() && !used(core), "core {core} is in use or absent");
        let clock = self.threads.get(self.current).map_or(0, |thread| thread.clock);
        let number = self.threads.len();
        self.threads.push(Thread { core, clock, stored: clock, ..Thread::default() });
        self.starting.push((number, code));
        self.enqueue(number, clock);
        number
    }

    fn enqueue(&mut self, thread: usize, at: Time) {
        let tie = self.random.u64(..);
        self.ready.push(Reverse((at, tie, thread, self.threads[thread].wait)));
    }

    /// Removes stale entries. Returns the time of the earliest ready thread.
    fn earliest(&mut self) -> Option<Time> {
        while let Some(&Reverse((at, _, thread, wait))) = self.ready.peek() {
            if self.threads[thread].wait == wait && !self.threads[thread].ended {
                return Some(at);
            }
            self.ready.pop();
        }
        None
    }

    /// Makes the earliest ready thread the current one.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.earliest()?;
        let Reverse((at, _, thread, _)) = self.ready.pop()?;
        self.current = thread;
        let chosen = self.thread();
        chosen.clock = chosen.clock.max(at);
        chosen.wait += 1;
        Some(thread)
    }

    pub(crate) fn spend(&mut self, nanoseconds: f64) {
        self.thread().clock += time(nanoseconds);
    }

    /// Waits until the stores of this core have reached their lines.
    fn drain_stores(&mut self) {
        let thread = self.thread();
        thread.clock = thread.clock.max(thread.stored);
    }

    pub(crate) fn end(&mut self) {
        self.thread().ended = true;
    }

    pub(crate) fn has_ended(&self, thread: usize) -> bool {
        self.threads[thread].ended
    }

    /// Advances the clock of the current thread to the end of another one.
    pub(crate) fn continue_after(&mut self, thread: usize) {
        let ended = self.threads[thread].clock;
        self.thread().clock = self.clock().max(ended);
    }

    /// Returns the last time of all clocks.
    pub(crate) fn last_clock(&self) -> Time {
        self.threads.iter().map(|thread| thread.clock).max().unwrap_or(0)
    }

    /// Returns the numbers of the threads that have not ended.
    pub(crate) fn unfinished(&self) -> Vec<usize> {
        (0..self.threads.len()).filter(|&thread| !self.threads[thread].ended).collect()
    }
}

/// Continues with the event loop.
// WHY deprecated: the alternative passes a handle of the coroutine down to every access.
#[expect(deprecated)]
fn switch() {
    generator::yield_with(());
}

/// Lets every thread with an earlier clock run first.
fn settle() {
    let yields = with(|run| {
        let (now, current) = (run.clock(), run.current);
        let earlier = run.earliest().is_some_and(|at| at < now);
        if earlier {
            run.enqueue(current, now);
        }
        earlier
    });
    if yields == Some(true) {
        switch();
    }
}

/// Accesses the line of an address. Does nothing outside of a simulation.
pub(crate) fn access(address: usize, kind: Access) {
    if kind == Access::Rmw {
        with(Run::drain_stores);
    }
    settle();
    let outcome = with(|run| {
        let thread = &mut run.threads[run.current];
        let outcome = run.lines.request(thread.core, address, kind, thread.clock);
        match outcome {
            Outcome::Hit => {}
            Outcome::Arrives(at) => thread.clock = at,
            Outcome::Buffered(at) => thread.stored = thread.stored.max(at),
        }
        outcome
    });
    let arrives = matches!(outcome, Some(Outcome::Arrives(_)));
    if arrives {
        settle();
    }
    with(|run| {
        if arrives {
            run.lines.commit(run.threads[run.current].core, address, kind);
        }
        run.spend(match kind {
            Access::Load => run.costs.load,
            Access::Store | Access::Buffered => run.costs.store,
            Access::Rmw => run.costs.rmw,
        });
    });
}

/// Sequentially consistent fence: waits for the stores of this core.
pub(crate) fn full_fence() {
    with(|run| {
        run.drain_stores();
        run.spend(run.costs.rmw);
    });
}

/// Charges the core with computing. The time deviates at random by [`Costs::jitter`].
pub fn work(nanoseconds: f64) {
    with(|run| {
        let deviation = (2.0 * run.random.f64() - 1.0) * run.costs.jitter;
        run.spend(nanoseconds * (1.0 + deviation));
    });
}

/// One iteration of a spin loop.
pub(crate) fn pause() {
    with(|run| run.spend(run.costs.pause));
    settle();
}

/// Returns the time of this core in nanoseconds since the simulation began, or 0 outside of one.
pub fn now() -> f64 {
    with(|run| run.clock() as f64 / 1000.0).unwrap_or(0.0)
}

/// Reads the clock of this core.
pub(crate) fn read_clock() -> Time {
    with(|run| {
        run.spend(run.costs.clock);
        run.clock()
    })
    .unwrap_or(0)
}

/// Returns whether the caller is a simulated thread.
pub fn is_running() -> bool {
    with(|_| ()).is_some()
}

/// Returns the number of cores of the simulated machine, or 1 outside of a simulation.
pub fn core_count() -> usize {
    with(|run| run.topology.cores()).unwrap_or(1)
}

/// Returns the number of the current thread; threads are numbered in the order of their start.
pub fn thread_number() -> u32 {
    with(|run| run.current as u32).unwrap_or(0)
}

/// Puts the thread to sleep at an address until [`wake`] or the deadline. Returns `false` if the
/// deadline has passed.
///
/// The caller has decided to sleep by an access to that address; no other thread has run since.
pub(crate) fn sleep(address: usize, deadline: Option<Time>) -> bool {
    let sleeps = with(|run| {
        run.spend(run.costs.sleep);
        let current = run.current;
        run.thread().woken = false;
        run.sleepers.entry(address).or_default().push_back(current);
        if let Some(at) = deadline {
            let at = at.max(run.clock());
            run.enqueue(current, at);
        }
    });
    assert!(sleeps.is_some(), "a lock of the simulator is contended outside of a simulation");
    switch();
    with(|run| {
        let current = run.current;
        if let Some(sleepers) = run.sleepers.get_mut(&address) {
            sleepers.retain(|&sleeper| sleeper != current);
        }
        run.thread().woken
    })
    .unwrap_or(true)
}

/// Wakes up to `count` threads that sleep at an address.
pub(crate) fn wake(address: usize, count: usize) {
    settle();
    with(|run| {
        run.spend(run.costs.wake);
        for _ in 0..count {
            let Some(sleeper) = run.sleepers.get_mut(&address).and_then(VecDeque::pop_front) else {
                break;
            };
            let at = run.clock().max(run.threads[sleeper].clock) + time(run.costs.wake_latency);
            run.threads[sleeper].woken = true;
            run.threads[sleeper].wait += 1;
            run.enqueue(sleeper, at);
        }
    });
}
