//! Count of the bytes that this node owes the peer.

use std::collections::HashMap;
use std::sync::Arc;

use purlin_term::Pid;

use crate::link::shared::Shared;

/// Estimated memory of a stored answer beyond its payload.
pub(super) const OVERHEAD: usize = 512;

/// Answers to the peer ([`Origin::Peer`](crate::link::Origin::Peer)) that it has not read, wherever they wait.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Bytes in the queue; `in_flight` counts those taken by the writer.
    pub(super) queued: usize,
    pub(super) in_flight: usize,
    /// Number and memory of stored answers: in progress as large messages, held back, or deferred.
    stored: usize,
    memory: usize,
    /// Memory of the largest one since `stored` was 0.
    largest: usize,
    /// Number of stored answers that wait behind earlier messages with the same ordering key.
    behind: HashMap<Option<Pid>, usize>,
}

impl Answers {
    /// Bytes owed. WHY without the largest stored answer: a single answer of any size must not delay other requests.
    pub(super) fn owed(&self) -> usize {
        self.queued + self.in_flight + self.memory.saturating_sub(self.largest)
    }

    pub(super) fn store(&mut self, memory: usize) {
        self.stored += 1;
        self.memory += memory;
        self.largest = self.largest.max(memory);
    }

    pub(super) fn release(&mut self, memory: usize) {
        self.stored -= 1;
        self.memory -= memory;
        if self.stored == 0 {
            self.largest = 0;
        }
    }

    /// A stored answer waits behind earlier messages with this ordering key.
    pub(super) fn wait_behind(&mut self, ordering_key: Option<Pid>) {
        *self.behind.entry(ordering_key).or_default() += 1;
    }

    /// Undoes [`Answers::wait_behind`].
    pub(super) fn no_longer_behind(&mut self, ordering_key: &Option<Pid>) {
        if let Some(count) = self.behind.get_mut(ordering_key) {
            *count -= 1;
            if *count == 0 {
                self.behind.remove(ordering_key);
            }
        }
    }

    /// Whether an answer waits behind messages with this ordering key.
    pub(super) fn is_behind(&self, ordering_key: &Option<Pid>) -> bool {
        !self.behind.is_empty() && self.behind.contains_key(ordering_key)
    }
}

/// An answer that is sent later, counted until this is dropped. See [`Link::defer`](crate::Link::defer).
#[derive(Debug)]
pub struct DeferredAnswer {
    pub(super) shared: Arc<Shared>,
    pub(super) ordering_key: Option<Pid>,
    pub(super) memory: usize,
}

impl Drop for DeferredAnswer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.answers.no_longer_behind(&self.ordering_key);
        state.answers.release(self.memory);
        self.shared.update_crowded(&state);
        drop(state);
        self.shared.capacity.notify_waiters();
    }
}
