//! What the handlers of requests have in common: the node, what was seen of it, and who may do what.

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

/// How many may follow the node live at a time.
const STREAMS: usize = 16;
/// How long the sampler goes on after the last question, so that whoever asks again is answered at once.
const LINGER: Duration = Duration::from_secs(3);
/// How long the first census may take, of a node with millions of processes.
const FIRST: Duration = Duration::from_secs(20);

/// What the handlers of requests have in common.
pub(crate) struct Site {
    pub(crate) node: WeakNode,
    pub(crate) name: String,
    pub(crate) sampler: Sampler,
    /// From one census to the next.
    pub(crate) period: Duration,
    pub(crate) token: Token,
    /// Names by which it may be called, besides addresses.
    pub(crate) hosts: Vec<String>,
    pub(crate) may_exit: bool,
    pub(crate) board: Arc<Board>,
    pub(crate) round_trips: Arc<RoundTrips>,
    pub(crate) lately: Lately,
    pub(crate) streams: Arc<Semaphore>,
    /// Room for one who does what takes long.
    pub(crate) workshop: Arc<Semaphore>,
    pub(crate) warnings: watch::Sender<Arc<Found>>,
    #[cfg(feature = "metrics")]
    pub(crate) exporter: Exporter,
    /// The trace that was started last.
    trace: Mutex<Option<Tracing>>,
    /// Until when somebody counts as looking.
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

    /// The node, while it lives.
    pub(crate) fn node(&self) -> Result<Node, Refusal> {
        self.node.upgrade().ok_or_else(Refusal::stopped)
    }

    /// The trace that was started last. Nobody waits for anything while it is locked.
    pub(crate) fn tracing(&self) -> MutexGuard<'_, Option<Tracing>> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen last. If nobody has looked for a while, what is seen next, whoever asks meanwhile.
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

    /// The same, with the workers' utilization. If nobody has looked for a while it takes a second, since that is
    /// measured from one look to the next.
    pub(crate) async fn measured(&self) -> Result<Arc<Census>, Refusal> {
        // WHY: the first look can take so long that nobody would count as looking before the second.
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

    /// Keeps the sampler looking while questions come.
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

/// Whether a census is of the present: somebody may have begun to look without having seen anything yet.
fn is_of_now(census: &Census, uptime: Duration) -> bool {
    census.number > 0 && uptime.saturating_sub(census.overview.at) < LINGER
}

/// Reads a process's id as it is printed, of the node with that creation; `None` if no process can have it.
fn read_pid(text: &str, creation: u32) -> Option<ProcessId> {
    let mut parts = text.strip_prefix("<0.")?.strip_suffix('>')?.split('.');
    let (id, serial) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then(|| ProcessId::from_parts(id, serial, creation)).flatten()
}

/// The same, or why not.
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
    fn a_census_of_long_ago_is_not_of_now_although_somebody_has_begun_to_look() {
        let mut census = Census::none();
        assert!(!is_of_now(&census, Duration::ZERO));
        census.number = 1;
        Arc::make_mut(&mut census.overview).at = Duration::from_secs(60);
        for (uptime, of_now) in [(60, true), (62, true), (63, false), (7200, false)] {
            assert_eq!(is_of_now(&census, Duration::from_secs(uptime)), of_now, "{uptime}");
        }
    }

    #[test]
    fn a_pid_is_read_as_it_is_printed() {
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
        fn whatever_is_read_as_a_pid_is_printed_as_one_that_reads_the_same(
            text in "<0\\.[0-9+]{0,10}\\.[0-9]{0,10}>|.{0,20}",
        ) {
            if let Some(id) = read_pid(&text, 7) {
                prop_assert_eq!(read_pid(&id.to_string(), 7), Some(id));
            }
        }
    }
}
