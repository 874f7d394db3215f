//! Tracing of selected processes: their messages, spawns, links, monitors and exits, as OTP's `erlang:trace`.
//!
//! A [`Trace`] is limited, so that it can be used in production: it stops when a limit of events per second or in total
//! is exceeded, and reports that. Its events are in a list of bounded length; events evicted before they were read are
//! counted.
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
//! An event holds the type of a message, not its contents. Formatting the contents would run user code inside the
//! traced process, take time proportional to the message, and might disclose secrets to the observer. It is enabled per
//! message type by [`Options::show`]. The reply to a call goes directly to the caller and not through a mailbox, so it
//! is not an event.
//!
//! A signal attaches the trace to the process, in order with the other signals to it (M2). The process is therefore
//! traced from its next turn; a process that does not await is not traced before it does. A process is traced by at
//! most one trace, the latest one to follow it.
//!
//! COST: for a process that is not traced, one instruction per send and two per receive and spawn. For a traced
//! process, about 200 ns per event, more if it also stores the pending events of other processes; a traced process
//! never waits for a reader. A trace has a buffer of 1024 pending events, about 100 kB.
//!
//! | file | role |
//! |---|---|
//! | `event` | trace events |
//! | `options` | limits and message text |
//! | `buffer` | trace buffer |
//! | `hooks` | trace points |
//! | `span` | `tracing` spans of processes and messages |

mod buffer;
mod event;
pub(crate) mod hooks;
mod options;
mod span;

use std::fmt;
use std::sync::Arc;

pub use buffer::{FollowError, State, Status};
pub use event::{Event, EventKind};
pub use options::Options;
pub use span::{Traced, spanned};

pub(crate) use buffer::TraceBuffer;

use crate::signals::signal::{Signal, send_signal};
use crate::{Node, ProcessId, WeakNode};

/// Trace of selected processes. Dropping it stops it.
pub struct Trace {
    buffer: Arc<TraceBuffer>,
    node: WeakNode,
}

impl Trace {
    /// Starts a trace on a node. It follows no process yet. The trace does not keep the node alive.
    pub fn start(node: &Node, options: Options) -> Self {
        let clock = node.inner().scheduler.timers().wheel(0).clone();
        Self { buffer: Arc::new(TraceBuffer::new(options, clock)), node: node.downgrade() }
    }

    /// Traces a process from its next turn on.
    ///
    /// # Errors
    /// Returns [`FollowError`] if the process is not alive or is a system process, the limit of processes is reached,
    /// or the trace has stopped.
    pub fn follow(&self, id: ProcessId) -> Result<(), FollowError> {
        let peer = self.node.upgrade().and_then(|node| node.find(id));
        let peer = peer.ok_or(FollowError::NoProcess(id))?;
        if peer.shared().is_system() {
            return Err(FollowError::SystemProcess(id));
        }
        self.buffer.enter(id)?;
        peer.signal(Signal::Follow(Arc::clone(&self.buffer))).map_err(|_| {
            self.buffer.leave(id);
            FollowError::NoProcess(id)
        })
    }

    /// Stops tracing a process, from its next turn on.
    pub fn unfollow(&self, id: ProcessId) {
        self.buffer.leave(id);
        if let Some(node) = self.node.upgrade() {
            self.detach(&node, id);
        }
    }

    fn detach(&self, node: &Node, id: ProcessId) {
        if let Some(peer) = node.find(id).filter(|peer| !peer.shared().is_system()) {
            send_signal(&peer, Signal::Unfollow(Arc::clone(&self.buffer)));
        }
    }

    /// Stops the trace. Its events can still be read.
    pub fn stop(&self) {
        self.buffer.stop(State::Ended);
        if let Some(node) = self.node.upgrade() {
            self.status().processes.into_iter().for_each(|id| self.detach(&node, id));
        }
    }

    /// Returns the state and the counters of the trace.
    pub fn status(&self) -> Status {
        self.buffer.status()
    }

    /// Returns the stored events with numbers greater than `after`, oldest first, at most 1000.
    ///
    /// COST: a lock that traced processes never wait for, and the list.
    pub fn events(&self, after: u64) -> Vec<Event> {
        self.buffer.events(after)
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
