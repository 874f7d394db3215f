//! Seeded draws and bookkeeping of `timers` and `timer-expiry`.
//!
//! All contenders use the same draws: `x = (20077 · x + 12345) mod 2^31`, from the seed of the request. They are made
//! before the clock starts. Nothing here sets a timer or blocks.

use std::time::{Duration, Instant};

use crate::delays::Delays;
use crate::run::{Expiry, Timers};
use crate::sample::Sample;

/// Number of values of a draw.
const RANGE: u64 = 1 << 31;

/// Returns the draws of a seed; the first is one step after it.
fn draws(seed: u64) -> impl Iterator<Item = u64> {
    let step = |x: &u64| Some((x * 20_077 + 12_345) % RANGE);
    std::iter::successors(Some(seed % RANGE), step).skip(1)
}

/// The live timers of `timers`, cancelled in a random order.
///
/// In each pass all timers of the previous pass are taken in the same order, which does not depend on when they were
/// set. Owned by the process that sets and cancels.
///
/// ```
/// use purlin_contender::{Timers, Window};
///
/// let mut window = Window::new(Timers { window: 4, n: 6, seed: 7 });
/// (0..4).for_each(|timer| window.add(timer));
/// let taken: Vec<_> = (4..10).map_while(|timer| {
///     let old = window.take();
///     window.add(timer);
///     old
/// }).collect();
/// assert_eq!(taken, [0, 3, 1, 2, 4, 7]);
/// assert_eq!(window.rest().count(), 4);
/// ```
#[derive(Debug)]
pub struct Window<T> {
    order: Vec<usize>,
    /// Number of timers taken in this pass.
    taken: usize,
    alive: Vec<Option<T>>,
    /// Timers set in this pass.
    next: Vec<Option<T>>,
}

impl<T> Window<T> {
    /// Draws the order. The window is empty.
    #[must_use]
    pub fn new(asked: Timers) -> Self {
        let mut drawn: Vec<_> = draws(asked.seed).zip(0..asked.window).collect();
        drawn.sort_unstable();
        // An index is below WAITING_MAX, which fits into `usize` on all supported targets.
        let order: Vec<_> =
            drawn.into_iter().filter_map(|(_, index)| usize::try_from(index).ok()).collect();
        let empty = || Vec::with_capacity(order.len());
        Window { alive: empty(), next: empty(), taken: order.len(), order }
    }

    /// Adds a timer that was set.
    #[inline]
    pub fn add(&mut self, timer: T) {
        self.next.push(Some(timer));
    }

    /// Takes the timer to cancel next. Returns `None` unless the window was filled before.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        if self.taken == self.order.len() {
            self.alive.clear();
            std::mem::swap(&mut self.alive, &mut self.next);
            self.taken = 0;
        }
        let index = *self.order.get(self.taken)?;
        self.taken += 1;
        self.alive.get_mut(index)?.take()
    }

    /// Returns the timers that are left.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.alive.into_iter().chain(self.next).flatten()
    }
}

/// The expected timers of `timer-expiry`, and those that have expired.
///
/// COST: a clock reading per expired timer if the due times are spread, and none otherwise.
#[derive(Debug)]
pub struct Expiries {
    asked: Expiry,
    begin: Instant,
    overdue: bool,
    expired: u64,
    late: Delays,
}

impl Expiries {
    /// Fixes the due times, relative to now.
    #[must_use]
    pub fn new(asked: Expiry) -> Self {
        let begin = Instant::now();
        Expiries { asked, begin, overdue: false, expired: 0, late: Delays::default() }
    }

    /// Returns the first due time.
    fn first(&self) -> Instant {
        self.begin + Duration::from_millis(self.asked.after_ms)
    }

    /// Returns the due times of all timers.
    pub fn due(&self) -> impl Iterator<Item = Instant> + Send + use<> {
        let (first, spread) = (self.first(), self.asked.spread_ms + 1);
        let within = move |x: u64| first + Duration::from_millis(x * spread / RANGE);
        draws(self.asked.seed).map(within).zip(0..self.asked.n).map(|(due, _)| due)
    }

    /// Records that all timers are set.
    pub fn all_set(&mut self) {
        self.overdue = Instant::now() > self.first();
    }

    /// Records the expiry of a timer. Returns whether others have yet to expire.
    #[inline]
    pub fn expired(&mut self, due: Instant) -> bool {
        self.expired += 1;
        if self.asked.spread_ms > 0 {
            self.late.record(due.elapsed());
        }
        self.expired < self.asked.n
    }

    /// Returns the sample. To be called when the last timer has expired.
    #[must_use]
    pub fn sample(self) -> Sample {
        Sample::new(self.first().elapsed(), self.asked.n, self.asked.n, self.expired)
            .with("overdue", u64::from(self.overdue))
            .with_delays(self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_takes_each_timer_of_the_last_pass_once() {
        let mut window = Window::new(Timers { window: 100, n: 0, seed: 3 });
        (0..100).for_each(|timer| window.add(timer));
        for pass in 0..3 {
            let mut taken = Vec::new();
            for timer in 0..100 {
                taken.extend(window.take());
                window.add(100 * (pass + 1) + timer);
            }
            assert_ne!(taken[..2], [100 * pass, 100 * pass + 1]);
            taken.sort_unstable();
            assert_eq!(taken, (100 * pass..100 * (pass + 1)).collect::<Vec<_>>());
        }
        assert_eq!(window.rest().count(), 100);
    }

    #[test]
    fn empty_window_has_no_timer_to_take() {
        assert_eq!(Window::<()>::new(Timers { window: 1, n: 1, seed: 0 }).take(), None);
    }

    #[test]
    fn due_times_are_spread_over_whole_milliseconds() {
        let asked = Expiry { n: 1000, after_ms: 5, spread_ms: 20, seed: 1 };
        let expiries = Expiries::new(asked);
        let after: Vec<_> = expiries.due().map(|due| (due - expiries.begin).as_micros()).collect();
        assert_eq!(after.len(), 1000);
        assert_eq!((after.iter().min(), after.iter().max()), (Some(&5000), Some(&25_000)));
        assert!(after.iter().all(|after| after % 1000 == 0));
    }

    #[test]
    fn sample_counts_expiries_and_has_lateness_only_of_spread_timers() {
        for (spread_ms, figures) in [(0, 1), (1, 5)] {
            let asked = Expiry { n: 2, after_ms: 0, spread_ms, seed: 1 };
            let mut expiries = Expiries::new(asked);
            let due: Vec<_> = expiries.due().collect();
            expiries.all_set();
            assert!(expiries.expired(due[0]));
            assert!(!expiries.expired(due[1]));
            let sample = expiries.sample();
            assert_eq!((sample.ops, sample.sent, sample.received), (2, 2, 2));
            assert_eq!(sample.extra.len(), figures);
        }
    }
}
