//! Entry of the process table: the pointer to an item, its lock bit and its generation.
//!
//! The lock is the lowest bit of the pointer. A look-up holds it for the few instructions in which it
//! takes a reference; `empty` fails meanwhile.

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, AtomicU32, Ordering, hint, thread};

/// Lowest bit of the pointer: a look-up is taking a reference.
pub(super) const LOCKED: usize = 1;

/// Slot of the table: an item, or vacant.
pub(crate) struct Entry<T> {
    pub(super) item: AtomicPtr<T>,
    pub(super) generation: AtomicU32,
    /// Index in the table; never changes.
    pub(super) index: u32,
}

impl<T> Entry<T> {
    /// Takes the pointer out. Returns `false` if the entry is locked.
    #[inline]
    pub(super) fn empty(&self) -> bool {
        let item = self.item.load(Ordering::Relaxed);
        // ORDER: acquire from a look-up's unlock: its reference is counted before this thread
        // releases the table's own.
        item.addr() & LOCKED == 0
            && self
                .item
                .compare_exchange(item, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Locks the entry. Returns `None` if it is vacant.
    pub(super) fn lock(&self) -> Option<NonNull<T>> {
        loop {
            let item = self.item.load(Ordering::Relaxed);
            if item.addr() & LOCKED != 0 {
                self.wait();
                continue;
            }
            let item = NonNull::new(item)?;
            let locked = item.as_ptr().map_addr(|addr| addr | LOCKED);
            // ORDER: acquire from `fill`: the item.
            let taken = self.item.compare_exchange(
                item.as_ptr(),
                locked,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                return Some(item);
            }
        }
    }

    /// Waits while the entry is locked: a few instructions, unless the lock holder was preempted.
    #[cold]
    pub(super) fn wait(&self) {
        for spins in 0.. {
            if self.item.load(Ordering::Relaxed).addr() & LOCKED == 0 {
                return;
            }
            if spins < 64 && !cfg!(loom) {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}
