//! Answers to processes of nodes without a connection, which wait until their node is connected.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::frame::Encoded;
use purlin_term::{Pid, Reference};

/// Estimated memory of an answer beyond its message, with the task that connects its node.
const OVERHEAD: usize = 2 << 10;

/// An answer to a process, which may be addressed by an alias. It is counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) to: Pid,
    pub(crate) alias: Option<Reference>,
    pub(crate) message: Encoded,
    pub(crate) counted: Counted,
}

/// Counts the memory of an answer until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(usize, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDER: release, partner of the acquire in `is_empty`: an answer is queued before it is no longer counted.
        self.1.fetch_sub(self.0, Ordering::Release);
    }
}

/// Waiting answers, by node.
///
/// INVARIANT: the waiting answers of a node are taken and sent under the lock, so that no later message of any thread
/// precedes them.
#[derive(Default)]
pub(crate) struct Unsent {
    nodes: Mutex<HashMap<NodeName, Vec<Answer>>>,
    /// Memory of all counted answers.
    memory: Arc<AtomicUsize>,
}

impl Unsent {
    /// Counts an answer. Returns `None` if the counted ones take more than `limit` bytes.
    pub(crate) fn count(
        &self,
        to: Pid,
        alias: Option<Reference>,
        message: Encoded,
        limit: usize,
    ) -> Option<Answer> {
        let bytes = OVERHEAD + message.len();
        // ORDER: relaxed: the sum alone matters.
        let before = self.memory.fetch_add(bytes, Ordering::Relaxed);
        let counted = Counted(bytes, Arc::clone(&self.memory));
        (before <= limit).then_some(Answer { to, alias, message, counted })
    }

    /// Whether no answer waits.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDER: acquire, partner of the release when an answer is no longer counted.
        self.memory.load(Ordering::Acquire) == 0
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<NodeName, Vec<Answer>>> {
        // No code under the lock panics.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use purlin_term::{Atom, Term};

    use super::*;

    #[test]
    fn answers_are_counted_until_they_are_dropped() {
        let unsent = Unsent::default();
        let count = |limit| {
            let node = Atom::from_static("a@h");
            let to = Pid { node, id: 1, serial: 0, creation: 1 };
            let message = Encoded::term(&Term::from(vec![7; 1000].as_slice()));
            unsent.count(to, None, message.expect("a term"), limit)
        };
        let one = count(0).expect("it is the only one");
        assert!(count(OVERHEAD).is_none());
        let other = count(2 * OVERHEAD).expect("there is room");
        assert!(!unsent.is_empty());
        drop((one, other));
        assert!(unsent.is_empty() && count(0).is_some());
    }
}
