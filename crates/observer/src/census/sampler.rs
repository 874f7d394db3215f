//! The thread that looks.
//!
//! It looks once a second while somebody watches, and is parked while nobody does. It ends with its
//! node, which it does not keep, or when its last handle is dropped.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use purlin::{Node, WeakNode};
use tokio::sync::watch;

use super::{Census, Cost, DropsSeen, History, HogSeen, Memory, Overview, Table, WorkerLoad};

/// How often it looks while somebody watches.
pub const PERIOD: Duration = Duration::from_secs(1);

/// The thread that looks at a node, as others see it. Cloning gives another handle on it.
#[derive(Clone)]
pub struct Sampler(Arc<Handle>);

/// Somebody looks for as long as this is kept.
#[must_use]
pub struct Watching(Arc<Shared>);

/// Ends the thread with the last of them.
struct Handle(Arc<Shared>);

struct Shared {
    latest: watch::Sender<Arc<Census>>,
    history: Mutex<History>,
    desk: Mutex<Desk>,
    called: Condvar,
}

#[derive(Default)]
struct Desk {
    watchers: usize,
    closed: bool,
}

impl Sampler {
    /// Begins a thread that looks at a node once somebody watches.
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn start(node: &Node) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            latest: watch::Sender::new(Arc::new(Census::none())),
            history: Mutex::default(),
            desk: Mutex::default(),
            called: Condvar::new(),
        });
        let (own, weak) = (Arc::clone(&shared), node.downgrade());
        let name = format!("{}-observer", node.name());
        thread::Builder::new().name(name).spawn(move || own.run(&weak))?;
        Ok(Self(Arc::new(Handle(shared))))
    }

    /// Has it look for as long as what is returned is kept. The first census is there soon after.
    pub fn watch(&self) -> Watching {
        self.0.0.desk().watchers += 1;
        self.0.0.called.notify_all();
        Watching(Arc::clone(&self.0.0))
    }

    /// The last census, which is old if nobody watches.
    pub fn latest(&self) -> Arc<Census> {
        Arc::clone(&self.0.0.latest.borrow())
    }

    /// Each census as it comes.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Census>> {
        self.0.0.latest.subscribe()
    }

    /// The figures of the last ten minutes.
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
        self.0.desk().watchers -= 1;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.desk().closed = true;
        self.0.called.notify_all();
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        // WHY: nothing can panic while it is locked, so it is never half-changed.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, node: &WeakNode) {
        let mut rest = Duration::ZERO;
        while self.wait(rest) {
            let Some(node) = node.upgrade() else { return };
            let began = Instant::now();
            let census = self.look(&node);
            self.history().push(Arc::clone(&census.overview));
            self.latest.send_replace(Arc::new(census));
            rest = PERIOD.max(began.elapsed() * 99);
        }
    }

    /// Waits for so long, and then until somebody watches; `false` when it is to end.
    fn wait(&self, rest: Duration) -> bool {
        let mut desk = self.desk();
        let until = Instant::now() + rest;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if desk.closed {
                return false;
            }
            desk = match (left.is_zero(), desk.watchers) {
                (true, 0) => self.called.wait(desk).unwrap_or_else(PoisonError::into_inner),
                (true, _) => return true,
                (false, _) => {
                    let waited = self.called.wait_timeout(desk, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn look(&self, node: &Node) -> Census {
        let began = Instant::now();
        let before = Arc::clone(&self.latest.borrow());
        let mut table = Table::default();
        table.from = node.uptime();
        let all = node.processes().into_iter();
        let left_out = all.filter_map(|info| (!table.push(info)).then_some(())).count() as u64;
        table.until = node.uptime();
        let walk = began.elapsed();
        let overview = overview(node, &before.overview, &table);
        Census {
            number: before.number + 1,
            when: SystemTime::now(),
            cost: Cost {
                overview: began.elapsed() - walk,
                walk,
                walk_lasted: walk,
                share: began.elapsed().as_secs_f64() / overview.span.as_secs_f64().max(1.0),
                left_out,
            },
            overview: Arc::new(overview),
            processes: Arc::new(table),
            calls: Arc::default(),
        }
    }
}

fn overview(node: &Node, before: &Overview, table: &Table) -> Overview {
    let at = node.uptime();
    let span = if before.at.is_zero() { Duration::ZERO } else { at.saturating_sub(before.at) };
    let hogs = node.hogs().into_iter().map(|hog| HogSeen {
        id: hog.id,
        function: hog.function,
        for_so_long: hog.since.elapsed(),
    });
    let (total, of_all) = (node.drops(), node.dropped_messages());
    let before = before.drops.total;
    let of_all_before =
        before.ended + before.alias + before.rejected + before.newest + before.oldest;
    Overview {
        at,
        span,
        workers: vec![WorkerLoad::default(); node.workers()],
        processes: table.len(),
        max_processes: node.max_processes(),
        memory: Memory { resident: None, processes: table.memory_of_all() },
        hogs: hogs.collect(),
        drops: DropsSeen { total, per_second: per_second(of_all - of_all_before, span) },
        ..Overview::default()
    }
}

fn per_second(count: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { count as f64 / span.as_secs_f64() }
}
