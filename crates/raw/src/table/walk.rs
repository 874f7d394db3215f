//! Looking at a table's items one after the other, for whoever counts them all.
//!
//! Any thread may walk. An item is locked, as in a look-up, for the few instructions that it takes to look at
//! it, and its memory was fetched before, so that whoever vacates the slot meanwhile hardly ever waits.
//!
//! COST: one compare-and-swap and a store for each item, and what looking costs; nothing is allocated.

use std::ptr::NonNull;

use super::{Entry, Table};
use crate::sync::Ordering;

/// So many items are fetched ahead: by the time the first of them is looked at it has come.
const AHEAD: u32 = 16;

impl<T> Table<T> {
    /// Looks at the items in `most` slots from `from` on, and gives what was seen of each to `take`, which
    /// may do anything: the slot is free again by then. The next slot to begin with, if there are more.
    pub fn walk<R>(
        &self,
        from: u32,
        most: u32,
        mut look: impl FnMut(NonNull<T>) -> R,
        mut take: impl FnMut(R),
    ) -> Option<u32> {
        let used = self.used();
        let until = used.min(from.saturating_add(most));
        let mut at = from;
        while at < until {
            let next = until.min(at.saturating_add(AHEAD));
            (at..next).filter_map(|index| self.entry(index)).for_each(Entry::fetch);
            for entry in (at..next).filter_map(|index| self.entry(index)) {
                if let Some(seen) = entry.seen(&mut look) {
                    take(seen);
                }
            }
            at = next;
        }
        (until < used).then_some(until)
    }

    /// How many slots were ever handed out: a walk comes to the end there.
    pub fn used(&self) -> u32 {
        // ORDER: relaxed: a slot whose chunk is not seen yet is passed over.
        self.used.load(Ordering::Relaxed)
    }

    /// How many slots are filled or kept by those who fill and vacate: a glance.
    pub fn taken(&self) -> u32 {
        let vacant = self.vacant.lock().unwrap_or_else(std::sync::PoisonError::into_inner).len();
        self.used().saturating_sub(vacant as u32)
    }
}

impl<T> Entry<T> {
    /// Has the processor fetch the beginning of the item.
    #[inline]
    fn fetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let item = self.item.load(Ordering::Relaxed).cast::<i8>();
            for line in 0..2 {
                // SAFETY: the processor may fetch any address or none, and does not fault.
                unsafe { _mm_prefetch(item.wrapping_add(line * 64), _MM_HINT_T0) };
            }
        }
    }

    /// Looks at the item, if there is one.
    #[inline]
    fn seen<R>(&self, look: impl FnOnce(NonNull<T>) -> R) -> Option<R> {
        let item = self.lock()?;
        let seen = look(item);
        // ORDER: release to `vacate`, as in `look_up`.
        self.item.store(item.as_ptr(), Ordering::Release);
        Some(seen)
    }
}
