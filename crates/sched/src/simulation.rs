//! A scheduler without threads of its own: one thread runs every process, a seed chooses who is next,
//! and the clock is moved to what is due next when nobody is ready.
//!
//! It is a [`Scheduler`] that was never started, and stands in for its one worker: what is sent, set
//! or woken from other threads takes the ways that lead to a worker, the common queue and the list of
//! sleepers. So nothing of the scheduler knows of simulations. What is scheduled by the thread that
//! runs the processes goes through the common queue too.
//!
//! One thread at a time drives it, as long as it likes; while nobody does everything stands still.
//! It never sleeps and knows no other time than that of its clock: whoever drives it waits, and says
//! how far the time has come.
//!
//! The same seed makes the same choices as long as nothing comes from other threads. A turn is not
//! divided: between two awaits a process is alone.
//!
//! COST: whoever is scheduled goes through the common queue; for each timer a walk over one slot of
//! the wheel.

use std::task::Waker;
use std::time::Duration;

use purlin_raw::{Ran, Runnable};

use crate::above::Above;
use crate::clock::{Clock, Hand, LONGEST, nanos};
use crate::scheduler::Scheduler;
use crate::sync::deque::Steal;
use crate::timers::TimerWheel;

/// The most turns in one go, before whoever drives may look at other things.
const AT_ONCE: u64 = 64;
/// What is due later than in 73 years was to be never.
const NEVER: u64 = LONGEST / 2;

/// A scheduler whose one worker is whoever drives it.
#[derive(Debug)]
pub struct Simulation {
    scheduler: Scheduler,
    hand: Hand,
    ready: Vec<Runnable>,
    chance: Chance,
    asleep: bool,
}

/// How far [`Simulation::drive`] has come.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drove {
    /// What was to be reached is so.
    There,
    /// There is more to do at this moment.
    More,
    /// Nobody is ready: the waker is woken when somebody is. The next timer is due then.
    Idle(Option<Duration>),
}

impl Simulation {
    /// Nobody is ready, and it is no time yet.
    pub fn new(seed: u64) -> Self {
        let (clock, hand) = Clock::manual();
        let scheduler = Scheduler::with_clock(1, clock);
        Self { scheduler, hand, ready: Vec::new(), chance: Chance(seed), asleep: false }
    }

    /// The scheduler, which is not to be started.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The time since the start of the clock.
    pub fn now(&self) -> Duration {
        self.wheel().now()
    }

    /// Runs who is ready, and fires what is due by `until`, in order and each at its own time,
    /// until `there`, which is asked after each turn. On a thread that
    /// [is a worker](Above::thread).
    pub fn drive(
        &mut self,
        until: Duration,
        above: &dyn Above,
        waker: &Waker,
        there: &mut dyn FnMut() -> bool,
    ) -> Drove {
        // Who is ready after a sleep was woken by what came from elsewhere, at `until`.
        if self.wake_up() && self.gather() && !self.fire(until) {
            self.set_clock(until);
        }
        for _ in 0..1 + self.chance.below(AT_ONCE) {
            if there() {
                return Drove::There;
            }
            // WHY `settle`: as a worker does before it sleeps, what was freed may have sent something.
            if !self.turn(above) && !purlin_raw::settle() && !self.fire(until) {
                return self.fall_asleep(waker);
            }
        }
        Drove::More
    }

    /// Moves the clock to that moment, if it is later; what is due before stays undone.
    pub fn set_clock(&self, to: Duration) {
        self.hand.forward(to.saturating_sub(self.now()));
    }

    /// Runs one of those who are ready; `false` if nobody is.
    fn turn(&mut self, above: &dyn Above) -> bool {
        if !self.gather() {
            return false;
        }
        let chosen = self.chance.below(self.ready.len() as u64) as usize;
        let runnable = self.ready.swap_remove(chosen);
        if runnable.blocking() {
            above.offload(runnable);
        } else if let Ran::Again(runnable) = runnable.run() {
            self.ready.push(runnable);
        }
        true
    }

    /// Takes over what was scheduled; whether anybody is ready.
    fn gather(&mut self) -> bool {
        loop {
            match self.scheduler.shared.injector.steal() {
                Steal::Success(runnable) => self.ready.push(runnable),
                Steal::Empty => return !self.ready.is_empty(),
                Steal::Retry => {}
            }
        }
    }

    /// Moves the clock to the first timer, if it is due by then, and fires it, and others of the same
    /// moment.
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

    /// Takes its place among the sleepers, like a worker.
    fn fall_asleep(&mut self, waker: &Waker) -> Drove {
        let shared = &self.scheduler.shared;
        shared.set_waker(0, waker.clone());
        shared.idle.fall_asleep(0, false);
        self.asleep = true;
        if shared.has_work() {
            return Drove::More;
        }
        let next = self.wheel().first_due().filter(|&due| due < NEVER);
        Drove::Idle(next.map(Duration::from_nanos))
    }

    /// Whether it slept.
    fn wake_up(&mut self) -> bool {
        let slept = std::mem::take(&mut self.asleep);
        if slept {
            let idle = &self.scheduler.shared.idle;
            // Somebody may have woken it; it is counted as searching either way.
            idle.wake_self(0);
            idle.end_search();
        }
        slept
    }
}

/// The choices of a seed: SplitMix64.
///
/// WHY not a library's: a seed that was written down must mean the same after an update.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is small, so that hardly any comes more often than others.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
