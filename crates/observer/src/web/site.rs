//! State shared by the request handlers.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin::{Node, ProcessId, WeakNode};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::answer::Refusal;
use super::board::Board;
use super::lately::Lately;
use super::observer::Observer;
use super::round_trips::RoundTrips;
use super::token::Token;
use super::trace::Tracing;
use super::warnings::Found;
use crate::census::{Census, Sampler};
#[cfg(feature = "metrics")]
use crate::metrics::Exporter;

/// Largest number of event streams.
const STREAMS: usize = 16;
/// Time the sampler stays active after the last request, so that a repeated request is answered immediately.
const LINGER: Duration = Duration::from_secs(3);
/// Timeout of the first census; a node with millions of processes takes long.
const FIRST: Duration = Duration::from_secs(20);

/// State shared by the request handlers.
pub(crate) struct Site {
    pub(crate) node: WeakNode,
    pub(crate) name: String,
    pub(crate) sampler: Sampler,
    /// Sampling period.
    pub(crate) period: Duration,
    pub(crate) token: Token,
    /// Allowed host names in addition to addresses.
    pub(crate) hosts: Vec<String>,
    pub(crate) may_exit: bool,
    pub(crate) board: Arc<Board>,
    pub(crate) round_trips: Arc<RoundTrips>,
    pub(crate) lately: Lately,
    pub(crate) streams: Arc<Semaphore>,
    /// Limits CPU-bound work to one job at a time.
    pub(crate) workshop: Arc<Semaphore>,
    pub(crate) warnings: watch::Sender<Arc<Found>>,
    #[cfg(feature = "metrics")]
    pub(crate) exporter: Exporter,
    /// The current or last trace.
    trace: Mutex<Option<Tracing>>,
    /// Time until which polling clients count as watchers.
    until: Mutex<Instant>,
    asked: Notify,
}

impl Site {
    pub(crate) fn new(node: &Node, observer: &Observer, token: Token) -> io::Result<Self> {
        Ok(Self {
            node: node.downgrade(),
            name: node.name().to_string(),
            sampler: Sampler::every(node, observer.period)?,
            period: observer.period,
            token,
            hosts: observer.hosts.clone(),
            may_exit: observer.may_exit,
            board: Arc::clone(&observer.board),
            round_trips: Arc::new(RoundTrips::new(observer.period)),
            lately: Lately::new(observer.period),
            streams: Arc::new(Semaphore::new(STREAMS)),
            workshop: Arc::new(Semaphore::new(1)),
            warnings: watch::Sender::default(),
            #[cfg(feature = "metrics")]
            exporter: Exporter::new(node.name()),
            trace: Mutex::default(),
            until: Mutex::new(Instant::now()),
            asked: Notify::new(),
        })
    }

    /// Returns the node, or an error if it has stopped.
    pub(crate) fn node(&self) -> Result<Node, Refusal> {
        self.node.upgrade().ok_or_else(Refusal::stopped)
    }

    /// Locks the current or last trace. No task awaits while holding the lock.
    pub(crate) fn tracing(&self) -> MutexGuard<'_, Option<Tracing>> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the latest census. If it is outdated, waits for the next one, which all waiting requests share.
    pub(crate) async fn census(&self) -> Result<Arc<Census>, Refusal> {
        let mut changes = self.sampler.subscribe();
        let (now, latest) = (Instant::now(), changes.borrow_and_update().clone());
        let looked = {
            let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *until, now + LINGER) > now
        };
        self.asked.notify_one();
        if looked && is_of_now(&latest, self.node()?.uptime()) {
            return Ok(latest);
        }
        match timeout(FIRST, changes.changed()).await {
            Ok(Ok(())) => Ok(Arc::clone(&changes.borrow())),
            Ok(Err(_)) => Err(Refusal::stopped()),
            Err(_) => Err(Refusal::late()),
        }
    }

    /// Like [`Site::census`], with the workers' utilization. Takes a period longer if there has been no watcher,
    /// because utilization is measured between two censuses.
    pub(crate) async fn measured(&self) -> Result<Arc<Census>, Refusal> {
        // WHY: the first census can take so long that polling clients would no longer count as watchers before the
        // second.
        let _watching = self.sampler.watch();
        let first = self.census().await?;
        if first.overview.measured {
            return Ok(first);
        }
        let mut changes = self.sampler.subscribe();
        let next = changes.wait_for(|it| it.overview.measured && it.number > first.number);
        match timeout(FIRST, next).await {
            Ok(Ok(next)) => Ok(Arc::clone(&next)),
            Ok(Err(_)) => Err(Refusal::stopped()),
            Err(_) => Err(Refusal::late()),
        }
    }

    /// Keeps the sampler active while requests arrive.
    pub(crate) async fn linger(&self) {
        loop {
            self.asked.notified().await;
            let watching = self.sampler.watch();
            loop {
                let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
                if until <= Instant::now() {
                    break;
                }
                sleep_until(until).await;
            }
            drop(watching);
        }
    }
}

/// Returns whether a census is recent. A watcher may have connected without a new census yet.
fn is_of_now(census: &Census, uptime: Duration) -> bool {
    census.number > 0 && uptime.saturating_sub(census.overview.at) < LINGER
}

/// Parses a pid as it is printed, of the node with that creation. Returns `None` if no process can have it.
fn read_pid(text: &str, creation: u32) -> Option<ProcessId> {
    let mut parts = text.strip_prefix("<0.")?.strip_suffix('>')?.split('.');
    let (id, serial) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then(|| ProcessId::from_parts(id, serial, creation)).flatten()
}

/// Parses a pid, or returns an error response.
pub(crate) fn pid(text: &str, node: &Node) -> Result<ProcessId, Refusal> {
    read_pid(text, node.creation())
        .ok_or_else(|| Refusal::bad("a pid looks like <0.12.3>, and is one of this node's"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use proptest::prelude::*;
    use purlin::{Node, Process};

    use super::{is_of_now, read_pid};
    use crate::census::Census;

    #[test]
    fn an_old_census_is_not_recent_even_if_a_watcher_has_connected() {
        let mut census = Census::none();
        assert!(!is_of_now(&census, Duration::ZERO));
        census.number = 1;
        Arc::make_mut(&mut census.overview).at = Duration::from_secs(60);
        for (uptime, of_now) in [(60, true), (62, true), (63, false), (7200, false)] {
            assert_eq!(is_of_now(&census, Duration::from_secs(uptime)), of_now, "{uptime}");
        }
    }

    #[test]
    fn a_printed_pid_is_parsed_back() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let id = node.block_on(async |me: Process<()>| me.id());
        assert_eq!(read_pid(&id.to_string(), id.creation()), Some(id));
        for text in ["", "0.1.0", "<0.1>", "<0.1.0.0>", "<1.1.0>", "<0.-1.0>", "<0.99999999999.0>"]
        {
            assert_eq!(read_pid(text, 1), None, "{text}");
        }
        node.stop_blocking();
    }

    proptest! {
        #[test]
        fn a_parsed_pid_is_printed_as_one_that_parses_to_the_same(
            text in "<0\\.[0-9+]{0,10}\\.[0-9]{0,10}>|.{0,20}",
        ) {
            if let Some(id) = read_pid(&text, 7) {
                prop_assert_eq!(read_pid(&id.to_string(), 7), Some(id));
            }
        }
    }
}
