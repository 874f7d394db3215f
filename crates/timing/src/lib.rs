//! Measures a function call by call: for a duration, for a number of calls, or until the first of
//! both.
//!
//! After `time_it:t` of Mark Greenstreet's lecture on processes and messages (CpSc 418, 2017). The
//! requested type selects what is collected, as with [`Iterator::collect`]:
//!
//! | type | contents | memory |
//! |---|---|---|
//! | [`Summary`] | calls, mean, sample standard deviation, shortest, longest | 56 bytes in all |
//! | [`Times`] | the time of every call | 16 bytes per call |
//! | [`Calls`] | the time and the result of every call | 16 bytes and a value per call |
//!
//! ```
//! use std::time::Duration;
//! use purlin_timing::{Calls, Summary, time_it};
//!
//! let sum = |upto: u64| (1..=upto).fold(0u64, |sum, one| sum ^ std::hint::black_box(one));
//!
//! let summary: Summary = time_it(Duration::from_millis(5), || sum(1000));
//! println!("{summary}");
//!
//! let calls: Calls<u64> = time_it(20, || sum(10));
//! assert_eq!(calls.values, [11; 20]);
//! assert_eq!(calls.times.as_slice().len(), 20);
//!
//! let either: Summary = time_it((Duration::from_secs(1), 3), || sum(10));
//! assert_eq!(either.calls(), 3);
//! ```
//!
//! A function that can fail ends the measurement with its first error; the calls measured until
//! then are returned ([`try_time_it`]).
//!
//! # What is measured
//!
//! Each call is measured separately, with [`Instant`], so a time includes about one reading of the
//! clock: [`Clock::measure`] returns its cost, 20 to 50 ns on most machines. Nothing is subtracted.
//! Measure a call that takes no longer than that in a loop of a thousand iterations. The result of
//! a call goes through [`std::hint::black_box`], so that the compiler cannot eliminate the work;
//! hiding the *input* of the work is up to the caller, as above.
//!
//! All functions may be called from any thread, also concurrently. The function runs on the
//! caller's thread, and nothing is allocated, locked or printed while it runs.

mod clock;
mod collector;
mod limit;
mod moments;

use std::convert::Infallible;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

pub use clock::Clock;
pub use collector::{Calls, Collector, Summary, Times};
pub use limit::Limit;
pub use moments::Moments;

/// Calls a function until the limit, and measures each call.
///
/// The limit is a [`Duration`], a number of calls, both as a pair (whichever is reached first), or
/// a [`Limit`]. There is always a first call unless the limit is zero calls; the last call ends at
/// or after the duration. A measurement cannot be interrupted: to stop it early, let the function
/// return an error and use [`try_time_it`].
///
/// COST: two readings of the clock per call; memory by the collector, see [the crate](crate).
pub fn time_it<C: Collector<T> + Default, T>(
    limit: impl Into<Limit>,
    mut call: impl FnMut() -> T,
) -> C {
    let mut collected = C::default();
    match try_time_into(limit, &mut collected, || Ok::<T, Infallible>(call())) {
        Ok(()) => collected,
        Err(never) => match never {},
    }
}

/// Like [`time_it`], for a function that can fail; its first error ends the measurement.
///
/// ```
/// use purlin_timing::{Failed, Times, try_time_it};
///
/// let mut left = 3u32;
/// let timed: Result<Times, Failed<_, &str>> = try_time_it(10, || {
///     left = left.checked_sub(1).ok_or("none left")?;
///     Ok(left)
/// });
/// let Failed { error, collected } = timed.unwrap_err();
/// assert_eq!(error, "none left");
/// assert_eq!(collected.as_slice().len(), 3);
/// ```
///
/// # Errors
///
/// Returns the function's error, with the calls measured before it.
pub fn try_time_it<C: Collector<T> + Default, T, E>(
    limit: impl Into<Limit>,
    call: impl FnMut() -> Result<T, E>,
) -> Result<C, Failed<C, E>> {
    let mut collected = C::default();
    match try_time_into(limit, &mut collected, call) {
        Ok(()) => Ok(collected),
        Err(error) => Err(Failed { error, collected }),
    }
}

