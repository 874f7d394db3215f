//! Budget of bytes for the read buffers of all connections of a server.
//!
//! The first [`FREE`] bytes of each buffer are not charged. Before it grows beyond them, the
//! connection charges the difference to the budget. Buffers that are larger than the next message
//! needs get at most [half of it](Charge::try_raise_ahead). A connection that is the only one with
//! charges may exceed the budget, so that the largest message can always be received.
//!
//! While a message finds no bytes, connections that wait for their clients free buffers that they do
//! not need, and the connection with a charge that has been idle longest, at least for [`STALLED`],
//! is [asked to end](Budget::make_room).
//!
//! INVARIANT: `used` is the sum of all charges, and exceeds the limit only by the charges of a single
//! connection. A connection is in `charged` while it has a charge.
//!
//! COST: a few atomic operations and sometimes a lock when a buffer grows or shrinks, none per read.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::close_reason::CloseReason;
use super::idle::{Idle, nanoseconds};
use super::idle_order::IdleOrder;
use super::resources::PAUSE;
use super::timeout::now;
use crate::wire::read_buffer::INITIAL;

/// Bytes of a buffer that are not charged.
pub(crate) const FREE: usize = INITIAL;

/// Time since its last message after which a connection may have to end for others.
///
/// WHY: messages that arrive at the same time must not end each other while they make progress.
const STALLED: Duration = Duration::from_millis(100);

/// Time after a failed attempt to charge bytes for which the budget counts as short.
///
/// WHY: longer than the time between two attempts of a connection that waits for bytes.
const SHORT: Duration = PAUSE.saturating_mul(3);

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
    /// Until when the budget counts as short, in nanoseconds.
    short_until: AtomicU64,
    returned: Notify,
}

/// Charge of one process of a connection. Dropping it returns the bytes.
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

    /// Waits until bytes are returned after this call. Wakes one connection at a time, which
    /// [passes the turn on](Self::pass_on) when it has got its bytes.
    ///
    /// WHY: to wake all of them for each return would cost the square of their number.
    pub(crate) fn returned(&self) -> Notified<'_> {
        self.returned.notified()
    }

    /// Wakes another connection that waits for bytes: some may be left.
    pub(crate) fn pass_on(&self) {
        self.returned.notify_one();
    }

    /// Asks the stalled connection with a charge that has been idle longest to free its buffer or to
    /// end, if there is one. The caller has found no bytes.
    ///
    /// WHY one at a time: its bytes may suffice for all that wait. One that does not react counts as
    /// gone after [`STALLED`].
    pub(crate) fn make_room(&self) {
        let now = now();
        self.short_until.store(nanoseconds(now.saturating_add(SHORT)), Ordering::Relaxed);
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

    /// Whether a buffer that its message does not need must be freed: the connection has a charge,
    /// and the budget is short.
    pub(crate) fn is_wanted(&self, now: Duration) -> bool {
        self.bytes > 0 && nanoseconds(now) < self.budget.short_until.load(Ordering::Relaxed)
    }

    /// Raises the charge to that of a buffer of this capacity, which the next message needs. Returns
    /// `false` and changes nothing if the budget has too few bytes left.
    pub(crate) fn try_raise(&mut self, capacity: usize) -> bool {
        self.try_raise_within(capacity, self.budget.limit)
    }

    /// Like [`try_raise`](Self::try_raise), for a buffer that only makes reads larger.
    ///
    /// WHY at most half of the budget: a few hundred busy connections would otherwise leave nothing
    /// for messages that need more than the free bytes.
    pub(crate) fn try_raise_ahead(&mut self, capacity: usize) -> bool {
        self.try_raise_within(capacity, self.budget.limit / 2)
    }

    fn try_raise_within(&mut self, capacity: usize, limit: usize) -> bool {
        let due = capacity.saturating_sub(FREE);
        let Some(more) = due.checked_sub(self.bytes).filter(|more| *more > 0) else { return true };
        let raised = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            let raised = used.checked_add(more)?;
            (raised <= limit || used == self.idle.charged()).then_some(raised)
        });
        if raised.is_err() {
            return false;
        }
        self.idle.raise_charged(more);
        if self.bytes == 0 {
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
        // WHY in this order: the sum of the connection is never more than its part of `used`.
        self.idle.lower_charged(self.bytes - due);
        self.budget.used.fetch_sub(self.bytes - due, Ordering::Relaxed);
        self.bytes = due;
        self.budget.asked_at.store(0, Ordering::Relaxed);
        self.budget.pass_on();
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

    /// A node, and processes on it that stand for connections.
    fn connections<const N: usize>() -> (Node, [Arc<Idle>; N]) {
        let node = Node::builder().workers(1).build().expect("a node starts");
        let connections = [(); N].map(|()| {
            let process = node.spawn(async |mut me: Process<Exit>| drop(me.receive().await));
            Arc::new(Idle::new(process))
        });
        (node, connections)
    }

    #[test]
    fn only_charge_may_exceed_the_budget_and_a_second_one_may_not() {
        let (node, idle) = connections::<2>();
        let budget = Budget::new(1000);
        let [mut one, mut other] = idle.map(|idle| budget.charge(idle));
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

    #[test]
    fn charges_of_the_only_connection_with_any_may_exceed_the_budget() {
        let (node, [idle, other]) = connections::<2>();
        let budget = Budget::new(1000);
        let [mut one, mut two] = [(); 2].map(|()| budget.charge(Arc::clone(&idle)));
        assert!(one.try_raise(FREE + 600) && two.try_raise(FREE + 5000));
        one.lower(FREE);
        assert!(two.try_raise(FREE + 6000));
        two.lower(FREE + 900);
        let mut other = budget.charge(other);
        assert!(other.try_raise(FREE + 100) && !one.try_raise(FREE + 1));
        drop((one, two, other));
        assert_eq!((budget.used(), idle.charged()), (0, 0));
        node.stop_blocking();
    }

    #[test]
    fn buffers_that_no_message_needs_get_half_of_the_budget() {
        let (node, idle) = connections::<4>();
        let budget = Budget::new(1000);
        let mut charges = idle.map(|idle| budget.charge(idle));
        let ahead = |charge: &mut Charge| charge.try_raise_ahead(FREE + 200);
        let raised: Vec<_> = charges.iter_mut().map(ahead).collect();
        assert_eq!(raised, [true, true, false, false]);
        assert!(charges[2].try_raise(FREE + 600), "the rest is there for messages");
        assert!(!charges[3].try_raise(FREE + 1));
        assert!(!charges[0].is_wanted(now()));
        budget.make_room();
        assert!(charges[0].is_wanted(now()) && !charges[3].is_wanted(now()));
        drop(charges);
        assert_eq!(budget.used(), 0);
        node.stop_blocking();
    }

    proptest! {
        #[test]
        fn used_bytes_are_the_sum_of_all_charges_within_the_limit(
            steps in prop::collection::vec((0..4_usize, 0..3000_usize, any::<bool>()), 0..60),
        ) {
            let (node, idle) = connections::<4>();
            let budget = Budget::new(2000);
            let mut charges = idle.clone().map(|idle| budget.charge(idle));
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
            drop(charges);
            prop_assert!(idle.iter().all(|idle| idle.charged() == 0));
            node.stop_blocking();
        }
    }
}
