//! Extension of the inbox: the part that an idle process does not need, in a separate block.
//!
//! The receiver allocates it when it first moves messages to the save queue, installs shards, or
//! waits for a reply, and a sender when the stack is longer than its count. It lives as long as the
//! inbox. Any thread may read the counters and the shards; the save queue belongs to the receiver.
//!
//! COST: one block of 48 bytes, see `pool`; one more read per access to the save queue.

use std::ptr::{self, NonNull};

use crate::inbox::save_queue::SaveQueue;
use crate::inbox::shards::Shards;
use crate::inbox::state::State;
use crate::memory::pool;
use crate::sync::{AtomicPtr, AtomicU32, Ordering, UnsafeCell};

/// Extension of the inbox of a process that has had several messages at the same time, or has waited
/// for a reply.
#[derive(Debug)]
pub(crate) struct Extension {
    /// Null until shards are first installed or a stack is longer than its count; then valid until
    /// the inbox is dropped.
    pub(super) shards: AtomicPtr<Shards>,
    pub(crate) save_queue: UnsafeCell<SaveQueue>,
    /// Messages in the save queue. Written by the receiver only.
    pub(crate) waiting: AtomicU32,
    /// Slot index plus one of the process whose reply the receiver awaits; 0 if it awaits none. May
    /// be stale while the receiver is not waiting.
    pub(crate) waits_for: AtomicU32,
}

// The size of the block, see COST.
#[cfg(not(any(loom, purlin_cores, shuttle)))]
const _: () = assert!(size_of::<Extension>() <= 48);

impl Extension {
    fn new() -> Self {
        Self {
            shards: AtomicPtr::new(ptr::null_mut()),
            save_queue: UnsafeCell::new(SaveQueue::new()),
            waiting: AtomicU32::new(0),
            waits_for: AtomicU32::new(0),
        }
    }

    /// Counts messages moved into the save queue.
    // ORDER: relaxed, here and below: others read it for statistics only.
    #[inline]
    pub(crate) fn add_waiting(&self, more: usize) {
        // WHY not saturating: 2³² envelopes do not fit into memory.
        let waiting = self.waiting.load(Ordering::Relaxed).wrapping_add(more as u32);
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    /// Counts a message that left the save queue.
    #[inline]
    pub(crate) fn remove_waiting(&self) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
    }
}

impl State {
    /// Returns the extension, if it has been allocated.
    #[inline(always)]
    pub(crate) fn extension(&self) -> Option<&Extension> {
        // ORDER: acquire from `allocate`: the contents.
        // SAFETY: a pointer that is not null is that of an extension, which lives as long as `self`.
        unsafe { self.extension.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the number of messages in the save queue.
    #[inline]
    pub(crate) fn saved(&self) -> u32 {
        self.extension().map_or(0, |extension| extension.waiting.load(Ordering::Relaxed))
    }

    /// Returns the extension. Allocates it at the first call.
    ///
    /// # Safety
    /// The caller is the receiver.
    #[inline]
    pub(crate) unsafe fn extend(&self) -> &Extension {
        self.extension().unwrap_or_else(|| self.allocate())
    }

    /// Allocates the extension, unless another thread is faster. Any thread may call it.
    #[cold]
    pub(super) fn allocate(&self) -> &Extension {
        let block = pool::take::<Extension>();
        // SAFETY: the block was taken for this type.
        unsafe { block.write(Extension::new()) };
        // ORDER: release to `extension`: the contents. Acquire, on failure, from the thread that was
        // faster.
        let (release, acquire) = (Ordering::Release, Ordering::Acquire);
        let null = ptr::null_mut();
        match self.extension.compare_exchange(null, block.as_ptr(), release, acquire) {
            // SAFETY: the block lives as long as `self` from now on.
            Ok(_) => unsafe { block.as_ref() },
            // SAFETY: no other thread knows the block, and the other one lives as long as `self`.
            Err(others) => unsafe {
                block.drop_in_place();
                pool::free(block);
                &*others
            },
        }
    }
}

impl Drop for State {
    #[inline]
    fn drop(&mut self) {
        if let Some(extension) = NonNull::new(self.extension.load(Ordering::Relaxed)) {
            // SAFETY: no other thread can follow the pointer any more. `allocate` took the block for
            // this type.
            unsafe { free(extension) };
        }
    }
}

/// # Safety
/// The block was taken for this type, and no other thread can reach it.
#[cold]
#[inline(never)]
unsafe fn free(extension: NonNull<Extension>) {
    // SAFETY: by the contract.
    unsafe {
        extension.drop_in_place();
        pool::free(extension);
    }
}

impl Drop for Extension {
    fn drop(&mut self) {
        let shards = self.shards.load(Ordering::Relaxed);
        if !shards.is_null() {
            // SAFETY: the pointer came from a box, and no other thread can follow it any more.
            drop(unsafe { Box::from_raw(shards) });
        }
        // SAFETY: no other thread can follow the pointer any more.
        self.save_queue.with_mut(|save_queue| unsafe { (*save_queue).free_positions() });
    }
}
