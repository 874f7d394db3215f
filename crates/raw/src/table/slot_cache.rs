//! Slot cache: vacant table slots kept by one thread. The table decides when slots enter and leave
//! it.
//!
//! COST: one word per slot of its capacity; a few plain reads and writes.

use std::cell::Cell;
use std::ptr;

use crate::table::entry::Entry;

/// Maximum number of slots exchanged with the table's free list in one critical section.
#[cfg(not(any(loom, shuttle)))]
pub(crate) const BATCH: usize = 256;
#[cfg(any(loom, shuttle))]
pub(crate) const BATCH: usize = 1;

/// Slot cache (LIFO) of one table.
pub struct SlotCache<T> {
    entries: [Cell<*const Entry<T>>; 2 * BATCH + 1],
    len: Cell<usize>,
}

impl<T> SlotCache<T> {
    /// Creates an empty cache.
    pub const fn new() -> Self {
        Self { entries: [const { Cell::new(ptr::null()) }; 2 * BATCH + 1], len: Cell::new(0) }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    #[inline(always)]
    pub(crate) fn push(&self, entry: *const Entry<T>) {
        let len = self.len.get();
        self.entries[len].set(entry);
        self.len.set(len + 1);
    }

    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<*const Entry<T>> {
        let len = self.len.get().checked_sub(1)?;
        self.len.set(len);
        Some(self.entries[len].get())
    }

    /// Reverses the order, so that slots taken first from the table are used first and the table
    /// fills up in order.
    pub(crate) fn reverse(&self) {
        let entries = &self.entries[..self.len.get()];
        for (front, back) in (0..entries.len() / 2).zip((0..entries.len()).rev()) {
            entries[front].swap(&entries[back]);
        }
    }

    /// Retains the `count` most recent slots and passes the others to `give`.
    pub(crate) fn retain_newest(&self, count: usize, give: impl FnMut(*const Entry<T>)) {
        let (surplus, kept) = self.entries[..self.len.get()].split_at(self.len.get() - count);
        surplus.iter().map(Cell::get).for_each(give);
        for (cell, entry) in self.entries.iter().zip(kept) {
            cell.set(entry.get());
        }
        self.len.set(count);
    }
}