/// Like [`try_time_it`], with a collector of the caller's, which receives each call after its end.
///
/// The time of the collector is not measured, but counts against a limit of time.
///
/// # Errors
///
/// Returns the function's error; the collector has the calls before it.
pub fn try_time_into<C: Collector<T>, T, E>(
    limit: impl Into<Limit>,
    collector: &mut C,
    call: impl FnMut() -> Result<T, E>,
) -> Result<(), E> {
    let origin = Instant::now();
    measure(limit.into(), || origin.elapsed(), collector, call)
}

/// The measurement loop; `now` returns the time since an arbitrary origin.
fn measure<C: Collector<T>, T, E>(
    limit: Limit,
    mut now: impl FnMut() -> Duration,
    collector: &mut C,
    mut call: impl FnMut() -> Result<T, E>,
) -> Result<(), E> {
    let began = now();
    let mut calls = 0;
    while limit.allows(calls) {
        let before = now();
        let value = black_box(call());
        let after = now();
        collector.record(after.saturating_sub(before), value?);
        calls += 1;
        if limit.is_over(after.saturating_sub(began)) {
            break;
        }
    }
    Ok(())
}

/// Error of a function that failed while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed<K, E> {
    /// Error that the function returned.
    pub error: E,
    /// The calls before the failure; the failed call is not included.
    pub collected: K,
}

impl<K, E: fmt::Display> fmt::Display for Failed<K, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the function failed: {}", self.error)
    }
}

impl<K: fmt::Debug, E: std::error::Error + 'static> std::error::Error for Failed<K, E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Document whose examples run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Measures calls that take the given milliseconds of a fake clock, which stands still
    /// otherwise.
    fn made_up(limit: Limit, milliseconds: &[u64]) -> Vec<u128> {
        let clock = Cell::new(Duration::ZERO);
        let mut takes = milliseconds.iter().cycle();
        let mut collected = Times::default();
        let call = || {
            clock.set(clock.get() + Duration::from_millis(*takes.next().unwrap()));
            Ok::<_, Infallible>(())
        };
        measure(limit, || clock.get(), &mut collected, call).unwrap();
        collected.as_slice().iter().map(Duration::as_millis).collect()
    }

    #[test]
    fn the_last_call_ends_at_or_after_the_time() {
        let limit = Limit::from(Duration::from_millis(100));
        assert_eq!(made_up(limit, &[50]), [50, 50]);
        assert_eq!(made_up(limit, &[40]), [40, 40, 40]);
        assert_eq!(made_up(limit, &[500]), [500]);
    }

    #[test]
    fn a_number_of_calls_is_met_exactly() {
        assert_eq!(made_up(Limit::from(4), &[1, 2]), [1, 2, 1, 2]);
        assert!(made_up(Limit::from(0), &[1]).is_empty());
    }

    #[test]
    fn of_two_limits_the_first_reached_counts() {
        let both = |ms, calls| Limit::from((Duration::from_millis(ms), calls));
        assert_eq!(made_up(both(100, 2), &[10]).len(), 2);
        assert_eq!(made_up(both(30, 50), &[10]).len(), 3);
    }

    #[test]
    fn the_default_limit_is_one_second() {
        assert_eq!(made_up(Limit::default(), &[250]).len(), 4);
    }

    #[test]
    fn a_clock_that_goes_backwards_yields_zero_and_no_panic() {
        let mut readings = [5u64, 9, 3, 2, 8].map(Duration::from_millis).into_iter();
        let mut collected = Times::default();
        let call = || Ok::<_, Infallible>(());
        measure(Limit::from(2), || readings.next().unwrap(), &mut collected, call).unwrap();
        assert_eq!(collected.as_slice(), [Duration::ZERO, Duration::from_millis(6)]);
    }
}
