//! Log of a server: at most one line per kind of event and second, with the number of events that
//! were left out since the last line of that kind.
//!
//! Written by any process of the server. The events are exceptional: none is logged per message or
//! per read. COST: one or two atomic operations per event.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::close_reason::CloseReason;
use super::timeout::now;

/// Minimum time between two lines of one kind.
const INTERVAL: Duration = Duration::from_secs(1);

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    TooLarge,
    IdleTimeout,
    SlowReader,
    Insecure,
    HandlerFailed,
    HandlerKilled,
    MessageRefused,
    SessionRefused,
    OverBudget,
    OverAddress,
    GaveWay,
    ResourceExhausted,
}

impl Event {
    const COUNT: usize = Self::ResourceExhausted as usize + 1;

    /// Returns the event of a close reason. Returns `None` if it is not exceptional.
    fn of(end: &CloseReason) -> Option<Self> {
        Some(match end {
            CloseReason::TooLarge(_) => Self::TooLarge,
            CloseReason::IdleTimeout => Self::IdleTimeout,
            CloseReason::SlowReader => Self::SlowReader,
            CloseReason::Insecure(_) => Self::Insecure,
            CloseReason::Refused => Self::MessageRefused,
            CloseReason::Failed(_) | CloseReason::NotOffered { .. } => Self::HandlerFailed,
            CloseReason::NoSession(_) => Self::SessionRefused,
            CloseReason::OverBudget => Self::OverBudget,
            CloseReason::GaveWay => Self::GaveWay,
            _ => return None,
        })
    }
}

/// Log of a server.
#[derive(Debug, Default)]
pub(crate) struct EventLog([Throttle; Event::COUNT]);

impl EventLog {
    /// Logs why a connection was closed.
    pub(crate) fn closed(&self, peer: &dyn Display, end: &CloseReason) {
        match Event::of(end) {
            Some(event) => self.log(event, peer, end),
            None => tracing::debug!(%peer, %end, "connection closed"),
        }
    }

    /// Logs an event: failures as errors, idle timeouts as information, all others as warnings.
    pub(crate) fn log(&self, event: Event, peer: &dyn Display, what: &dyn Display) {
        let Some(suppressed) = self.0[event as usize].pass(now()) else {
            return tracing::debug!(%peer, %what, "{event:?}");
        };
        match event {
            Event::HandlerFailed | Event::HandlerKilled => {
                tracing::error!(%peer, suppressed, "{what}")
            }
            Event::IdleTimeout => tracing::info!(%peer, suppressed, "{what}"),
            _ => tracing::warn!(%peer, suppressed, "{what}"),
        }
    }
}

/// Rate limit of one kind of event.
#[derive(Debug, Default)]
struct Throttle {
    /// Earliest time of the next line, in nanoseconds; 0 before the first.
    next: AtomicU64,
    suppressed: AtomicU64,
}

impl Throttle {
    /// Returns the number of events suppressed since the last line, or `None` if this event is to
    /// be suppressed too.
    fn pass(&self, now: Duration) -> Option<u64> {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let next = now.saturating_add(INTERVAL.as_nanos() as u64);
        // ORDER: relaxed: the values publish no other data.
        let due = |at: u64| (at <= now).then_some(next);
        if self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, due).is_err() {
            self.suppressed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(self.suppressed.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_passes_per_second_and_carries_the_number_of_suppressed_ones() {
        let throttle = Throttle::default();
        let at = |milliseconds| throttle.pass(Duration::from_millis(milliseconds));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(0), at(400), at(999)), (None, None, None));
        assert_eq!(at(1000), Some(3));
        assert_eq!(at(1001), None);
        assert_eq!(at(9000), Some(1));
    }
}
