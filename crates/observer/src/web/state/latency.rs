//! Recent ack latency of servers: the difference of two readings of the latency counters.
//!
//! Two readings per server are kept while a watcher is connected, and replaced once they are older than two sampling
//! periods.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use purlin_ack::server::Latency;

/// Readings are discarded after this many halves of the window without a new one.
const FORGOTTEN: u32 = 5;

/// Previous readings of servers, by name, with their addresses.
pub(crate) struct RecentLatency {
    /// Half of the window: a reported latency covers one to two of these.
    half: Duration,
    windows: Mutex<BTreeMap<String, (SocketAddr, Window)>>,
}

/// Two readings of a server.
struct Window {
    /// The reading that reported latencies are relative to.
    from: (Instant, Latency),
    /// The reading that replaces it next.
    next: (Instant, Latency),
}

impl Window {
    fn new(now: Instant, read: Latency) -> Self {
        Self { from: (now, read.clone()), next: (now, read) }
    }

    /// Returns the time since the earlier reading and the latencies since; `None` for the first reading.
    fn read(&mut self, now: Instant, read: Latency, half: Duration) -> Option<(Duration, Latency)> {
        let since_next = now.saturating_duration_since(self.next.0);
        if since_next > FORGOTTEN * half {
            *self = Self::new(now, read);
            return None;
        }
        let (from, before) = &self.from;
        let result = (now.saturating_duration_since(*from), read.since(before));
        if since_next >= half {
            self.from = std::mem::replace(&mut self.next, (now, read));
        }
        Some(result).filter(|(span, _)| !span.is_zero())
    }
}

impl RecentLatency {
    /// Creates the readings for a page that polls once per period.
    pub(crate) fn new(period: Duration) -> Self {
        Self { half: 2 * period, windows: Mutex::default() }
    }

    /// Returns the ack latencies since an earlier reading and the time since that reading. Returns `None` if the last
    /// reading is too old, or if the name belonged to another server.
    pub(crate) fn read(
        &self,
        server: &str,
        address: SocketAddr,
        now: Instant,
        read: Latency,
    ) -> Option<(Duration, Latency)> {
        // WHY poisoning is ignored: nothing can panic while the lock is held, so the state is consistent.
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, window)) = windows.get_mut(server)
            && *known == address
        {
            return window.read(now, read, self.half);
        }
        windows.insert(server.to_owned(), (address, Window::new(now, read)));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_cover_the_last_two_to_four_seconds_and_start_anew_after_a_pause() {
        // WHY: the clock is only the origin of the times that the test passes in.
        let began = Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let mut window = Window::new(began, Latency::default());
        let mut span = |millis| {
            let read = window.read(at(millis), Latency::default(), Duration::from_secs(2));
            read.map(|(span, _)| span.as_millis())
        };
        assert_eq!(span(0), None);
        let beginning: Vec<_> = (1..=9).map(|half| span(500 * half)).collect();
        let spans = [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 2500];
        assert_eq!(beginning, spans.map(Some));
        assert_eq!(
            [12_000, 12_001, 14_000].map(&mut span),
            [Some(10_000), Some(8_001), Some(10_000)]
        );
        assert_eq!([24_001, 25_001].map(&mut span), [None, Some(1000)]);
    }

    #[test]
    fn another_server_with_the_same_name_starts_anew() {
        // WHY: the clock is only the origin of the times that the test passes in.
        let (recent, began) = (RecentLatency::new(Duration::from_secs(1)), Instant::now());
        let known = [1, 1, 2, 2, 1].into_iter().zip(0..).map(|(port, second)| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let now = began + Duration::from_secs(second);
            recent.read("orders", address, now, Latency::default()).is_some()
        });
        assert_eq!(known.collect::<Vec<_>>(), [false, true, false, true, false]);
    }
}
