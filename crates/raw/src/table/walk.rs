//! Visits the items of a table one after the other.
//!
//! Any thread may walk. A visit is a look-up: it keeps the item alive and no thread waits for it.
//!
//! COST: two compare-and-swaps per item, and the cost of `visit`; nothing is allocated.

use std::ptr::NonNull;

use super::Table;
use super::entry::{Entry, Item};
use crate::sync::Ordering;

/// Number of items to prefetch: the first has arrived by the time it is visited.
const AHEAD: u32 = 16;

impl<T: Item> Table<T> {
    /// Calls `visit` with the items in `most` slots from index `from` on, and passes each result to
    /// `take`, which may do anything, because the visit is over by then. Returns the index to
    /// continue from, or `None` at the end of the table.
    pub fn walk<R>(
        &self,
        from: u32,
        most: u32,
        mut visit: impl FnMut(NonNull<T>) -> R,
        mut take: impl FnMut(R),
    ) -> Option<u32> {
        let used = self.used();
        let until = used.min(from.saturating_add(most));
        let mut at = from;
        while at < until {
            let next = until.min(at.saturating_add(AHEAD));
            (at..next).filter_map(|index| self.entry(index)).for_each(Entry::fetch);
            for entry in (at..next).filter_map(|index| self.entry(index)) {
                if let Some(seen) = entry.visit(&mut visit) {
                    take(seen);
                }
            }
            at = next;
        }
        (until < used).then_some(until)
    }

    /// Returns how many slots were ever handed out, which is where a walk ends.
    pub fn used(&self) -> u32 {
        // ORDER: relaxed: a slot whose chunk is not visible yet is skipped.
        self.used.load(Ordering::Relaxed)
    }

    /// Returns how many slots are filled, reserved or in a slot cache. The result may be stale.
    pub fn taken(&self) -> u32 {
        let retired = self.retired.load(Ordering::Relaxed);
        self.used().saturating_sub(self.lock_vacant().len() as u32).saturating_sub(retired)
    }
}

impl<T> Entry<T> {
    /// Prefetches the beginning of the item.
    fn fetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let item = self.item.load(Ordering::Relaxed).cast::<i8>();
            for line in 0..2 {
                // SAFETY: a prefetch of any address is harmless and does not fault.
                unsafe { _mm_prefetch(item.wrapping_add(line * 64), _MM_HINT_T0) };
            }
        }
    }
}
