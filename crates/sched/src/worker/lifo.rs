//! LIFO stack of recently woken processes; its oldest entry can be removed at the bottom.
//!
//! Like the core it is part of, it belongs to one thread at a time.
//!
//! COST: a few plain reads and writes; one word per slot, allocated in advance.

use std::array;
use std::cell::Cell;

/// Capacity. WHY this number: it covers the path from the root of a large tree to a leaf; the
/// process cells fit into the L1 cache.
pub(crate) const CAPACITY: usize = if cfg!(shuttle) { 2 } else { 64 };

/// Fixed-size stack as a ring buffer, with removal at the bottom.
pub(crate) struct LifoSlots<T> {
    slots: [Cell<Option<T>>; CAPACITY],
    /// Number of entries ever removed at the bottom, wrapping; its remainder is the bottom's index.
    bottom: Cell<usize>,
    /// Index of the next push, counted in the same way.
    top: Cell<usize>,
}

impl<T> LifoSlots<T> {
    pub(crate) fn new() -> Self {
        let slots = array::from_fn(|_| Cell::new(None));
        Self { slots, bottom: Cell::new(0), top: Cell::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.top.get().wrapping_sub(self.bottom.get())
    }

    /// Pushes an entry. The caller must have checked that there is capacity.
    #[inline]
    pub(crate) fn push(&self, newest: T) {
        debug_assert!(self.len() < CAPACITY, "the caller makes room");
        let top = self.top.get();
        self.slots[top % CAPACITY].set(Some(newest));
        self.top.set(top.wrapping_add(1));
    }

    /// Pops the newest entry.
    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        if self.len() == 0 {
            return None;
        }
        let newest = self.top.get().wrapping_sub(1);
        self.top.set(newest);
        self.slots[newest % CAPACITY].take()
    }

    /// Removes the oldest entry.
    #[inline]
    pub(crate) fn pop_oldest(&self) -> Option<T> {
        if self.len() == 0 {
            return None;
        }
        let oldest = self.bottom.get();
        self.bottom.set(oldest.wrapping_add(1));
        self.slots[oldest % CAPACITY].take()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::{CAPACITY, LifoSlots};

    proptest! {
        // F1: equivalent to a double-ended queue, of whose four operations it has three
        #[test]
        fn it_behaves_like_a_deque_without_push_front(steps in prop::collection::vec(0..7u8, 0..1000)) {
            let (it, mut queue) = (LifoSlots::new(), VecDeque::new());
            for (one, step) in steps.into_iter().enumerate() {
                match step {
                    0..=3 if queue.len() < CAPACITY => {
                        it.push(one);
                        queue.push_back(one);
                    }
                    0..=4 => prop_assert_eq!(it.pop(), queue.pop_back()),
                    _ => prop_assert_eq!(it.pop_oldest(), queue.pop_front()),
                }
                prop_assert_eq!(it.len(), queue.len());
            }
        }
    }
}
