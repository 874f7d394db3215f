//! Single-threaded deterministic scheduler: the calling thread runs every process, a seed chooses
//! the next one, and the clock advances to the next timer when no process is ready.
//!
//! A simulation is a [`Scheduler`] that was never started, and takes the role of its one worker.
//! Messages, timers and wake-ups from other threads use the same paths as to a real worker: the
//! global queue and the list of sleepers. So no other part of the scheduler knows about
//! simulations. Processes scheduled by the thread that drives the simulation go through the global
//! queue too.
//!
//! One thread at a time drives the simulation; without a driver it stands still. It never sleeps
//! and has no time but that of its clock: the driver waits, and passes in how far the time has
//! come.
//!
//! The same seed makes the same choices unless other threads interfere. A turn is atomic: between
//! two awaits no other process runs.
//!
//! COST: every scheduled process goes through the global queue; each timer takes a walk over one
//! slot of the wheel.

use std::task::Waker;
use std::time::Duration;

use purlin_raw::{Runnable, TurnOutcome};

use crate::clock::{Clock, ClockHand, LONGEST, nanos};
use crate::hooks::Hooks;
use crate::scheduler::Scheduler;
use crate::sync::deque::Steal;
use crate::timers::TimerWheel;

/// Maximum number of turns per call of [`Simulation::drive`].
const MAX_TURNS: u64 = 64;
/// Timers due after 73 years count as never due.
const NEVER: u64 = LONGEST / 2;

/// Scheduler whose one worker is the thread that drives it.
#[derive(Debug)]
pub struct Simulation {
    scheduler: Scheduler,
    hand: ClockHand,
    ready: Vec<Runnable>,
    rng: Rng,
    asleep: bool,
}

/// Outcome of [`Simulation::drive`].
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveOutcome {
    /// `there` returned `true`.
    There,
    /// There is more to do at the present time.
    More,
    /// No process is ready; the waker is woken when one is. Contains the time of the next timer.
    Idle(Option<Duration>),
}

impl Simulation {
    /// Latest time of the clock: 146 years.
    pub const END: Duration = Duration::from_secs(LONGEST / 1_000_000_000 - 1);

    /// Creates a simulation at time 0 without processes.
    pub fn new(seed: u64) -> Self {
        let (clock, hand) = Clock::manual();
        let scheduler = Scheduler::with_clock(1, clock);
        Self { scheduler, hand, ready: Vec::new(), rng: Rng(seed), asleep: false }
    }

    /// Returns the scheduler. It must not be started.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Returns the time since the start of the clock.
    pub fn now(&self) -> Duration {
        self.wheel().now()
    }

    /// Runs ready processes, and fires timers due by `until`, in order and each at its own time,
    /// until `there` returns `true`. `there` is called before each turn. The current thread must be
    /// set up [as a worker](Hooks::thread).
    pub fn drive(
        &mut self,
        until: Duration,
        hooks: &dyn Hooks,
        waker: &Waker,
        there: &mut dyn FnMut() -> bool,
    ) -> DriveOutcome {
        // A process that is ready after a sleep was woken by another thread, at `until`.
        if self.wake_up() && self.gather() && !self.fire(until) {
            self.set_clock(until);
        }
        for _ in 0..1 + self.rng.below(MAX_TURNS) {
            if there() {
                return DriveOutcome::There;
            }
            // WHY `flush`: as before a worker's sleep, freeing a cell may send a message.
            if !self.turn(hooks) && !purlin_raw::flush() && !self.fire(until) {
                return self.fall_asleep(waker);
            }
        }
        DriveOutcome::More
    }

    /// Advances the clock to `to` if that is later. Timers due before `to` are not fired.
    pub fn set_clock(&self, to: Duration) {
        self.hand.advance(to.saturating_sub(self.now()));
    }

    /// Runs one turn of a ready process. Returns `false` if none is ready.
    fn turn(&mut self, hooks: &dyn Hooks) -> bool {
        if !self.gather() {
            return false;
        }
        let chosen = self.rng.below(self.ready.len() as u64) as usize;
        let runnable = self.ready.swap_remove(chosen);
        if runnable.blocking() {
            hooks.offload(runnable);
        } else if let TurnOutcome::Again { runnable, .. } = runnable.run() {
            self.ready.push(runnable);
        }
        true
    }

    /// Takes over the processes in the global queue. Returns whether any process is ready.
    fn gather(&mut self) -> bool {
        loop {
            match self.scheduler.shared.injector.steal() {
                Steal::Success(runnable) => self.ready.push(runnable),
                Steal::Empty => return !self.ready.is_empty(),
                Steal::Retry => {}
            }
        }
    }

    /// Advances the clock to the first timer if it is due by `until`, and fires all timers of that
    /// moment. Returns whether one was due.
    fn fire(&self, until: Duration) -> bool {
        let due = self.wheel().first_due().filter(|&due| due <= nanos(until));
        if let Some(due) = due {
            self.set_clock(Duration::from_nanos(due));
            self.wheel().fire_exactly(due);
        }
        due.is_some()
    }

    fn wheel(&self) -> &TimerWheel {
        self.scheduler.shared.timers.wheel(0)
    }

    /// Adds itself to the sleepers, as a worker does.
    fn fall_asleep(&mut self, waker: &Waker) -> DriveOutcome {
        let shared = &self.scheduler.shared;
        shared.set_waker(0, waker.clone());
        shared.idle.fall_asleep(0, false);
        self.asleep = true;
        if shared.has_work() {
            return DriveOutcome::More;
        }
        let next = self.wheel().first_due().filter(|&due| due < NEVER);
        DriveOutcome::Idle(next.map(Duration::from_nanos))
    }

    /// Leaves the sleepers. Returns whether it was one of them.
    fn wake_up(&mut self) -> bool {
        let slept = std::mem::take(&mut self.asleep);
        if slept {
            let idle = &self.scheduler.shared.idle;
            // Another thread may have woken it; it is counted as searching in either case.
            idle.leave(0);
            idle.end_search();
        }
        slept
    }
}

/// Pseudo-random generator of the seed: SplitMix64.
///
/// WHY not from a library: a recorded seed must make the same choices after an update.
#[derive(Debug)]
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`. The modulo bias is negligible, because `bound` is small.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
