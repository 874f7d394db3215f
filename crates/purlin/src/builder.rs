//! Setting up a node.

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use purlin_raw::{MAX_PROCESSES, Realm};
use purlin_sched::{Clock, Scheduler};
use tokio::runtime::Handle;

use crate::attached::Attachment;
use crate::exit::catch;
use crate::home::Home;
use crate::node::{Inner, Io, Node};
use crate::workers::Workers;

/// The most workers a node may have.
const MAX_WORKERS: usize = 1024;

/// Settings of a node that is about to be started.
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
    max_processes: u32,
    attachments: Vec<Attachment>,
}

/// Why no node was started.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// So many workers make no sense: at least one, at most 1024.
    Workers(usize),
    /// So many processes make no sense: at least one, at most 134 216 704.
    MaxProcesses(u32),
    /// That is no name: 1 to 255 bytes, letters, digits, `_`, `-`, `.` and at most one `@`.
    Name(String),
    /// The operating system refused a thread or a descriptor, or what was attached could not be started.
    Io(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers(n) => {
                write!(f, "a node cannot have {n} workers: choose from 1 to {MAX_WORKERS}")
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

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            name: "nonode".into(),
            workers: None,
            max_processes: MAX_PROCESSES,
            attachments: Vec::new(),
        }
    }

    /// What the node is called, `nonode` unless told. Its threads bear the name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many threads run processes: as many as the machine has cores, unless told.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// How many processes may live at the same time: 134 216 704 unless told. Memory is taken only
    /// as it is needed: 16 bytes for each process that ever lived beside others.
    ///
    /// Each worker keeps some free places for processes it spawns itself, at most an eighth of all
    /// together; what a thread has that is held up by a process (F2) comes on top. So a node may be
    /// full for one spawner a little before so many live.
    pub fn max_processes(mut self, processes: u32) -> Self {
        self.max_processes = processes;
        self
    }

    /// Has something started with the node that ends with it, such as a server that shows it: `start` is called
    /// on this thread when the node has been started, and what it returns is dropped when the node's processes
    /// have ended. What is kept must not have the [`Node`], which would then never stop by itself: it takes
    /// [`Node::downgrade`].
    ///
    /// ```
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// struct Told(String);
    /// impl Drop for Told {
    ///     fn drop(&mut self) {
    ///         println!("{} has stopped", self.0);
    ///     }
    /// }
    /// let node = purlin::Node::builder().attach(|node| Ok(Told(node.name().to_string()))).build()?;
    /// node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// *Errors*: one of `start` is [`BuildError::Io`], and the node is stopped. A simulated node has nothing
    /// attached: its time stands still while nobody drives it.
    pub fn attach<K: Send + 'static>(
        mut self,
        start: impl Fn(&Node) -> io::Result<K> + Send + Sync + 'static,
    ) -> Self {
        self.attachments.push(Attachment::new(start));
        self
    }

    /// Starts the node: its workers, one thread for sockets and timers, and what is attached.
    ///
    /// # Errors
    /// A setting that makes no sense, a thread the operating system refused, or what could not be attached.
    pub fn build(self) -> Result<Node, BuildError> {
        self.build_with(Clock::machine())
    }

    /// [`Builder::build`] with another clock: timers and the stop of the node go by it.
    pub(crate) fn build_with(mut self, clock: Clock) -> Result<Node, BuildError> {
        let workers = self.workers.unwrap_or_else(|| {
            thread::available_parallelism().map_or(1, NonZero::get).min(MAX_WORKERS)
        });
        if !(1..=MAX_WORKERS).contains(&workers) {
            return Err(BuildError::Workers(workers));
        }
        self.check()?;
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name(format!("{}-io", self.name))
            .enable_all()
            .build()
            .map_err(BuildError::Io)?;
        let handle = tokio.handle().clone();
        let attachments = std::mem::take(&mut self.attachments);
        let scheduler = Scheduler::with_clock(workers, clock);
        let (node, workers) = self.assemble(creation(), scheduler.clone(), Io::Own(tokio), handle);
        scheduler.start(node.name(), Arc::new(workers)).map_err(BuildError::Io)?;
        node.home().attached.start(&attachments, &node).map_err(BuildError::Io)?;
        Ok(node)
    }

    /// Refuses settings that make no sense, whatever runs the processes.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if !(1..=MAX_PROCESSES).contains(&self.max_processes) {
            return Err(BuildError::MaxProcesses(self.max_processes));
        }
        if !is_name(&self.name) {
            return Err(BuildError::Name(self.name.clone()));
        }
        Ok(())
    }

    /// The node, and what its threads need to know, when its scheduler is there.
    pub(crate) fn assemble(
        self,
        creation: u32,
        scheduler: Scheduler,
        io: Io,
        tokio: Handle,
    ) -> (Node, Workers) {
        catch::install();
        let home = Home::new(creation, self.name);
        let realm = Realm::new(scheduler.host(), home, self.max_processes, scheduler.workers());
        let inner = Arc::new(Inner::new(realm.clone(), scheduler.clone(), io));
        let workers = Workers { realm, node: Arc::downgrade(&inner), scheduler, tokio };
        (Node::new(inner), workers)
    }
}

fn is_name(name: &str) -> bool {
    (1..=255).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || "_-.@".contains(c))
        && name.matches('@').count() <= 1
}

/// A number that is different each time a node is started (Erlang's *creation*).
fn creation() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    // `RandomState` has random keys, and new ones for each value.
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
