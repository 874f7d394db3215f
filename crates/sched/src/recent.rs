//! The few processes that were woken or spawned last: last in, first out, the oldest given away
//! first.
//!
//! It belongs to one thread at a time, as its post does.
//!
//! COST: a few plain reads and writes; its memory is there from the beginning, a word for each.

use std::array;
use std::cell::Cell;

/// So many it holds. WHY so many: the way from the root of a large tree to a leaf of it; their cells
/// fit into the first cache.
pub(crate) const RECENT: usize = if cfg!(shuttle) { 2 } else { 64 };

/// A stack whose bottom can be taken away.
pub(crate) struct Recent<T> {
    places: [Cell<Option<T>>; RECENT],
    /// How many were ever taken away at the bottom; where it is, counted round.
    bottom: Cell<usize>,
    /// Where the next one goes, counted in the same way.
    top: Cell<usize>,
}

impl<T> Recent<T> {
    pub(crate) fn new() -> Self {
        let places = array::from_fn(|_| Cell::new(None));
        Self { places, bottom: Cell::new(0), top: Cell::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.top.get().wrapping_sub(self.bottom.get())
    }

    /// Adds one, for which there is room.
    #[inline]
    pub(crate) fn push(&self, newest: T) {
        debug_assert!(self.len() < RECENT, "whoever adds makes room");
        let top = self.top.get();
        self.places[top % RECENT].set(Some(newest));
        self.top.set(top.wrapping_add(1));
    }

    /// Takes the newest.
    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        if self.len() == 0 {
            return None;
        }
        let newest = self.top.get().wrapping_sub(1);
        self.top.set(newest);
        self.places[newest % RECENT].take()
    }

    /// Takes the oldest.
    #[inline]
    pub(crate) fn shift(&self) -> Option<T> {
        if self.len() == 0 {
            return None;
        }
        let oldest = self.bottom.get();
        self.bottom.set(oldest.wrapping_add(1));
        self.places[oldest % RECENT].take()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::{RECENT, Recent};

    proptest! {
        // F1: as a double-ended queue, of which it uses three of the four ends
        #[test]
        fn it_is_a_stack_whose_bottom_can_be_taken_away(steps in prop::collection::vec(0..7u8, 0..1000)) {
            let (it, mut queue) = (Recent::new(), VecDeque::new());
            for (one, step) in steps.into_iter().enumerate() {
                match step {
                    0..=3 if queue.len() < RECENT => {
                        it.push(one);
                        queue.push_back(one);
                    }
                    0..=4 => prop_assert_eq!(it.pop(), queue.pop_back()),
                    _ => prop_assert_eq!(it.shift(), queue.pop_front()),
                }
                prop_assert_eq!(it.len(), queue.len());
            }
        }
    }
}
