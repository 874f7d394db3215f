//! Timers: delayed messages and wake-ups, on one timing wheel per worker.
//!
//! Each wheel has its own lock. Any thread may set, cancel and read any timer, and may fire due
//! timers on any wheel, so cancelling from another thread only takes a lock that is usually
//! uncontended. User code never runs under a lock: a timer is removed first, then fired or dropped.
//!
//! # Firing
//!
//! - A worker fires due timers of its wheel before every 61st turn, more often if turns are long, and
//!   before it sleeps. It sleeps at most until the next tick of its wheel.
//! - Sysmon calls [`Timers::fire_overdue`] on behalf of stalled workers.
//!
//! # Awake and asleep
//!
//! Before a worker sleeps, it reads the next tick and marks the wheel *asleep*, under the wheel's
//! lock. A thread that sets a timer on a wheel that is asleep unparks the worker if its timer is the
//! first. Both decisions are made under one lock, and an unpark before the park makes the park
//! return immediately, so no timer is missed.
//!
//! `next` publishes the next tick to threads that do not hold the lock. It is written under the
//! lock only. A reader without the lock may see an older value, and reads again a little later.
//!
//! COST: setting takes a reading of the clock, a lock, a reference count and the cost of the wheel;
//! 48 bytes of memory. Cancelling takes a lock and a reference count. Firing takes one lock and one
//! send or wake-up.

pub(crate) mod slab;
pub(crate) mod timer;
pub(crate) mod wheel;

use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use purlin_raw::{SealedMessage, catch_panic};

use crate::clock::Clock;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use crate::timers::wheel::{NEVER, Wheel, moment_of, tick_at};

/// Maximum number of timers fired in one batch, before the worker runs processes again.
const MAX_BATCH: usize = 512;

/// Action of a timer when it fires.
#[derive(Debug)]
pub enum TimerAction {
    /// Send a message.
    Send(SealedMessage),
    /// Wake a future.
    Wake(Waker),
}

impl TimerAction {
    /// Drops the action. Contains panics of user destructors.
    pub(crate) fn discard(self) {
        match self {
            // A sealed message contains panics itself.
            Self::Send(message) => drop(message),
            Self::Wake(waker) => catch_panic(|| drop(waker)),
        }
    }
}

/// Timers of all workers.
#[derive(Debug)]
pub struct Timers {
    wheels: Box<[TimerWheel]>,
    clock: Clock,
}

/// Timers of one worker.
#[derive(Clone)]
pub struct TimerWheel(Arc<CachePadded<Inner>>);

/// Shared state of a timing wheel.
struct Inner {
    /// Tick at which a thread should check the wheel.
    next: AtomicU64,
    state: Mutex<State>,
    clock: Clock,
    /// Waker of the thread that is the worker at present.
    worker: Mutex<Waker>,
    /// Messages dropped because their receiver had ended.
    dropped: AtomicU64,
}

/// The part of it behind the lock.
pub(crate) struct State {
    pub(crate) wheel: Wheel<TimerAction>,
    /// Whether the worker is asleep or about to sleep.
    asleep: bool,
    /// Whether the scheduler has stopped: no timer fires any more.
    closed: bool,
}

impl Timers {
    /// Creates one wheel per worker.
    pub(crate) fn new(workers: impl Iterator<Item = Waker>, clock: Clock) -> Self {
        let wheels = workers.map(|worker| TimerWheel::new(worker, clock.clone())).collect();
        Self { wheels, clock }
    }

    /// Returns the clock of the timers.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the wheel of a worker.
    pub fn wheel(&self, worker: usize) -> &TimerWheel {
        &self.wheels[worker]
    }

    /// Returns the number of timers that are set and have not fired.
    pub fn pending(&self) -> usize {
        self.wheels.iter().map(|wheel| wheel.lock().wheel.len()).sum()
    }

    /// Returns the number of messages dropped because their receiver had ended.
    pub fn dropped(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.0.dropped.load(Ordering::Relaxed)).sum()
    }

    /// Fires due timers on wheels whose worker has not done so and may be stalled. Any thread may
    /// call it. Returns the number of timers fired.
    ///
    /// COST: one load for each wheel without due timers.
    pub fn fire_overdue(&self, now: u64) -> usize {
        self.wheels.iter().filter(|wheel| wheel.is_due(now)).map(|wheel| wheel.fire(now)).sum()
    }

    /// Returns whether [`Timers::fire_overdue`] has anything to do.
    pub(crate) fn any_overdue(&self, now: u64) -> bool {
        self.wheels.iter().any(|wheel| wheel.is_due(now))
    }

    /// Drops all timers. A timer set afterwards is dropped immediately.
    pub(crate) fn close(&self) {
        for wheel in &self.wheels {
            let mut state = wheel.lock();
            state.closed = true;
            let all = state.wheel.take_all();
            wheel.publish(NEVER);
            drop(state);
            all.for_each(TimerAction::discard);
        }
    }
}

