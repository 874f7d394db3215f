//! State shared by the request handlers.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin::{Node, WeakNode};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::board::Board;
use super::latency::RecentLatency;
use super::questions::Questions;
use super::round_trips::RoundTrips;
use super::tracing::Tracing;
#[cfg(feature = "metrics")]
use crate::metrics::Exporter;
use crate::snapshot::{PERIOD, Sampler, Snapshot};
use crate::warnings::Warning;
use crate::web::refusal::Refusal;
use crate::web::token::Token;

/// Largest number of event streams.
const STREAMS: usize = 16;
/// Shortest time the sampler stays active after the last request.
const LINGER: Duration = Duration::from_secs(3);
/// Timeout of the first snapshot at a period of 0; a node with millions of processes takes long.
const FIRST: Duration = Duration::from_secs(20);

/// Settings of the page.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Allowed host names in addition to addresses.
    pub(crate) hosts: Vec<String>,
    pub(crate) may_exit: bool,
    /// Sampling period.
    pub(crate) period: Duration,
    pub(crate) board: Arc<Board>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { hosts: Vec::new(), may_exit: false, period: PERIOD, board: Arc::default() }
    }
}

impl Settings {
    /// Time the sampler stays active after the last request, and age up to which a snapshot is recent: a request
    /// repeated within it is answered immediately.
    ///
    /// WHY two periods: within one, the snapshot of the previous request would be outdated before the next one.
    fn linger(&self) -> Duration {
        LINGER.max(2 * self.period)
    }

    /// Timeout of a snapshot. Utilization is measured between two, a period apart.
    fn first(&self) -> Duration {
        FIRST + 2 * self.period
    }
}

/// Warnings as of one snapshot, in node uptime.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Number of the snapshot.
    pub(crate) number: u64,
    pub(crate) at: Duration,
    pub(crate) warnings: Vec<Warning>,
}

/// State shared by the request handlers.
pub(crate) struct Site {
    pub(crate) node: WeakNode,
    pub(crate) name: String,
    pub(crate) sampler: Sampler,
    pub(crate) token: Token,
    pub(crate) settings: Settings,
    pub(crate) round_trips: Arc<RoundTrips>,
    pub(crate) latency: RecentLatency,
    pub(crate) questions: Questions,
    pub(crate) streams: Arc<Semaphore>,
    /// Limits CPU-bound work to one job at a time.
    blocking: Arc<Semaphore>,
    pub(crate) warnings: watch::Sender<Arc<Found>>,
    #[cfg(feature = "metrics")]
    pub(crate) exporter: Exporter,
    /// The current or last trace.
    trace: Mutex<Option<Tracing>>,
    /// Time until which polling clients count as watchers.
    until: Mutex<Instant>,
    asked: Notify,
    /// Whether the background tasks have ended, as they do with the node.
    closed: watch::Sender<bool>,
}

/// Ends the streams and the waiting requests when dropped.
struct Closing(Arc<Site>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.closed.send_replace(true);
    }
}

impl Site {
    pub(crate) fn new(node: &Node, settings: Settings, token: Token) -> io::Result<Self> {
        Ok(Self {
            node: node.downgrade(),
            name: node.name().to_string(),
            sampler: Sampler::every(node, settings.period)?,
            token,
            round_trips: Arc::new(RoundTrips::new(settings.period)),
            latency: RecentLatency::new(settings.period),
            questions: Questions::default(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            blocking: Arc::new(Semaphore::new(1)),
            warnings: watch::Sender::default(),
            #[cfg(feature = "metrics")]
            exporter: Exporter::new(node.name()),
            trace: Mutex::default(),
            until: Mutex::new(Instant::now()),
            asked: Notify::new(),
            closed: watch::Sender::new(false),
            settings,
        })
    }

    /// Returns the node, or an error if it has stopped.
    pub(crate) fn node(&self) -> Result<Node, Refusal> {
        let node = self.node.upgrade().filter(|_| !*self.closed.borrow());
        node.ok_or_else(Refusal::stopped)
    }

    /// Waits until the node has stopped.
    ///
    /// WHY: a router outlives its node, and so does the state that the handlers share. Without this a stream would
    /// never end, and the program's server would never complete a graceful shutdown.
    pub(crate) async fn closed(&self) {
        // Cannot fail: `self` has the sender.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Returns the background tasks, to be run on the node. The site is closed when they end or are dropped.
    pub(crate) fn background(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let closing = Closing(Arc::clone(self));
        async move {
            tokio::join!(closing.0.linger(), closing.0.lint());
        }
    }

    /// Locks the current or last trace. No task awaits while holding the lock.
    pub(crate) fn tracing(&self) -> MutexGuard<'_, Option<Tracing>> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the latest snapshot. If it is outdated, waits for the next one, which all waiting requests share.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot>, Refusal> {
        let uptime = self.node()?.uptime();
        let (now, latest) = (Instant::now(), self.sampler.latest());
        let linger = self.settings.linger();
        let watched = {
            let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *until, now + linger) > now
        };
        self.asked.notify_one();
        if watched && is_of_now(&latest, uptime, linger) {
            return Ok(latest);
        }
        self.wait_for(|it| it.number > latest.number).await
    }

