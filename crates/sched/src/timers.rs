//! Timers: messages and wake-ups for later.
//!
//! Every worker has a wheel behind a lock of its own. Any thread may set, cancel and look at any
//! timer and may fire what is due on any wheel, so cancelling from another thread is no more than
//! taking a lock that as a rule nobody holds. Nothing of the user's runs under a lock: what is
//! fired, cancelled or dropped is taken out first.
//!
//! # Who looks when
//!
//! - A worker fires what is due on its wheel before every 61st turn, and before it sleeps; it sleeps
//!   no longer than until the next tick of its wheel.
//! - Whoever watches for workers that are stuck calls [`Timers::fire_overdue`].
//!
//! # Awake and asleep
//!
//! While its worker is *awake* a wheel takes timers by their length alone: the clock is read when the
//! worker looks next, once for all of them ([`Due::In`], `wheel`). A worker goes to sleep, as far as
//! its wheel is concerned, under the wheel's lock: it gives the fresh timers their time, learns the
//! next tick and marks the wheel *asleep*. Whoever sets a timer on a wheel that is asleep reads the
//! clock himself and, if his is the first, unparks the worker. Both decisions are made under one
//! lock, and an unpark that comes before the park makes the park return at once; so no timer is
//! slept through.
//!
//! `next` shows the next tick to those who have not got the lock. It is written under the lock only;
//! whoever reads it without may see an older value, and looks again a little later.
//!
//! COST: setting, and cancelling, each one lock, two counted references, and what the wheel costs;
//! 48 bytes of memory. Firing: one lock and one send or wake.

use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use purlin_raw::{Parcel, quietly};

use crate::clock::{Clock, nanos};
use crate::slab::Key;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use crate::timer::Timer;
use crate::wheel::{Due, NEVER, Wheel, moment_of, tick_at, tick_of};

/// How many timers are fired in one go, before the worker looks at its processes again.
const AT_ONCE: usize = 512;

/// What happens when the time has come.
#[derive(Debug)]
pub enum Alarm {
    /// A message is sent.
    Send(Parcel),
    /// A future is polled again.
    Wake(Waker),
}

impl Alarm {
    /// Drops it, whatever the user's destructors do.
    #[inline]
    pub(crate) fn discard(self) {
        match self {
            // It sees to that itself.
            Self::Send(parcel) => drop(parcel),
            Self::Wake(waker) => quietly(|| drop(waker)),
        }
    }
}

/// The timers of all workers.
#[derive(Debug)]
pub struct Timers {
    wheels: Box<[TimerWheel]>,
    clock: Clock,
}

/// The timers of one worker.
#[derive(Clone)]
pub struct TimerWheel(Arc<CachePadded<Inner>>);

struct Inner {
    /// The tick at which somebody should look, 0 for at once.
    next: AtomicU64,
    state: Mutex<State>,
    clock: Clock,
    /// Ends the sleep of the thread that is the worker now.
    worker: Mutex<Waker>,
    /// Messages whose receiver had ended when they were sent.
    dropped: AtomicU64,
}

pub(crate) struct State {
    pub(crate) wheel: Wheel<Alarm>,
    /// The worker is asleep, or about to be.
    asleep: bool,
    /// The scheduler has stopped: nothing is fired any more.
    closed: bool,
}

impl Timers {
    /// A wheel for each worker.
    pub(crate) fn new(workers: impl Iterator<Item = Waker>, clock: Clock) -> Self {
        let wheels = workers.map(|worker| TimerWheel::new(worker, clock.clone())).collect();
        Self { wheels, clock }
    }

    /// The clock that all timers obey.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The wheel of a worker.
    pub fn wheel(&self, worker: usize) -> &TimerWheel {
        &self.wheels[worker]
    }

    /// Timers that are set and have not fired.
    pub fn pending(&self) -> usize {
        self.wheels.iter().map(|wheel| wheel.lock().wheel.len()).sum()
    }

    /// Messages whose receiver had ended when their time had come.
    pub fn dropped(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.0.dropped.load(Ordering::Relaxed)).sum()
    }

    /// Fires what is due on wheels whose worker ought to have done so and may be stuck, and lets the
    /// time of timers begin that were set since. For any thread, now and then. Says how many fired.
    ///
    /// COST: one read for each wheel on which nothing is due.
    pub fn fire_overdue(&self, now: u64) -> usize {
        let overdue = |wheel: &&TimerWheel| wheel.next() <= tick_at(now);
        self.wheels.iter().filter(overdue).map(|wheel| wheel.fire(now)).sum()
    }

    /// Whether [`Timers::fire_overdue`] has anything to do.
    pub(crate) fn any_overdue(&self, now: u64) -> bool {
        self.wheels.iter().any(|wheel| wheel.next() <= tick_at(now))
    }

    /// Drops every timer; what is set from now on is dropped at once.
    pub(crate) fn close(&self) {
        for wheel in &self.wheels {
            let mut state = wheel.lock();
            state.closed = true;
            let all = state.wheel.take_all();
            wheel.publish(NEVER);
            drop(state);
            all.for_each(Alarm::discard);
        }
    }
}