impl TimerWheel {
    fn new(worker: Waker, clock: Clock) -> Self {
        // WHY asleep: the worker's thread has not started, and has not checked the wheel.
        let state = State { wheel: Wheel::new(), asleep: true, closed: false };
        Self(Arc::new(CachePadded::new(Inner {
            next: AtomicU64::new(NEVER),
            state: Mutex::new(state),
            clock,
            worker: Mutex::new(worker),
            dropped: AtomicU64::new(0),
        })))
    }

    fn worker(&self) -> MutexGuard<'_, Waker> {
        self.0.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the waker after a hand-off: another thread is the worker from now on.
    pub(crate) fn set_worker(&self, waker: Waker) {
        *self.worker() = waker;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // WHY: no user code runs under the lock.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.0.next.load(Ordering::Relaxed)
    }

    fn publish(&self, next: u64) {
        // ORDER: relaxed: a hint which wheels to check; the timers are read under the lock.
        self.0.next.store(next, Ordering::Relaxed);
    }

    /// Returns the nanoseconds since the start of the clock.
    pub(crate) fn clock_now(&self) -> u64 {
        self.0.clock.now()
    }

    /// Returns whether the timers follow a manual clock.
    pub fn is_manual(&self) -> bool {
        self.0.clock.is_manual()
    }

    /// Returns the time since the start of the clock.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock_now())
    }

    /// Fires due timers. Called by the worker between two turns.
    #[inline]
    pub(crate) fn fire_due(&self) {
        if self.next() != NEVER {
            self.fire(self.clock_now());
        }
    }

    /// Fires due timers, at most one batch. Returns the number of timers fired.
    fn fire(&self, now: u64) -> usize {
        let mut fired = 0;
        while fired < MAX_BATCH {
            let mut state = self.lock();
            let due = state.wheel.pop(now);
            self.publish(state.wheel.next());
            drop(state);
            let Some(action) = due else { break };
            fired += 1;
            self.fire_action(action);
        }
        fired
    }

    /// Returns whether the wheel should be checked at `moment` or before.
    pub(crate) fn is_due(&self, moment: u64) -> bool {
        self.next() <= tick_at(moment)
    }

    /// Returns when the first timer is due, for a manual clock that advances to the next timer.
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.lock().wheel.first_due()
    }

    /// Fires all timers due at `now`, for a manual clock that has advanced to that moment.
    pub(crate) fn fire_exactly(&self, now: u64) {
        loop {
            let mut state = self.lock();
            let due = state.wheel.pop_exactly(now);
            self.publish(state.wheel.next());
            drop(state);
            let Some(action) = due else { return };
            self.fire_action(action);
        }
    }

    fn fire_action(&self, action: TimerAction) {
        match action {
            TimerAction::Send(message) => {
                if !message.send() {
                    self.0.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            TimerAction::Wake(waker) => catch_panic(|| waker.wake()),
        }
    }

    /// Prepares a sleep of the worker. Either fires timers, which may make processes ready, or
    /// allows the sleep; then the worker must call [`TimerWheel::wake`] before it runs a process.
    pub(crate) fn fall_asleep(&self) -> ParkLimit {
        let mut state = self.lock();
        let next = state.wheel.next();
        self.publish(next);
        // WHY the clock is not read without timers: the usual case of most workers.
        let now = if next == NEVER { 0 } else { self.clock_now() };
        if next <= tick_at(now) {
            drop(state);
            self.fire(now);
            return ParkLimit::Fired;
        }
        state.asleep = true;
        drop(state);
        match next {
            NEVER => ParkLimit::ForEver,
            tick => self.0.clock.until(moment_of(tick)).map_or(ParkLimit::ForEver, ParkLimit::For),
        }
    }

    /// Marks the worker awake.
    pub(crate) fn wake(&self) {
        self.lock().asleep = false;
    }
}

/// How long a worker may sleep as far as its timers allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParkLimit {
    /// Not at all: timers were due.
    Fired,
    /// For this duration.
    For(Duration),
    /// Until another thread wakes it.
    ForEver,
}

