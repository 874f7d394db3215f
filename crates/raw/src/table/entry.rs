//! Entry of the process table: the pointer to an item, the number of look-ups in progress, and the
//! item's generation.
//!
//! Pointer and number are one word. A look-up in progress is a reference to the item that is counted
//! here instead of in the item: it begins and ends with one compare-and-swap of the word. The thread
//! that empties the entry takes the number with the pointer. Each of these look-ups then owns one of
//! the [`TABLE_REFERENCES`] that the item counted for the table, and releases it when it finds the
//! entry changed at its end. So no thread waits for another, which may be preempted and have a lower
//! priority.
//!
//! INVARIANT: fewer than [`TABLE_REFERENCES`] look-ups of one item are in progress, so the thread that
//! empties the entry holds at least one of the references.

use std::ptr::{self, NonNull};

use crate::memory::pool::ADDRESS_BITS;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use crate::table::Slot;

/// Number of references that the table holds to each item. Each look-up in progress when the item
/// leaves the table takes over one of them.
pub const TABLE_REFERENCES: u32 = 1 << (usize::BITS - ADDRESS_BITS);

/// A look-up in progress, in the bits above the address.
const LOOK_UP: usize = 1 << ADDRESS_BITS;

/// Reference-counted item of a table.
///
/// # Safety
/// The item lives while it has references, and lies at an address below 2⁴⁸. When it is filled in,
/// [`TABLE_REFERENCES`] of them are the table's.
pub unsafe trait Item {
    /// Returns the slot of the item.
    fn slot(&self) -> Slot;

    /// Releases a reference.
    ///
    /// # Safety
    /// The caller held it, and does not access the item again.
    unsafe fn release(item: NonNull<Self>);
}

/// Slot of the table: an item, or vacant.
pub(crate) struct Entry<T> {
    /// Null if the entry is vacant.
    pub(super) item: AtomicPtr<T>,
    pub(super) generation: AtomicU32,
    /// Index in the table; never changes.
    pub(super) index: u32,
}

/// Look-up in progress: keeps the item alive until it is dropped, also by unwinding.
pub(super) struct LookUp<'a, T: Item> {
    entry: &'a Entry<T>,
    item: NonNull<T>,
}

impl<T: Item> Drop for LookUp<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.entry.end(self.item) {
            // SAFETY: the thread that emptied the entry has left this look-up a reference.
            unsafe { T::release(self.item) };
        }
    }
}

fn pointer<T>(word: *mut T) -> *mut T {
    word.map_addr(|address| address & (LOOK_UP - 1))
}

impl<T: Item> Entry<T> {
    /// Takes the pointer out. Returns how many of the table's references the caller holds now.
    #[inline]
    pub(super) fn empty(&self) -> u32 {
        // ORDER: acquire from the ends of earlier look-ups: their accesses to the item, and the
        // references they counted, precede the release of the table's references.
        let look_ups = self.item.swap(ptr::null_mut(), Ordering::Acquire).addr() / LOOK_UP;
        TABLE_REFERENCES - look_ups as u32
    }

    /// Calls `visit` with the item, if there is one. The item is not freed meanwhile.
    pub(super) fn visit<R>(&self, visit: impl FnOnce(NonNull<T>) -> R) -> Option<R> {
        let look_up = self.begin()?;
        Some(visit(look_up.item))
    }

    /// Begins a look-up. Returns `None` if the entry is vacant.
    ///
    /// # Panics
    /// Panics if as many look-ups of the item are in progress as can be counted, 65,535.
    pub(super) fn begin(&self) -> Option<LookUp<'_, T>> {
        let mut word = self.item.load(Ordering::Relaxed);
        loop {
            let item = NonNull::new(pointer(word))?;
            let (next, overflow) = word.addr().overflowing_add(LOOK_UP);
            // WHY a check: nested look-ups in an endless recursion, or that many preempted threads,
            // would otherwise free an item that is in use.
            assert!(!overflow, "too many look-ups of one process at the same time");
            let next = word.with_addr(next);
            // ORDER: acquire from `fill`, whose release sequence the look-ups continue: the item.
            let begun =
                self.item.compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Relaxed);
            match begun {
                Ok(_) => return Some(LookUp { entry: self, item }),
                Err(now) => word = now,
            }
        }
    }

    /// Ends a look-up. Returns `false` if the item has left the entry: the caller then holds a
    /// reference.
    fn end(&self, item: NonNull<T>) -> bool {
        let mut word = self.item.load(Ordering::Relaxed);
        // INVARIANT: the entry holds another item, or none, if this one has left it. It cannot have
        // come back, since this look-up has kept its memory.
        while pointer(word) == item.as_ptr() {
            let next = word.map_addr(|address| address - LOOK_UP);
            // ORDER: release to `empty`: the accesses to the item.
            let ended =
                self.item.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed);
            match ended {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }
}