impl TimerWheel {
    fn new(worker: Waker, clock: Clock) -> Self {
        // WHY asleep: the worker's thread is yet to start, and has not looked.
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

    /// Another thread is the worker from now on.
    pub(crate) fn set_worker(&self, waker: Waker) {
        *self.worker() = waker;
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // WHY: nothing of the user's runs while it is locked.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.0.next.load(Ordering::Relaxed)
    }

    #[inline]
    fn publish(&self, next: u64) {
        // ORDER: relaxed: it is a hint where to look; what is found is found under the lock.
        self.0.next.store(next, Ordering::Relaxed);
    }

    /// Nanoseconds since the start of the clock.
    #[inline]
    pub(crate) fn clock_now(&self) -> u64 {
        self.0.clock.now()
    }

    /// The time since the start of the clock.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock_now())
    }

    /// Sets a timer for after that time, from any thread; what is beyond 146 years counts as that.
    #[inline]
    pub fn set(&self, time: Duration, alarm: Alarm) -> Timer {
        let length = nanos(time);
        let mut state = self.lock();
        if state.closed {
            drop(state);
            alarm.discard();
            return self.fired();
        }
        let (due, next) = if state.asleep {
            let moment = self.clock_now() + length;
            (Due::At(moment), tick_of(moment))
        } else {
            (Due::In(length), 0)
        };
        let key = state.wheel.insert(due, alarm);
        let first = next < self.next();
        if first {
            self.publish(next);
        }
        let unpark = first && state.asleep;
        drop(state);
        if unpark {
            self.worker().wake_by_ref();
        }
        Timer { wheel: self.clone(), key }
    }

    /// A timer that has fired already.
    pub fn fired(&self) -> Timer {
        Timer { wheel: self.clone(), key: Key::NOTHING }
    }

    /// A worker between two turns, now and then: fires what is due.
    #[inline]
    pub(crate) fn look(&self) {
        if self.next() != NEVER {
            self.fire(self.clock_now());
        }
    }

    /// Fires what is due, some of it if it is much; the time of fresh timers begins. Says how many
    /// fired.
    fn fire(&self, now: u64) -> usize {
        let mut fired = 0;
        while fired < AT_ONCE {
            let mut state = self.lock();
            let due = state.wheel.pop(now);
            if due.is_none() {
                state.wheel.stamp(now);
            }
            self.publish(state.wheel.next());
            drop(state);
            let Some(alarm) = due else { break };
            fired += 1;
            self.ring(alarm);
        }
        fired
    }