impl std::fmt::Debug for TimerWheel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimerWheel").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::{Poll, Wake};

    use super::*;
    use crate::ClockHand;

    const MS: Duration = Duration::from_millis(1);

    /// Waker that counts how often it is woken.
    #[derive(Default)]
    struct Bell(AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Bell {
        fn rung(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Creates timers of one worker with a manual clock. The bell rings when the worker is
    /// unparked.
    fn timers() -> (Timers, ClockHand, Arc<Bell>) {
        let (clock, hand) = Clock::manual();
        let (unparked, worker) = bell();
        (Timers::new([worker].into_iter(), clock), hand, unparked)
    }

    fn bell() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        (Arc::clone(&bell), Waker::from(bell))
    }

    /// Duration of a tick of the wheel.
    const TICK: Duration = Duration::from_nanos(moment_of(1));

    // N3: the time of a timer begins when it is set, whenever its worker next checks the wheel
    #[test]
    fn the_time_of_a_timer_begins_when_it_is_set() {
        let (timers, hand, _) = timers();
        let wheel = timers.wheel(0);
        wheel.wake();
        let (bell, waker) = bell();
        let timer = wheel.set(10 * MS, TimerAction::Wake(waker));
        hand.advance(3 * MS);
        assert_eq!(timer.read(), Some(7 * MS));
        hand.advance(7 * MS - Duration::from_nanos(1));
        wheel.fire_due();
        assert_eq!((bell.rung(), timer.read()), (0, Some(Duration::from_nanos(1))));
        hand.advance(TICK);
        wheel.fire_due();
        assert_eq!((bell.rung(), timer.read(), timer.cancel()), (1, None, None));
    }

    #[test]
    fn a_worker_may_sleep_until_its_first_timer_and_is_unparked_for_an_earlier_one() {
        let (unparked, worker) = bell();
        let timers = Timers::new([worker].into_iter(), Clock::machine());
        let wheel = timers.wheel(0);
        // WHY real time: a manual clock does not determine the duration of a sleep. The test takes
        // a small fraction of an hour on any machine.
        let hour = Duration::from_secs(3600);
        wheel.wake();
        assert_eq!(wheel.fall_asleep(), ParkLimit::ForEver);
        wheel.wake();
        let (_, waker) = bell();
        wheel.set(hour, TimerAction::Wake(waker.clone()));
        let ParkLimit::For(rest) = wheel.fall_asleep() else { panic!("nothing is due") };
        // Entries moving down the wheel may need a wake-up after part of the hour.
        assert!(rest <= hour + 2 * MS && rest > hour / 64, "{rest:?}");
        assert_eq!(unparked.rung(), 0);
        // Another thread sets the timer, because the worker sleeps.
        let elsewhere = wheel.clone();
        let (_, other) = bell();
        std::thread::spawn(move || elsewhere.set(MS, TimerAction::Wake(other))).join().unwrap();
        assert_eq!(unparked.rung(), 1);
    }

    #[test]
    fn a_timer_set_before_the_worker_started_is_fired() {
        let (timers, hand, unparked) = timers();
        let (bell, waker) = bell();
        timers.wheel(0).set(5 * MS, TimerAction::Wake(waker));
        assert_eq!(unparked.rung(), 1);
        hand.advance(7 * MS);
        assert_eq!(timers.wheel(0).fall_asleep(), ParkLimit::Fired);
        assert_eq!(bell.rung(), 1);
    }

    // N3: a timer set by a worker that then computes forever is fired by another thread
    #[test]
    fn any_thread_fires_the_timers_of_a_stalled_worker() {
        let (timers, hand, _) = timers();
        timers.wheel(0).wake();
        let (bell, waker) = bell();
        for time in 1..=1000 {
            timers.wheel(0).set(time * MS, TimerAction::Wake(waker.clone()));
        }
        let fire = || timers.fire_overdue(timers.clock().now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(fire(), 0, "nothing is due");
                hand.advance(500 * MS);
                fire();
                let half = bell.rung();
                assert!((470..=500).contains(&half), "{half}");
                hand.advance(600 * MS);
                while fire() > 0 {}
            });
        });
        assert_eq!((bell.rung(), timers.pending()), (1000, 0));
    }

    #[test]
    fn a_timer_that_is_polled_wakes_the_waker_of_the_last_poll() {
        let (timers, hand, _) = timers();
        let wheel = timers.wheel(0);
        wheel.wake();
        let ((first, one), (second, two)) = (bell(), bell());
        let timer = wheel.set(MS, TimerAction::Wake(one.clone()));
        assert_eq!(timer.poll(&one), Poll::Pending);
        assert_eq!(timer.poll(&two), Poll::Pending);
        wheel.fire_due();
        hand.advance(3 * MS);
        wheel.fire_due();
        assert_eq!((first.rung(), second.rung()), (0, 1));
        assert_eq!(timer.poll(&two), Poll::Ready(()));
    }

    // E1: all destructors run, although one of them panics
    #[test]
    fn close_drops_present_and_later_timers() {
        struct Panics(Arc<AtomicUsize>);
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {}
        }
        impl Drop for Panics {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
                panic!("a destructor of the user's");
            }
        }
        let (timers, _, _) = timers();
        let dropped = Arc::new(AtomicUsize::new(0));
        let panics = || TimerAction::Wake(Waker::from(Arc::new(Panics(Arc::clone(&dropped)))));
        let timer = timers.wheel(0).set(MS, panics());
        timers.wheel(0).set(MS, panics());
        timers.close();
        assert_eq!((dropped.load(Ordering::Relaxed), timers.pending()), (2, 0));
        assert_eq!(timer.cancel(), None);
        timers.wheel(0).set(MS, panics());
        assert_eq!((dropped.load(Ordering::Relaxed), timers.pending()), (3, 0));
    }
}
