//! Period of sysmon: 500 µs, and up to 4 ms while all workers compute steadily.
//!
//! Each wake-up of sysmon takes processor time from a worker. While all workers compute, make
//! progress and do not sleep, sysmon has nothing to decide, so its period grows. A worker that falls
//! asleep meanwhile ends the long period ([`SleepWatch`]).
//!
//! COST: one load when a worker falls asleep, and a wake-up of sysmon if its period is long.

use std::time::Duration;

use crate::sync::{AtomicU32, Ordering};

/// Period of sysmon, unless all workers compute steadily.
pub(crate) const TICK: Duration = Duration::from_micros(500);
/// How often the period doubles. WHY three: 4 ms is the kernel's own tick.
const DOUBLINGS: u32 = 3;

/// Returns the time until the next tick after `steady` ticks in which all workers computed.
///
/// WHY not longer after the first: a worker that stalls has made progress in that tick.
pub(crate) fn period(steady: u32) -> Duration {
    TICK * (1 << steady.saturating_sub(1).min(DOUBLINGS))
}

/// A worker has slept since sysmon's last tick.
const SLEPT: u32 = 0;
/// No worker has slept.
const AWAKE: u32 = 1;
/// No worker has slept, and sysmon's period is long.
const LONG_PERIOD: u32 = 2;

/// Records for sysmon whether a worker has slept.
pub(crate) struct SleepWatch(AtomicU32);

impl SleepWatch {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(SLEPT))
    }

    /// Begins a period. Returns whether no worker has slept in the last one.
    pub(crate) fn begin(&self, period: Duration) -> bool {
        let state = if period > TICK { LONG_PERIOD } else { AWAKE };
        // ORDER: relaxed, here and below: the state publishes no other data, and a worker that is
        // missed is seen at the next tick.
        self.0.swap(state, Ordering::Relaxed) != SLEPT
    }

    /// Returns whether a worker has slept in this period.
    pub(crate) fn has_slept(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SLEPT
    }

    /// Records that a worker falls asleep. Returns whether sysmon must be woken.
    #[must_use]
    pub(crate) fn falls_asleep(&self) -> bool {
        self.0.load(Ordering::Relaxed) != SLEPT
            && self.0.swap(SLEPT, Ordering::Relaxed) == LONG_PERIOD
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    // F2: a core is handed off within two periods, the longest of which is the kernel's tick
    #[test]
    fn the_period_grows_while_all_workers_compute() {
        let expected =
            [(0, 500), (1, 500), (2, 1000), (3, 2000), (4, 4000), (5, 4000), (u32::MAX, 4000)];
        for (steady, micros) in expected {
            assert_eq!(period(steady), Duration::from_micros(micros), "after {steady} ticks");
        }
    }

    #[test]
    fn a_worker_that_sleeps_is_recorded_and_wakes_sysmon_from_a_long_period_once() {
        for (period, wakes) in [(TICK, false), (2 * TICK, true)] {
            let watch = SleepWatch::new();
            assert!(!watch.begin(period), "workers may have slept before");
            assert!(watch.begin(period));
            assert!(!watch.has_slept());
            assert_eq!(watch.falls_asleep(), wakes);
            assert!(!watch.falls_asleep() && watch.has_slept());
            assert!(!watch.begin(period));
        }
    }
}
