//! How soon connected nodes answer, asked for as long as somebody looks.
//!
//! Handlers call [`RoundTrips::look`], which has nodes asked and waits for none of them. A node is asked at most once
//! in two periods of the census, and not before it has answered or [`PATIENCE`] has passed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, PingError};

/// How long a question waits. WHY not for ever: one that is lost with what was to answer it is asked again.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is known of the nodes that were connected at the last look.
pub(crate) struct RoundTrips {
    /// From one question to the next.
    pub(crate) every: Duration,
    known: Mutex<BTreeMap<NodeName, Known>>,
}

/// What is known of one node.
#[derive(Default)]
struct Known {
    /// The last round trip, and when it was over.
    last: Option<(Duration, Instant)>,
    asked: Option<Instant>,
    /// The question is under way.
    waits: bool,
    /// When the first of the questions was asked that have not been answered.
    unanswered: Option<Instant>,
}

/// What is told of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RoundTrip {
    /// How long the last one took.
    pub(crate) took: Option<Duration>,
    /// How long ago that was.
    pub(crate) age: Option<Duration>,
    /// For how long a question has not been answered.
    pub(crate) unanswered: Option<Duration>,
}

impl RoundTrip {
    /// Duration of the last round trip, or `None` if the node has not answered for `every`, the interval of the pings.
    #[cfg(feature = "metrics")]
    pub(crate) fn of_now(&self, every: Duration) -> Option<Duration> {
        self.took.filter(|_| self.unanswered.is_none_or(|waited| waited < every))
    }
}

impl Known {
    /// Whether it is to be asked now; if so, it counts as asked.
    fn asks(&mut self, now: Instant, every: Duration) -> bool {
        let since = self.asked.map(|asked| now.saturating_duration_since(asked));
        if self.waits || since.is_some_and(|since| since < every) {
            return false;
        }
        let looked = since.is_some_and(|since| since < 2 * PATIENCE);
        if !looked && self.unanswered.take().is_some() {
            // WHY: of the time in which nobody looked it is not known whether it would have answered, and what was
            // known before is of no node that answers.
            self.last = None;
        }
        self.unanswered = self.unanswered.or(Some(now));
        (self.asked, self.waits) = (Some(now), true);
        true
    }

    /// What has become of the question.
    fn hears(&mut self, took: Option<Duration>, now: Instant) {
        self.waits = false;
        if let Some(took) = took {
            (self.last, self.unanswered) = (Some((took, now)), None);
        }
    }

    fn told(&self, now: Instant) -> RoundTrip {
        let ago = |then| now.saturating_duration_since(then);
        RoundTrip {
            took: self.last.map(|(took, _)| took),
            age: self.last.map(|(_, then)| ago(then)),
            unanswered: self.unanswered.map(ago),
        }
    }
}

impl RoundTrips {
    /// For a page that asks once in each period.
    pub(crate) fn new(period: Duration) -> Self {
        Self { every: 2 * period, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<NodeName, Known>> {
        // WHY: nothing can panic while it is locked, so it is never half-changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of these nodes, which are all that the cluster is connected to, in their order. Has those asked
    /// whose time has come. Must be called within a tokio runtime.
    pub(crate) fn look<'a>(
        self: &Arc<Self>,
        cluster: &Cluster,
        nodes: impl Iterator<Item = &'a NodeName>,
    ) -> Vec<RoundTrip> {
        let now = Instant::now();
        let mut known = self.known();
        let mut before = std::mem::take(&mut *known);
        let told = nodes.map(|node| {
            let mut it = before.remove(node).unwrap_or_default();
            if it.asks(now, self.every) {
                self.ask(cluster, node);
            }
            let told = it.told(now);
            known.insert(node.clone(), it);
            told
        });
        told.collect()
    }

    fn ask(self: &Arc<Self>, cluster: &Cluster, node: &NodeName) {
        let (this, node, answer) = (Arc::clone(self), node.clone(), cluster.ping(node, PATIENCE));
        tokio::spawn(async move {
            let answer = answer.await;
            let mut known = this.known();
            match (answer, known.get_mut(&node)) {
                (Ok(took), Some(it)) => it.hears(Some(took), Instant::now()),
                (Err(PingError::Timeout(_)), Some(it)) => it.hears(None, Instant::now()),
                // What was known was of a connection that is lost.
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
    fn a_node_is_asked_every_two_seconds_and_not_before_it_has_answered() {
        // WHY: only the origin of the times that the test passes in.
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
    fn one_that_answers_no_more_shows_what_was_known_its_age_and_for_how_long_it_has_not_answered()
    {
        // WHY: only the origin of the times that the test passes in.
        let began = Instant::now();
        let (at, seconds) = (|seconds| began + Duration::from_secs(seconds), Duration::from_secs);
        let mut node = Known::default();
        assert_eq!(node.told(at(0)), RoundTrip::default());
        node.asks(at(0), EVERY);
        node.hears(Some(MILLISECOND), at(1));
        assert!(node.asks(at(3), EVERY));
        node.hears(None, at(23));
        assert!(node.asks(at(24), EVERY));
        let told = node.told(at(30));
        let expected = (Some(MILLISECOND), Some(seconds(29)), Some(seconds(27)));
        assert_eq!((told.took, told.age, told.unanswered), expected);
        node.hears(None, at(44));
        // Nobody looks for an hour.
        assert!(node.asks(at(3644), EVERY));
        let due = RoundTrip { unanswered: Some(seconds(1)), ..RoundTrip::default() };
        assert_eq!(node.told(at(3645)), due);
        node.hears(Some(MILLISECOND), at(3646));
        assert_eq!(node.told(at(3646)).unanswered, None);
    }

    #[test]
    fn one_that_is_asked_each_minute_has_a_round_trip_for_as_long_as_it_answers() {
        // WHY: only the origin of the times that the test passes in.
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut node = Known::default();
        let took =
            [true, true, false, false, true].into_iter().zip(0..).map(|(answers, minute)| {
                assert!(node.asks(at(60 * minute), EVERY));
                let told = node.told(at(60 * minute + 1)).took;
                node.hears(answers.then_some(MILLISECOND), at(60 * minute + 20));
                told.is_some()
            });
        // Until it has answered, or has not, what is told is of the question before.
        assert_eq!(took.collect::<Vec<_>>(), [false, true, true, false, false]);
    }
}