    /// For a clock that is moved to what comes next: when the first timer is due.
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.lock().wheel.first_due()
    }

    /// For a clock that has been moved to what comes next: fires all that is due now.
    pub(crate) fn fire_exactly(&self, now: u64) {
        loop {
            let mut state = self.lock();
            let due = state.wheel.pop_exactly(now);
            self.publish(state.wheel.next());
            drop(state);
            let Some(alarm) = due else { return };
            self.ring(alarm);
        }
    }

    fn ring(&self, alarm: Alarm) {
        match alarm {
            Alarm::Send(parcel) => {
                if !parcel.send() {
                    self.0.dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
            Alarm::Wake(waker) => quietly(|| waker.wake()),
        }
    }

    /// The worker has nothing to do. Either this fires something, so that there may be work, or the
    /// worker may sleep; then it must call [`TimerWheel::wake`] before it runs anything.
    pub(crate) fn fall_asleep(&self) -> Rest {
        let mut state = self.lock();
        // WHY not read if nothing is set: most workers most of the time.
        let now = if state.wheel.next() == NEVER { 0 } else { self.clock_now() };
        state.wheel.stamp(now);
        let next = state.wheel.next();
        self.publish(next);
        if next <= tick_at(now) {
            drop(state);
            self.fire(now);
            return Rest::Fired;
        }
        state.asleep = true;
        drop(state);
        match next {
            NEVER => Rest::ForEver,
            tick => self.0.clock.until(moment_of(tick)).map_or(Rest::ForEver, Rest::For),
        }
    }

    /// The worker runs again.
    pub(crate) fn wake(&self) {
        self.lock().asleep = false;
    }
}

/// How long a worker may sleep, as far as its timers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Not at all: something was due.
    Fired,
    /// So long.
    For(Duration),
    /// Until somebody wakes it.
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
    use crate::Hand;

    const MS: Duration = Duration::from_millis(1);

    /// Counts how often it is woken.
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

    /// Timers of one worker, whose thread is the test's, and a clock that the test moves. The bell rings
    /// when the worker is unparked.
    fn timers() -> (Timers, Hand, Arc<Bell>) {
        let (clock, hand) = Clock::manual();
        let (unparked, worker) = bell();
        (Timers::new([worker].into_iter(), clock), hand, unparked)
    }

    fn bell() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        (Arc::clone(&bell), Waker::from(bell))
    }

    // N3: its time begins when the worker looks, never before it was set
    #[test]
    fn what_is_set_while_the_worker_is_awake_takes_its_time_from_the_next_look() {
        let (timers, hand, _) = timers();
        let wheel = timers.wheel(0);
        wheel.wake();
        let (bell, waker) = bell();
        let timer = wheel.set(10 * MS, Alarm::Wake(waker));
        hand.forward(3 * MS);
        assert_eq!(timer.read(), Some(10 * MS));
        wheel.look();
        hand.forward(4 * MS);
        assert_eq!(timer.read(), Some(6 * MS));
        hand.forward(5 * MS);
        wheel.look();
        assert_eq!((bell.rung(), timer.read()), (0, Some(MS)));
        hand.forward(3 * MS);
        wheel.look();
        assert_eq!((bell.rung(), timer.read(), timer.cancel()), (1, None, None));
    }

    #[test]
    fn a_worker_may_sleep_until_its_first_timer_and_is_unparked_for_an_earlier_one() {
        let (unparked, worker) = bell();
        let timers = Timers::new([worker].into_iter(), Clock::machine());
        let wheel = timers.wheel(0);
        // WHY real time: a clock that is moved by hand says nothing about sleep. No machine takes a part
        // of this time for the test.
        let hour = Duration::from_secs(3600);
        wheel.wake();
        assert_eq!(wheel.fall_asleep(), Rest::ForEver);
        wheel.wake();
        let (_, waker) = bell();
        wheel.set(hour, Alarm::Wake(waker.clone()));
        let Rest::For(rest) = wheel.fall_asleep() else { panic!("nothing is due") };
        // A part of the hour may be spent moving down the wheel.
        assert!(rest <= hour + 2 * MS && rest > hour / 64, "{rest:?}");
        assert_eq!(unparked.rung(), 0);
        // From another thread, as it would be: the worker sleeps.
        let elsewhere = wheel.clone();
        let (_, other) = bell();
        std::thread::spawn(move || elsewhere.set(MS, Alarm::Wake(other))).join().unwrap();
        assert_eq!(unparked.rung(), 1);
    }

    #[test]
    fn an_idle_worker_learns_of_what_was_set_before_its_thread_began() {
        let (timers, hand, unparked) = timers();
        let (bell, waker) = bell();
        timers.wheel(0).set(5 * MS, Alarm::Wake(waker));
        assert_eq!(unparked.rung(), 1);
        hand.forward(7 * MS);
        assert_eq!(timers.wheel(0).fall_asleep(), Rest::Fired);
        assert_eq!(bell.rung(), 1);
    }

    // N3: what is set by a worker that then computes for ever is fired by somebody else
    #[test]
    fn any_thread_fires_what_a_stuck_worker_leaves_undone() {
        let (timers, hand, _) = timers();
        timers.wheel(0).wake();
        let (bell, waker) = bell();
        for time in 1..=1000 {
            timers.wheel(0).set(time * MS, Alarm::Wake(waker.clone()));
        }
        let fire = || timers.fire_overdue(timers.clock().now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(fire(), 0, "nothing is due, but now their time runs");
                hand.forward(500 * MS);
                fire();
                let half = bell.rung();
                assert!((470..=500).contains(&half), "{half}");
                hand.forward(600 * MS);
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
        let timer = wheel.set(MS, Alarm::Wake(one.clone()));
        assert_eq!(timer.poll(&one), Poll::Pending);
        assert_eq!(timer.poll(&two), Poll::Pending);
        wheel.look();
        hand.forward(3 * MS);
        wheel.look();
        assert_eq!((first.rung(), second.rung()), (0, 1));
        assert_eq!(timer.poll(&two), Poll::Ready(()));
    }

    // E1: destructors run, one that panics does not keep the others from it
    #[test]
    fn closing_drops_what_is_set_and_what_is_set_later() {
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
        let panics = || Alarm::Wake(Waker::from(Arc::new(Panics(Arc::clone(&dropped)))));
        let timer = timers.wheel(0).set(MS, panics());
        timers.wheel(0).set(MS, panics());
        timers.close();
        assert_eq!((dropped.load(Ordering::Relaxed), timers.pending()), (2, 0));
        assert_eq!(timer.cancel(), None);
        timers.wheel(0).set(MS, panics());
        assert_eq!((dropped.load(Ordering::Relaxed), timers.pending()), (3, 0));
    }
}
