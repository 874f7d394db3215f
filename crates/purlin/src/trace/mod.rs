//! Following chosen processes: what they send, receive, spawn, link and monitor, and how they end.
//!
//! A [`Trace`] is kept within limits, so that it can be used where users are served: past so many events a
//! second, or in all, it stops itself and says so. Its events are in a list of bounded length; what had to go
//! because nobody read it in time is counted.
//!
//! ```
//! use purlin::trace::{EventKind, Options, Trace};
//! use purlin::{Node, Process, spawn};
//!
//! #[purlin::main]
//! async fn main(mut me: Process<u32>) {
//!     let home = me.pid();
//!     let doubler = spawn(async move |mut it: Process<u32>| {
//!         let n = it.receive().await;
//!         home.send(2 * n);
//!     });
//!     let node = Node::current().expect("a process has a node");
//!     let trace = Trace::start(&node, Options::default());
//!     trace.follow(doubler.id()).expect("it lives");
//!     doubler.send(21);
//!     assert_eq!(me.receive().await, 42);
//!     doubler.ended().await;
//!     let kinds: Vec<_> = trace.events(0).iter().map(|event| event.kind).collect();
//!     assert_eq!(kinds, [EventKind::Receive, EventKind::Send, EventKind::End]);
//! }
//! ```
//!
//! An event has the type of a message, not its content: writing that down would run code of the program's in
//! the middle of the process that is followed, takes as long as the message is large, and might show what
//! is secret to whoever may look. Whoever wants it says how, type by type: [`Options::show`]. An answer to a call
//! goes to who waits for it and to no mailbox: it is no event.
//!
//! A process is told by a signal that it is followed, in order with all else it is sent (M2), so it is from its
//! next turn on; one that does not await is not before it does. A process is followed by one trace at a
//! time, the last that was told to.
//!
//! COST: for a process that is not followed an instruction for each send and two for each receive and spawn,
//! to see that. For one that is: some 200 ns for each event, more if it enters those that others have written;
//! nobody waits for who reads. A trace has room for 1024 events that wait to be entered, some 100 kB.
//!
//! | file | role |
//! |---|---|
//! | `event` | what is seen |
//! | `options` | how much of it |
//! | `book` | what is kept of it, and when it is too much |
//! | `hooks` | where processes come by |
//! | `span` | processes in a span of `tracing`'s, messages that carry theirs |

mod book;
mod event;
pub(crate) mod hooks;
mod options;
mod span;

use std::fmt;
use std::sync::Arc;

pub use book::{State, Status};
pub use event::{Event, EventKind};
pub use options::Options;
pub use span::{Traced, spanned};

pub(crate) use book::Book;

use crate::signal::{Signal, tell};
use crate::{Node, ProcessId, WeakNode};

/// Events of the processes that it follows. It ends when it is dropped.
pub struct Trace {
    book: Arc<Book>,
    node: WeakNode,
}

/// Why a process is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowError {
    /// No process of the node has that id (any more).
    NoProcess(ProcessId),
    /// It is no process of a program's, but serves those, as what stands for a process of another node.
    Serves(ProcessId),
    /// The trace follows as many that live as it may: [`Options::processes`].
    TooMany(usize),
    /// The trace has stopped.
    Stopped(State),
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess(id) => write!(f, "noproc: no process {id} lives on this node"),
            Self::Serves(id) => write!(f, "{id} serves processes, and is none of a program's"),
            Self::TooMany(most) => write!(f, "this trace follows {most} processes already"),
            Self::Stopped(state) => write!(f, "the trace is over: {state}"),
        }
    }
}

impl std::error::Error for FollowError {}

impl Trace {
    /// A trace of processes of that node; it follows nobody yet. The node is not kept.
    pub fn start(node: &Node, options: Options) -> Self {
        let clock = node.inner().scheduler.timers().wheel(0).clone();
        Self { book: Arc::new(Book::new(options, clock)), node: node.downgrade() }
    }

    /// Follows a process, from its next turn on.
    ///
    /// # Errors
    /// [`FollowError`]: it does not live or serves others, there are too many, or the trace is over.
    pub fn follow(&self, id: ProcessId) -> Result<(), FollowError> {
        let peer = self.node.upgrade().and_then(|node| node.find(id));
        let peer = peer.ok_or(FollowError::NoProcess(id))?;
        if peer.shared().serves() {
            return Err(FollowError::Serves(id));
        }
        self.book.enter(id)?;
        peer.signal(Signal::Follow(Arc::clone(&self.book))).map_err(|_| {
            self.book.leave(id);
            FollowError::NoProcess(id)
        })
    }

    /// Follows a process no more, from its next turn on.
    pub fn unfollow(&self, id: ProcessId) {
        self.book.leave(id);
        if let Some(node) = self.node.upgrade() {
            self.let_go(&node, id);
        }
    }

    fn let_go(&self, node: &Node, id: ProcessId) {
        if let Some(peer) = node.find(id).filter(|peer| !peer.shared().serves()) {
            tell(&peer, Signal::Unfollow(Arc::clone(&self.book)));
        }
    }

    /// Stops; what has been seen stays to be read.
    pub fn stop(&self) {
        self.book.stop(State::Ended);
        if let Some(node) = self.node.upgrade() {
            self.status().processes.into_iter().for_each(|id| self.let_go(&node, id));
        }
    }

    /// How it does.
    pub fn status(&self) -> Status {
        self.book.status()
    }

    /// The events that are kept whose number is greater, at most a thousand, the oldest first.
    ///
    /// COST: a lock that nobody waits for, and the list.
    pub fn events(&self, after: u64) -> Vec<Event> {
        self.book.events(after)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("status", &self.status()).finish_non_exhaustive()
    }
}
