//! Trace session: the handle of a trace.

use std::fmt;
use std::sync::Arc;

use super::buffer::{FollowError, State, Status, TraceBuffer};
use super::event::Event;
use super::options::Options;
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
        let attachment = self.buffer.enter(id)?;
        peer.signal(Signal::Follow(attachment)).map_err(|_| {
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
