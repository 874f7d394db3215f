//! Budget of bytes for the read buffers of all connections of a server.
//!
//! The first [`FREE`] bytes of each buffer are not charged. Before it grows beyond them, the
//! connection charges the difference to the budget. Without bytes left, the connection with a charge
//! that has been idle longest, at least for [`STALLED`], is [asked to end](Budget::make_room). A
//! connection that is the only one with a charge may exceed the budget, so that the largest message
//! can always be received.
//!
//! INVARIANT: `used` is the sum of all charges, and exceeds the limit only by a single charge. A
//! connection is in `charged` while it has a charge.
//!
//! COST: one or two atomic operations and sometimes a lock when a buffer grows or shrinks, none per
//! read.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::close_reason::CloseReason;
use super::idle::{Idle, nanoseconds};
use super::idle_order::IdleOrder;
use super::timeout::now;
use crate::wire::read_buffer::INITIAL;

/// Bytes of a buffer that are not charged.
pub(crate) const FREE: usize = INITIAL;

/// Time since its last message after which a connection may have to end for others.
///
/// WHY: messages that arrive at the same time must not end each other while they make progress.
const STALLED: Duration = Duration::from_millis(100);

/// Budget of a server.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    charged: Mutex<IdleOrder>,
    /// Number of the next charge.
    next: AtomicU64,
    /// When a connection was asked to end, in nanoseconds; 0 once bytes were returned since.
    asked_at: AtomicU64,
    returned: Notify,
}

/// Charge of one connection. Dropping it returns the bytes.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
    number: u64,
    idle: Arc<Idle>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, ..Self::default() })
    }

    // ORDER: relaxed, here and below: the counters publish no other data.

    /// Returns the number of charged bytes.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns a charge of no bytes for a connection.
    pub(crate) fn charge(self: &Arc<Self>, idle: Arc<Idle>) -> Charge {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Charge { budget: Arc::clone(self), bytes: 0, number, idle }
    }

    /// Waits until bytes are returned after this call.
    pub(crate) fn returned(&self) -> Notified<'_> {
        self.returned.notified()
    }

    /// Asks the stalled connection with a charge that has been idle longest to end, if there is one.
    ///
    /// WHY one at a time: its bytes may suffice for all that wait. One that does not react counts as
    /// gone after [`STALLED`].
    pub(crate) fn make_room(&self) {
        let now = now();
        let before = nanoseconds(now.saturating_sub(STALLED));
        let mut charged = self.charged();
        if self.asked_at.load(Ordering::Relaxed) > before {
            return;
        }
        if let Some(idle) = charged.longest_idle(before, nanoseconds(now)) {
            self.asked_at.store(nanoseconds(now), Ordering::Relaxed);
            idle.end(CloseReason::OverBudget);
        }
    }

    fn charged(&self) -> MutexGuard<'_, IdleOrder> {
        // WHY: no code panics while the lock is held.
        self.charged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Charge {
    /// Returns the idle state of the connection.
    pub(crate) fn idle(&self) -> &Arc<Idle> {
        &self.idle
    }

    /// Returns the budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the buffer capacity that is paid for.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes + FREE
    }

    /// Raises the charge to that of a buffer of this capacity. Returns `false` and changes nothing
    /// if the budget has too few bytes left.
    pub(crate) fn try_raise(&mut self, capacity: usize) -> bool {
        let due = capacity.saturating_sub(FREE);
        let Some(more) = due.checked_sub(self.bytes).filter(|more| *more > 0) else { return true };
        let (limit, own) = (self.budget.limit, self.bytes);
        let raised = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            let raised = used.checked_add(more)?;
            (raised <= limit || used == own).then_some(raised)
        });
        if raised.is_err() {
            return false;
        }
        if own == 0 {
            let idle = Arc::clone(&self.idle);
            self.budget.charged().insert(self.number, nanoseconds(now()), idle);
        }
        self.bytes = due;
        true
    }

    /// Lowers the charge to that of a buffer of this capacity, if it is higher.
    pub(crate) fn lower(&mut self, capacity: usize) {
        let due = capacity.saturating_sub(FREE);
        if due >= self.bytes {
            return;
        }
        if due == 0 {
            self.budget.charged().remove(self.number);
        }
        self.budget.used.fetch_sub(self.bytes - due, Ordering::Relaxed);
        self.bytes = due;
        self.budget.asked_at.store(0, Ordering::Relaxed);
        self.budget.returned.notify_waiters();
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.lower(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use purlin::{Exit, Node, Process};

    use super::*;

    /// A node, and a process on it that stands for a connection.
    fn connection() -> (Node, Arc<Idle>) {
        let node = Node::builder().workers(1).build().expect("a node starts");
        let process = node.spawn(async |mut me: Process<Exit>| drop(me.receive().await));
        (node, Arc::new(Idle::new(process)))
    }

    #[test]
    fn only_charge_may_exceed_the_budget_and_a_second_one_may_not() {
        let (node, idle) = connection();
        let budget = Budget::new(1000);
        let (mut one, mut other) = (budget.charge(Arc::clone(&idle)), budget.charge(idle));
        assert!(other.try_raise(FREE), "the first bytes are free");
        assert!(one.try_raise(FREE + 5000));
        assert!(!other.try_raise(FREE + 1));
        one.lower(FREE + 900);
        assert!(other.try_raise(FREE + 100));
        assert!(!one.try_raise(FREE + 901));
        drop(other);
        assert!(one.try_raise(FREE + 901));
        drop(one);
        assert_eq!(budget.used(), 0);
        node.stop_blocking();
    }

    proptest! {
        #[test]
        fn used_bytes_are_the_sum_of_all_charges_within_the_limit(
            steps in prop::collection::vec((0..4_usize, 0..3000_usize, any::<bool>()), 0..60),
        ) {
            let (node, idle) = connection();
            let budget = Budget::new(2000);
            let mut charges: Vec<_> = (0..4).map(|_| budget.charge(Arc::clone(&idle))).collect();
            for (which, bytes, raise) in steps {
                if raise {
                    charges[which].try_raise(FREE + bytes);
                } else {
                    charges[which].lower(FREE + bytes);
                }
                let all: Vec<_> = charges.iter().map(|charge| charge.bytes).filter(|bytes| *bytes > 0).collect();
                prop_assert_eq!(all.iter().sum::<usize>(), budget.used());
                prop_assert!(budget.used() <= 2000 + 3000, "one charge at most is beyond the limit");
            }
            node.stop_blocking();
        }
    }
}
