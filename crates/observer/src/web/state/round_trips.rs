//! Round-trip times to connected nodes, measured while a watcher is connected.
//!
//! Handlers call [`RoundTrips::peers`], which sends probes and waits for none of them. A node is probed at most once in
//! two sampling periods, and not before it has answered or [`TIMEOUT`] has passed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, PingError};
use purlin_dist::link::Traffic;

/// Timeout of a probe. WHY a timeout: if the process that answers is gone, the probe is lost and has to be repeated.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Measurements of the nodes that were connected at the last call.
pub(crate) struct RoundTrips {
    /// Probe interval.
    pub(crate) every: Duration,
    known: Mutex<BTreeMap<NodeName, Known>>,
}

/// Measurements of one node.
#[derive(Default)]
struct Known {
    /// The last round-trip time and when it was measured.
    last: Option<(Duration, Instant)>,
    asked: Option<Instant>,
    /// Whether a probe is pending.
    waits: bool,
    /// When the first of the unanswered probes was sent.
    unanswered: Option<Instant>,
}

/// Reported measurements of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RoundTrip {
    /// Last round-trip time.
    pub(crate) took: Option<Duration>,
    /// Time since that measurement.
    pub(crate) age: Option<Duration>,
    /// Time since the first unanswered probe.
    pub(crate) unanswered: Option<Duration>,
}

impl RoundTrip {
    /// Returns the last round-trip time, or `None` if the node has not answered for `every`, the interval of the pings.
    #[cfg(feature = "metrics")]
    pub(crate) fn of_now(&self, every: Duration) -> Option<Duration> {
        self.took.filter(|_| self.unanswered.is_none_or(|waited| waited < every))
    }
}

impl Known {
    /// Returns whether to probe the node now; if so, records the probe as sent.
    fn asks(&mut self, now: Instant, every: Duration) -> bool {
        let since = self.asked.map(|asked| now.saturating_duration_since(asked));
        if self.waits || since.is_some_and(|since| since < every) {
            return false;
        }
        let watched = since.is_some_and(|since| since < 2 * TIMEOUT);
        if !watched && self.unanswered.take().is_some() {
            // WHY: it is unknown whether the node would have answered while there was no watcher, and the earlier
            // measurement belongs to a node that did not answer.
            self.last = None;
        }
        self.unanswered = self.unanswered.or(Some(now));
        (self.asked, self.waits) = (Some(now), true);
        true
    }

    /// Records the answer to the probe, or its timeout as `None`.
    fn hears(&mut self, took: Option<Duration>, now: Instant) {
        self.waits = false;
        if let Some(took) = took {
            (self.last, self.unanswered) = (Some((took, now)), None);
        }
    }

    fn round_trip(&self, now: Instant) -> RoundTrip {
        let ago = |then| now.saturating_duration_since(then);
        RoundTrip {
            took: self.last.map(|(took, _)| took),
            age: self.last.map(|(_, then)| ago(then)),
            unanswered: self.unanswered.map(ago),
        }
    }
}

impl RoundTrips {
    /// Creates the measurements for a page that polls once per period.
    pub(crate) fn new(period: Duration) -> Self {
        Self { every: 2 * period, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<NodeName, Known>> {
        // WHY poisoning is ignored: nothing can panic while the lock is held, so the state is consistent.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connected nodes with their traffic and round-trip times, and sends the probes that are due.
    /// Measurements of other nodes are dropped. Must be called within a tokio runtime.
    pub(crate) fn peers(
        self: &Arc<Self>,
        cluster: &Cluster,
    ) -> Vec<(NodeName, Traffic, RoundTrip)> {
        let (traffic, now) = (cluster.traffic(), Instant::now());
        let mut known = self.known();
        let mut before = std::mem::take(&mut *known);
        let peers = traffic.into_iter().map(|(node, traffic)| {
            let mut it = before.remove(&node).unwrap_or_default();
            if it.asks(now, self.every) {
                self.ask(cluster, &node);
            }
            let round_trip = it.round_trip(now);
            known.insert(node.clone(), it);
            (node, traffic, round_trip)
        });
        peers.collect()
    }

    fn ask(self: &Arc<Self>, cluster: &Cluster, node: &NodeName) {
        let (this, node, answer) = (Arc::clone(self), node.clone(), cluster.ping(node, TIMEOUT));
        tokio::spawn(async move {
            let answer = answer.await;
            let mut known = this.known();
            match (answer, known.get_mut(&node)) {
                (Ok(took), Some(it)) => it.hears(Some(took), Instant::now()),
                (Err(PingError::Timeout(_)), Some(it)) => it.hears(None, Instant::now()),
                // The connection is lost, so its measurements are obsolete.
                _ => _ = known.remove(&node),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_secs(2);
    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn a_node_is_probed_at_the_interval_and_not_before_it_has_answered() {
        // WHY: the clock is only the origin of the times that the test passes in.
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut node = Known::default();
        assert!(node.asks(at(0), EVERY));
        assert!((1..10).all(|second| !node.asks(at(second), EVERY)), "it has not answered");
        node.hears(Some(MILLISECOND), at(10));
        assert!(node.asks(at(10), EVERY));
        node.hears(Some(MILLISECOND), at(10));
        assert!(!node.asks(at(11), EVERY) && node.asks(at(12), EVERY));
    }

    #[test]
    fn an_unresponsive_node_shows_its_last_round_trip_its_age_and_the_time_without_answer() {
        // WHY: the clock is only the origin of the times that the test passes in.
        let began = Instant::now();
        let (at, seconds) = (|seconds| began + Duration::from_secs(seconds), Duration::from_secs);
        let mut node = Known::default();
        assert_eq!(node.round_trip(at(0)), RoundTrip::default());
        node.asks(at(0), EVERY);
        node.hears(Some(MILLISECOND), at(1));
        assert!(node.asks(at(3), EVERY));
        node.hears(None, at(23));
        assert!(node.asks(at(24), EVERY));
        let round_trip = node.round_trip(at(30));
        let expected = (Some(MILLISECOND), Some(seconds(29)), Some(seconds(27)));
        assert_eq!((round_trip.took, round_trip.age, round_trip.unanswered), expected);
        node.hears(None, at(44));
        // No watcher for an hour.
        assert!(node.asks(at(3644), EVERY));
        let due = RoundTrip { unanswered: Some(seconds(1)), ..RoundTrip::default() };
        assert_eq!(node.round_trip(at(3645)), due);
        node.hears(Some(MILLISECOND), at(3646));
        assert_eq!(node.round_trip(at(3646)).unanswered, None);
    }

    #[test]
    fn a_node_probed_each_minute_has_a_round_trip_time_while_it_answers() {
        // WHY: the clock is only the origin of the times that the test passes in.
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut node = Known::default();
        let took =
            [true, true, false, false, true].into_iter().zip(0..).map(|(answers, minute)| {
                assert!(node.asks(at(60 * minute), EVERY));
                let round_trip = node.round_trip(at(60 * minute + 1)).took;
                node.hears(answers.then_some(MILLISECOND), at(60 * minute + 20));
                round_trip.is_some()
            });
        // Until the pending probe is answered or times out, the result of the previous one is reported.
        assert_eq!(took.collect::<Vec<_>>(), [false, true, true, false, false]);
    }
}
