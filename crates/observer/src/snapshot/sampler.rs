//! The sampler thread.
//!
//! The thread samples while at least one [`Watching`] exists and is parked otherwise. It holds only a weak reference to
//! the node. It ends when its last handle is dropped, or when the node has ended while a watcher is connected.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use purlin::{Node, WeakNode};
use tokio::sync::watch;

use super::schedule::Schedule;
use super::{History, PERIOD, Snapshot, supported};

/// Handle of the sampler thread of a node. Clones share the thread.
#[derive(Clone)]
pub struct Sampler(Arc<Handle>);

/// Keeps the sampler active until it is dropped.
#[must_use]
pub struct Watching(Arc<Shared>);

/// Ends the thread when the last handle is dropped.
struct Handle(Arc<Shared>);

/// State shared by the sampler thread and its handles.
struct Shared {
    latest: watch::Sender<Arc<Snapshot>>,
    history: Mutex<History>,
    control: Mutex<Control>,
    changed: Condvar,
    period: Duration,
}

/// What the sampler thread waits for: a watcher, or the end.
#[derive(Default)]
struct Control {
    watchers: usize,
    closed: bool,
}

impl Sampler {
    /// Starts the sampler thread, which samples the node every [`PERIOD`] while a watcher is connected.
    ///
    /// # Errors
    /// Returns an error if the operating system fails to start the thread.
    pub fn start(node: &Node) -> io::Result<Self> {
        Self::every(node, PERIOD)
    }

    /// Like [`Sampler::start`], with `period` clamped to between one millisecond and one hour.
    ///
    /// # Errors
    /// Returns an error if the operating system fails to start the thread.
    pub fn every(node: &Node, period: Duration) -> io::Result<Self> {
        let period = supported(period);
        let shared = Arc::new(Shared {
            latest: watch::Sender::new(Arc::new(Snapshot::none())),
            history: Mutex::default(),
            control: Mutex::default(),
            changed: Condvar::new(),
            period,
        });
        let (own, weak) = (Arc::clone(&shared), node.downgrade());
        let name = format!("{}-observer", node.name());
        thread::Builder::new().name(name).spawn(move || own.run(&weak))?;
        Ok(Self(Arc::new(Handle(shared))))
    }

    /// Keeps the sampler active until the returned guard is dropped. The first snapshot follows soon after.
    pub fn watch(&self) -> Watching {
        self.0.0.control().watchers += 1;
        self.0.0.changed.notify_all();
        Watching(Arc::clone(&self.0.0))
    }

    /// Returns the last snapshot, which is old if there is no watcher.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.0.0.latest()
    }

    /// Returns a receiver of every new snapshot.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.0.latest.subscribe()
    }

    /// Returns the overviews of the last ten minutes.
    pub fn history(&self) -> History {
        self.0.0.history().clone()
    }
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sampler")
    }
}

impl std::fmt::Debug for Watching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watching")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.control().watchers -= 1;
        self.0.changed.notify_all();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.control().closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn control(&self) -> MutexGuard<'_, Control> {
        // WHY poisoning is ignored: nothing can panic while the lock is held, so the state is consistent.
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, node: &WeakNode) {
        while self.wait(None) {
            let Some(strong) = node.upgrade() else { return };
            let mut schedule = Schedule::new(&strong, &self.latest(), self.period);
            drop(strong);
            while self.wait(Some(schedule.next())) {
                let Some(node) = node.upgrade() else { return };
                let Some(snapshot) = schedule.step(&node, &self.latest()) else { continue };
                self.history().push(Arc::clone(&snapshot.overview));
                self.latest.send_replace(Arc::new(snapshot));
            }
        }
    }

    fn latest(&self) -> Arc<Snapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// With a time, waits until `until` and returns `true`; returns `false` early if the last watcher leaves. Without a
    /// time, waits for a watcher and returns `true`. Returns `false` if the sampler is closed.
    fn wait(&self, until: Option<Instant>) -> bool {
        let mut control = self.control();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            control = match left {
                _ if control.closed => return false,
                None if control.watchers > 0 => return true,
                None => self.changed.wait(control).unwrap_or_else(PoisonError::into_inner),
                Some(_) if control.watchers == 0 => return false,
                Some(Duration::ZERO) => return true,
                Some(left) => {
                    let waited = self.changed.wait_timeout(control, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}
