//! Budget of bytes for the read buffers of all connections of a server.
//!
//! The first [`FREE`] bytes of each buffer are not charged. Before its buffer grows beyond them, the
//! connection charges the difference to the budget; without bytes left the buffer does not grow. A
//! connection that is the only one with a charge may exceed the budget, so that the largest message
//! can always be received.
//!
//! INVARIANT: `used` is the sum of all charges, and exceeds the limit only by a single charge.
//!
//! COST: one or two atomic operations when a buffer grows or shrinks, none per read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::wire::read_buffer::INITIAL;

/// Bytes of a buffer that are not charged.
pub(crate) const FREE: usize = INITIAL;

/// Budget of a server.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// Charge of one connection. Dropping it returns the bytes.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0) })
    }

    /// Returns the number of charged bytes.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns a charge of no bytes.
    pub(crate) fn charge(self: &Arc<Self>) -> Charge {
        Charge { budget: Arc::clone(self), bytes: 0 }
    }
}

impl Charge {
    /// Returns the buffer capacity that is paid for.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes + FREE
    }

    /// Raises the charge to that of a buffer of this capacity. Returns `false` and changes nothing
    /// if the budget has too few bytes left.
    pub(crate) fn try_raise(&mut self, capacity: usize) -> bool {
        let due = capacity.saturating_sub(FREE);
        let Some(more) = due.checked_sub(self.bytes) else { return true };
        let (limit, own) = (self.budget.limit, self.bytes);
        // ORDER: relaxed: the counter publishes no other data.
        let raised = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            let raised = used.checked_add(more)?;
            (raised <= limit || used == own).then_some(raised)
        });
        if raised.is_ok() {
            self.bytes = due;
        }
        raised.is_ok()
    }

    /// Lowers the charge to that of a buffer of this capacity, if it is higher.
    pub(crate) fn lower(&mut self, capacity: usize) {
        let due = capacity.saturating_sub(FREE);
        if due >= self.bytes {
            return;
        }
        self.budget.used.fetch_sub(self.bytes - due, Ordering::Relaxed);
        self.bytes = due;
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

    use super::*;

    #[test]
    fn only_charge_may_exceed_the_budget_and_a_second_one_may_not() {
        let budget = Budget::new(1000);
        let (mut one, mut other) = (budget.charge(), budget.charge());
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
    }

    proptest! {
        #[test]
        fn used_bytes_are_the_sum_of_all_charges_within_the_limit(
            steps in prop::collection::vec((0..4_usize, 0..3000_usize, any::<bool>()), 0..60),
        ) {
            let budget = Budget::new(2000);
            let mut charges: Vec<_> = (0..4).map(|_| budget.charge()).collect();
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
        }
    }
}
