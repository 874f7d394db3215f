//! Rate limit of the log events of one kind.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of events in [`WINDOW`].
const LIMIT: u32 = 20;
const WINDOW: Duration = Duration::from_secs(1);

/// Rate limit: [`LIMIT`] events per [`WINDOW`].
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    /// Events admitted in the window.
    events: u32,
    /// Events suppressed since the last one that was admitted.
    suppressed: u64,
}

impl LogLimit {
    /// Counts an event. Returns the number of events that were suppressed since the last one that
    /// was admitted, or `None` if this one is suppressed.
    ///
    /// COST: a lock.
    pub(crate) fn admit(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.began.is_none_or(|began| now.saturating_duration_since(began) >= WINDOW) {
            (window.began, window.events) = (Some(now), 0);
        }
        if window.events == LIMIT {
            window.suppressed += 1;
            return None;
        }
        window.events += 1;
        Some(std::mem::take(&mut window.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_beyond_the_limit_are_suppressed_and_counted() {
        // WHY real time: the limit is given every time; only differences matter.
        let (limit, began) = (LogLimit::default(), Instant::now());
        for n in 0..LIMIT + 5 {
            assert_eq!(limit.admit(began), (n < LIMIT).then_some(0));
        }
        let end = began + WINDOW;
        assert_eq!(limit.admit(end - Duration::from_nanos(1)), None);
        assert_eq!(limit.admit(end), Some(6));
        assert_eq!(limit.admit(end), Some(0));
    }
}
