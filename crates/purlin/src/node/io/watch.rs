//! Thread that watches the I/O threads of a node.
//!
//! It takes a sample every 5 ms while an I/O thread runs tasks. A thread that made no progress since
//! the last sample holds the node's sockets and timers: the watcher wakes a parked thread with an
//! empty task, and that thread waits for events when the task is done. After 100 ms it writes a
//! warning to the log, and another one when the thread makes progress again.
//!
//! The watcher rests when all threads have been parked for 20 samples. A thread that has tasks to
//! run wakes it. An event that wakes only processes runs no task, so the watcher of a node without
//! tasks always rests.
//!
//! COST: a lock each time an I/O thread unparks to run tasks. While tasks run, 200 wake-ups per
//! second.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::node::io::policy::{Policy, Report, Sample};
use crate::process::unwind::contain;

/// Time between two samples.
const TICK: Duration = Duration::from_millis(5);
/// Number of samples for which all threads must be parked before the watcher rests.
const IDLE_TICKS: u32 = 20;
/// Target of the log events, as for processes that do not await.
const TARGET: &str = "purlin::stalled";

/// Watcher of the I/O threads of one node.
#[derive(Default)]
pub(super) struct Watcher {
    mode: Mutex<Mode>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Sampling,
    Resting,
    Stopped,
}

/// A running watcher. Dropping it ends the thread.
pub(super) struct Watching(Arc<Watcher>);

impl Drop for Watching {
    fn drop(&mut self) {
        *self.0.mode() = Mode::Stopped;
        self.0.changed.notify_one();
    }
}

impl Watcher {
    /// Starts the watcher's thread.
    pub(super) fn start(self: Arc<Self>, node: &str, tokio: Handle) -> io::Result<Watching> {
        let (watcher, node) = (Arc::clone(&self), node.to_owned());
        let name = format!("{node}-iowatch");
        thread::Builder::new().name(name).spawn(move || watcher.run(&node, &tokio))?;
        Ok(Watching(self))
    }

    /// Wakes a resting watcher. Called by an I/O thread that is about to run tasks.
    pub(super) fn wake(&self) {
        let mut mode = self.mode();
        if *mode == Mode::Resting {
            *mode = Mode::Sampling;
            self.changed.notify_one();
        }
    }

    fn mode(&self) -> MutexGuard<'_, Mode> {
        // WHY: no code panics while the lock is held.
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, node: &str, tokio: &Handle) {
        let mut policy = Policy::default();
        let mut idle_ticks = 0;
        while self.wait(tokio, idle_ticks >= IDLE_TICKS) {
            let decision = policy.decide(Instant::now(), samples(tokio));
            idle_ticks = if decision.at_rest { idle_ticks + 1 } else { 0 };
            if decision.hand_off {
                tokio.spawn(async {});
            }
            for report in decision.reports {
                write(node, tokio.metrics().num_workers(), report);
            }
        }
    }

    /// Waits for the next tick, or until a thread has tasks to run. Returns `false` when the watcher
    /// is to end.
    fn wait(&self, tokio: &Handle, may_rest: bool) -> bool {
        let mut mode = self.mode();
        // A thread counts its end of parking before it calls `wake`. So either this sample shows it
        // or `wake` finds the mode `Resting`.
        if may_rest && *mode == Mode::Sampling && samples(tokio).all(Sample::is_parked) {
            *mode = Mode::Resting;
        }
        while *mode == Mode::Resting {
            mode = self.changed.wait(mode).unwrap_or_else(PoisonError::into_inner);
        }
        let deadline = Instant::now() + TICK;
        while *mode != Mode::Stopped {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            mode = self
                .changed
                .wait_timeout(mode, left)
                .map_or_else(|error| error.into_inner().0, |(mode, _)| mode);
        }
        false
    }
}

fn samples(tokio: &Handle) -> impl Iterator<Item = Sample> {
    let metrics = tokio.metrics();
    (0..metrics.num_workers()).map(move |n| Sample {
        parks: metrics.worker_park_unpark_count(n),
        busy: metrics.worker_total_busy_duration(n),
    })
}

fn write(node: &str, threads: usize, report: Report) {
    // WHY: `contain`, because tracing subscribers are user code.
    contain(|| match report {
        Report::Held(elapsed) => tracing::warn!(
            target: TARGET, node, threads, ?elapsed,
            "a tokio task holds an I/O thread: let it await, or compute in a process"
        ),
        Report::Released(elapsed) => {
            tracing::warn!(target: TARGET, node, ?elapsed, "the I/O thread is free again");
        }
    });
}
