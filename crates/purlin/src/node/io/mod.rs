//! I/O runtime of a node: the tokio runtime for sockets, timers and spawned tasks, and the thread
//! that watches its threads.
//!
//! One of the I/O threads at a time waits for the kernel's events and for timers; the others sleep.
//! The thread that received an event also polls the task that the event woke, and wakes no other
//! thread to wait in its place unless more tasks are ready. So a task that computes stalls every
//! socket and timer of the node, however many threads there are. The watcher (`watch`) samples the
//! threads, detects that one makes no progress (`policy`) and wakes a sleeping one, which then
//! waits for events.

mod policy;
mod watch;

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::node::io::watch::{Watcher, Watching};

/// Range of the default number of threads.
const LEAST_DEFAULT: usize = 2;
const MOST_DEFAULT: usize = 4;

/// A tokio runtime and its watcher.
pub(crate) struct IoRuntime {
    runtime: Runtime,
    _watching: Watching,
}

impl IoRuntime {
    /// Starts the threads of the node with this name.
    pub(crate) fn start(node: &str, threads: usize) -> io::Result<Self> {
        let watcher = Arc::new(Watcher::default());
        let unparked = Arc::clone(&watcher);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name(format!("{node}-io"))
            .on_thread_unpark(move || unparked.wake())
            .enable_all()
            .build()?;
        let watching = watcher.start(node, runtime.handle().clone())?;
        Ok(Self { runtime, _watching: watching })
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Stops the runtime without waiting for its threads.
    pub(crate) fn stop(self) {
        self.runtime.shutdown_background();
    }
}

/// Returns the default number of I/O threads: the number of cores, at least 2 and at most 4.
pub(crate) fn default_threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.clamp(LEAST_DEFAULT, MOST_DEFAULT)
}
