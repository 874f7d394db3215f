//! Node builder.

use std::any::Any;
use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use purlin_raw::{MAX_PROCESSES, NodeCore};
use purlin_sched::{Clock, OsPriorities, Scheduler};
use tokio::runtime::Handle;

use crate::node::handle::{Inner, Io, Node};
use crate::node::io::{IoRuntime, default_threads};
use crate::node::state::NodeState;
use crate::node::workers::Workers;
use crate::process::unwind::install_hook;

/// Maximum number of workers of a node, and of I/O threads.
const MAX_WORKERS: usize = 1024;

/// Settings of a node to be started.
///
/// ```
/// # fn main() -> Result<(), purlin::BuildError> {
/// let node = purlin::Node::builder().name("shop").workers(2).max_processes(100_000).build()?;
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    name: String,
    workers: Option<usize>,
    io_threads: Option<usize>,
    max_processes: u32,
    priorities: OsPriorities,
    extensions: Vec<Extension>,
}

type Start = dyn Fn(&Node) -> io::Result<Box<dyn Any + Send>> + Send + Sync;

/// Start function of an extension.
#[derive(Clone)]
struct Extension(Arc<Start>);

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Extension")
    }
}

/// Error returned by [`Builder::build`].
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The number of workers is outside 1 to 1024.
    Workers(usize),
    /// The number of I/O threads is outside 1 to 1024.
    IoThreads(usize),
    /// The maximum number of processes is outside 1 to 134 216 704.
    MaxProcesses(u32),
    /// The name is invalid: a name is 1 to 255 bytes, letters, digits, `_`, `-`, `.`, at most one
    /// `@`.
    Name(String),
    /// The operating system refused a thread or a descriptor, or an extension failed to start.
    Io(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(n) => {
                write!(f, "a node cannot have {n} workers: choose from 1 to {MAX_WORKERS}")
            }
            Self::IoThreads(n) => {
                write!(f, "a node cannot have {n} I/O threads: choose from 1 to {MAX_WORKERS}")
            }
            Self::MaxProcesses(n) => {
                write!(f, "a node cannot hold {n} processes: choose from 1 to {MAX_PROCESSES}")
            }
            Self::Name(name) => write!(
                f,
                "{name:?} cannot be a node's name: use 1 to 255 letters, digits, '_', '-', '.' \
                 and at most one '@'"
            ),
            Self::Io(error) => write!(f, "the node could not be started: {error}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl Node {
    /// Returns a builder with default settings.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Builder {
    fn new() -> Self {
        Self {
            name: "nonode".into(),
            workers: None,
            io_threads: None,
            max_processes: MAX_PROCESSES,
            priorities: OsPriorities::default(),
            extensions: Vec::new(),
        }
    }

    /// Sets the name of the node; the default is `nonode`. The names of its threads begin with it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the number of worker threads; the default is the number of cores, at most 1024.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the number of threads for sockets, tokio's timers and tokio tasks; the default is the
    /// number of cores, at least 2 and at most 4.
    ///
    /// Processes run on the workers, so a node whose program spawns no tokio tasks needs one thread.
    /// `tokio::spawn`, and libraries that use it such as `axum::serve`, run their tasks on these
    /// threads. A task that does not await for long occupies one of them: another one takes over
    /// the sockets and timers within about 10 ms, and after 100 ms the log has a warning with the target
    /// `purlin::stalled`. When tasks occupy all of them, sockets and tokio's timers stand still.
    ///
    /// ```
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// let node = purlin::Node::builder().io_threads(3).build()?;
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    pub fn io_threads(mut self, threads: usize) -> Self {
        self.io_threads = Some(threads);
        self
    }

    /// Sets the maximum number of live processes; the default is 134 216 704, the largest value.
    /// Memory is allocated on demand: 16 bytes for each process at the peak number of live
    /// processes.
    ///
    /// Each worker caches free slots for the processes it spawns, at most an eighth of all slots in
    /// total; the cache of a thread that a process stalls (F2) comes on top. A node may therefore
    /// be full for one spawner slightly before it has this many live processes.
    pub fn max_processes(mut self, processes: u32) -> Self {
        self.max_processes = processes;
        self
    }

    /// Sets the scheduling priorities that the node may give to its own threads; the default is
    /// [`OsPriorities::Lower`]: no thread becomes real-time, and a thread that computes without
    /// awaiting is lowered, and interrupted by `SIGURG` when others wait for its processor (F2).
    pub fn os_priorities(mut self, priorities: OsPriorities) -> Self {
        self.priorities = priorities;
        self
    }

    /// Attaches an extension to the node: a value that starts and ends with it, such as a metrics
    /// server.
    ///
    /// [`Builder::build`] calls `start` on its own thread once the node runs. The returned value is
    /// dropped when the node's processes have ended. It must not hold a [`Node`], which would keep
    /// the node from stopping when all other handles are dropped; use [`Node::downgrade`].
    ///
    /// ```
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// struct Goodbye(String);
    /// impl Drop for Goodbye {
    ///     fn drop(&mut self) {
    ///         println!("{} has stopped", self.0);
    ///     }
    /// }
    /// let node = purlin::Node::builder().attach(|node| Ok(Goodbye(node.name().to_string()))).build()?;
    /// node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// If `start` fails, [`Builder::build`] returns [`BuildError::Io`] and the node stops. A
    /// simulated node starts no extensions, because its time stands still unless it is driven.
    pub fn attach<K: Send + 'static>(
        mut self,
        start: impl Fn(&Node) -> io::Result<K> + Send + Sync + 'static,
    ) -> Self {
        self.extensions.push(Extension(Arc::new(move |node| Ok(Box::new(start(node)?)))));
        self
    }

    /// Starts the node: its workers, its I/O threads, and the extensions.
    ///
    /// # Errors
    /// Returns [`BuildError`] if a setting is out of range, the operating system refuses a thread,
    /// or an extension fails to start.
    pub fn build(self) -> Result<Node, BuildError> {
        self.build_with(Clock::machine())
    }

    /// [`Builder::build`] with another clock, which the node's timers and its stop use.
    pub(crate) fn build_with(mut self, clock: Clock) -> Result<Node, BuildError> {
        let workers = self.workers.unwrap_or_else(|| {
            thread::available_parallelism().map_or(1, NonZero::get).min(MAX_WORKERS)
        });
        if !(1..=MAX_WORKERS).contains(&workers) {
            return Err(BuildError::Workers(workers));
        }
        let io_threads = self.io_threads.unwrap_or_else(default_threads);
        if !(1..=MAX_WORKERS).contains(&io_threads) {
            return Err(BuildError::IoThreads(io_threads));
        }
        self.check()?;
        let tokio = IoRuntime::start(&self.name, io_threads).map_err(BuildError::Io)?;
        let handle = tokio.handle().clone();
        let extensions = std::mem::take(&mut self.extensions);
        let scheduler = Scheduler::with_clock(workers, clock);
        let (node, workers) = self.assemble(creation(), scheduler.clone(), Io::Own(tokio), handle);
        scheduler.start(node.name(), Arc::new(workers)).map_err(BuildError::Io)?;
        for Extension(start) in &extensions {
            // After an error the node stops, as its handle is dropped.
            node.node_state().extensions.push(start(&node).map_err(BuildError::Io)?);
        }
        Ok(node)
    }

    /// Checks the settings that every kind of node has.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if !(1..=MAX_PROCESSES).contains(&self.max_processes) {
            return Err(BuildError::MaxProcesses(self.max_processes));
        }
        if !is_name(&self.name) {
            return Err(BuildError::Name(self.name.clone()));
        }
        Ok(())
    }

    /// Assembles the node, and the context of its threads, around a scheduler.
    pub(crate) fn assemble(
        self,
        creation: u32,
        scheduler: Scheduler,
        io: Io,
        tokio: Handle,
    ) -> (Node, Workers) {
        install_hook();
        let node_state = NodeState::new(creation, self.name);
        let node_core =
            NodeCore::new(scheduler.host(), node_state, self.max_processes, scheduler.workers());
        let inner = Arc::new(Inner::new(node_core.clone(), scheduler.clone(), io));
        let priorities = self.priorities;
        let node = Arc::downgrade(&inner);
        let workers = Workers { node_core, node, scheduler, tokio, priorities };
        (Node::new(inner), workers)
    }
}

fn is_name(name: &str) -> bool {
    (1..=255).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || "_-.@".contains(c))
        && name.matches('@').count() <= 1
}

/// Returns a number that differs at each start of a node (Erlang's *creation*).
fn creation() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    // Each `RandomState` has new random keys.
    RandomState::new().hash_one(std::process::id()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_letters_digits_and_at_most_one_at() {
        for name in ["a", "shop@127.0.0.1", "my-node_2", "é"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "two words", "a@b@c", "line\nbreak", "nul\0", &"x".repeat(256)] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