    /// Like [`Site::snapshot`], with the workers' utilization. Takes a period longer if there has been no watcher,
    /// because utilization is measured between two snapshots.
    pub(crate) async fn measured(&self) -> Result<Arc<Snapshot>, Refusal> {
        // WHY: the first snapshot can take so long that polling clients would no longer count as watchers before the
        // second.
        let _watching = self.sampler.watch();
        let first = self.snapshot().await?;
        if first.overview.measured {
            return Ok(first);
        }
        self.wait_for(|it| it.overview.measured && it.number > first.number).await
    }

    /// Waits for a snapshot that satisfies the predicate.
    async fn wait_for(
        &self,
        is_so: impl FnMut(&Arc<Snapshot>) -> bool,
    ) -> Result<Arc<Snapshot>, Refusal> {
        let mut changes = self.sampler.subscribe();
        let next = async {
            tokio::select! {
                () = self.closed() => Err(Refusal::stopped()),
                next = changes.wait_for(is_so) => match next {
                    Ok(next) => Ok(Arc::clone(&next)),
                    Err(_) => Err(Refusal::stopped()),
                },
            }
        };
        timeout(self.settings.first(), next).await.unwrap_or_else(|_| Err(Refusal::late()))
    }

    /// Runs CPU-bound work on the blocking thread, one job at a time, so that it delays no other
    /// response.
    ///
    /// *Cancellation*: work that has not started is dropped; work that has started runs to its end and
    /// its result is discarded.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn =
            Arc::clone(&self.blocking).acquire_owned().await.map_err(|_| Refusal::stopped())?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(|_| Refusal::stopped())
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

/// Returns whether a snapshot is recent. A watcher may have connected without a new snapshot yet.
fn is_of_now(snapshot: &Snapshot, uptime: Duration, linger: Duration) -> bool {
    snapshot.number > 0 && uptime.saturating_sub(snapshot.overview.at) < linger
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::Duration;

    use purlin::Node;
    use tokio::runtime::Builder;
    use tokio::time::timeout;

    use super::{FIRST, Settings, Site, is_of_now};
    use crate::snapshot::Snapshot;
    use crate::web::routes::LONGEST;
    use crate::web::token::Token;

    #[test]
    fn an_old_snapshot_is_not_recent_even_if_a_watcher_has_connected() {
        let mut snapshot = Snapshot::none();
        let linger = Settings::default().linger();
        assert!(!is_of_now(&snapshot, Duration::ZERO, linger));
        snapshot.number = 1;
        Arc::make_mut(&mut snapshot.overview).at = Duration::from_secs(60);
        for (uptime, of_now) in [(60, true), (62, true), (63, false), (7200, false)] {
            let uptime = Duration::from_secs(uptime);
            assert_eq!(is_of_now(&snapshot, uptime, linger), of_now, "{uptime:?}");
        }
    }

    #[test]
    fn the_sampler_lingers_and_requests_wait_for_two_periods_however_long() {
        for seconds in [1, 30, 60, 3600] {
            let period = Duration::from_secs(seconds);
            let settings = Settings { period, ..Settings::default() };
            assert!(settings.linger() >= 2 * period, "{period:?}");
            assert!(settings.first() >= 2 * period + FIRST, "{period:?}");
            assert!(settings.first() < LONGEST + 2 * period, "a late snapshot has its own error");
        }
    }

    #[test]
    fn a_cancelled_job_leaves_the_queue_and_a_started_job_finishes_first() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let token = Token::random().expect("random");
        let site = Site::new(&node, Settings::default(), token).expect("a thread");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (end, ended) = channel::<()>();
            let begun = site.run_blocking(move || {
                let _ = ended.recv();
            });
            assert!(timeout(Duration::ZERO, begun).await.is_err());
            assert!(site.blocking.try_acquire().is_err(), "it continues without a client");
            let (did, done) = channel();
            let waits = site.run_blocking(move || {
                let _ = did.send(());
            });
            assert!(timeout(Duration::ZERO, waits).await.is_err());
            assert_eq!(done.try_recv(), Err(TryRecvError::Disconnected), "it has left the queue");
            drop(end);
            assert_eq!(site.run_blocking(|| 7).await.ok(), Some(7));
        });
        node.stop_blocking();
    }
}
