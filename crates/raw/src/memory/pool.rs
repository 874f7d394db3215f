//! Thread-local free lists for cells, envelopes and replies.
//!
//! A process that talks to another on the same worker reuses the memory of the last received
//! message for its next one and does not call the allocator. Each thread has a bounded free list
//! per size class. Blocks beyond the bound, and large blocks, go to the allocator.
//!
//! Any thread may call; a block may be freed on another thread than the one that took it. Never
//! runs user code. A thread that ends returns its blocks to the allocator.
//!
//! With `--cfg purlin_plain_memory` every block goes to the allocator, so that a sanitizer sees
//! each use of freed memory. The same holds in loom models, because nothing here is shared.
//!
//! COST: taking and freeing are a few plain reads and writes. At most [`KEEP`] blocks are kept per
//! size class and thread: 4 kB in the smallest class, 4.8 MB if every class is full.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

#[cfg(purlin_cores)]
use crate::sync::thread_local;

/// Granularity of the size classes in bytes.
///
/// WHY 8: a block of glibc has room for 8 bytes more than a multiple of 16, and mimalloc takes a block
/// that must be aligned to 16 bytes from the next size class, unless its size is a power of two.
const STEP: usize = 8;
/// Number of size classes; the largest cached block has `CLASSES * STEP` bytes.
const CLASSES: usize = 48;
/// Greatest alignment of a cached block. A type that has it has a multiple of it as its size.
const MAX_ALIGN: usize = 16;
/// Maximum number of cached blocks per class and thread.
const KEEP: u32 = 512;
/// Number of bits of a block's address; the upper bits are zero.
pub(crate) const ADDRESS_BITS: u32 = 48;

/// A free block.
struct Free {
    next: *mut Free,
}

/// Free list of one size class.
struct Class {
    first: Cell<*mut Free>,
    /// Remaining capacity. Zero until the thread has a [`Sweep`], and after its destructor has run.
    room: Cell<u32>,
}

/// Returns the thread's blocks to the allocator when the thread ends.
struct Sweep;

// WHY `POOL` has no destructor itself: every access to a thread-local with a destructor checks
// whether it has run.
thread_local! {
    static POOL: [Class; CLASSES] = const {
        [const { Class { first: Cell::new(ptr::null_mut()), room: Cell::new(0) } }; CLASSES]
    };
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static SWEEP: Sweep = const { Sweep };
}

/// Returns the size class of a layout, or `None` if such blocks are not cached.
const fn class(layout: Layout) -> Option<usize> {
    let kept = layout.size() > 0
        && layout.size() <= CLASSES * STEP
        && layout.align() <= MAX_ALIGN
        && !cfg!(any(purlin_plain_memory, loom));
    if kept { Some((layout.size() - 1) / STEP) } else { None }
}

/// Returns the layout with which blocks of a class are allocated.
const fn rounded(class: usize) -> Layout {
    let size = (class + 1) * STEP;
    // WHY 64: the simulated threads share one heap, which would give blocks of several of them to
    // one cache line.
    let align = if cfg!(purlin_cores) {
        64
    } else if size.is_multiple_of(MAX_ALIGN) {
        MAX_ALIGN
    } else {
        STEP
    };
    match Layout::from_size_align(size, align) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    }
}

/// Size class or layout of the blocks of a type.
pub(crate) struct Block {
    class: Option<usize>,
    layout: Layout,
}

impl Block {
    /// Returns the descriptor for `T`.
    pub(crate) const fn of<T>() -> Self {
        assert!(size_of::<T>() > 0, "a block has an address of its own");
        Self { class: class(Layout::new::<T>()), layout: Layout::new::<T>() }
    }

    /// Takes a block, as [`take`] does.
    #[inline]
    pub(crate) fn take(&self) -> NonNull<u8> {
        match self.class {
            Some(class) => take_class(class),
            None => fresh(self.layout),
        }
    }

    /// Takes a block from this thread's free list. Returns `None` if the list is empty.
    #[inline(always)]
    pub(crate) fn take_cached(&self) -> Option<NonNull<u8>> {
        take_cached_class(self.class?)
    }
}

/// Takes a block for a `T`.
#[inline]
pub(crate) fn take<T>() -> NonNull<T> {
    const { Block::of::<T>() }.take().cast()
}

/// Takes a block for a `T` from this thread's free list. Returns `None` if the list is empty.
#[inline]
pub(crate) fn take_cached<T>() -> Option<NonNull<T>> {
    Some(const { Block::of::<T>() }.take_cached()?.cast())
}

/// Frees the block of a `T` that has been dropped or moved out.
///
/// # Safety
/// The block comes from [`take`] for this same type, and no reference to it remains.
#[inline]
pub(crate) unsafe fn free<T>(block: NonNull<T>) {
    match const { class(Layout::new::<T>()) } {
        // SAFETY: by the contract.
        Some(class) => unsafe { free_class(block.cast(), class) },
        // SAFETY: `take` allocated it with this layout.
        None => unsafe { dealloc(block.cast().as_ptr(), const { Layout::new::<T>() }) },
    }
}

// WHY the two functions below are not generic: code of this crate accesses a thread-local of this
// crate directly; code instantiated in another crate accesses it through a function call.

/// Takes a block of a class.
pub(crate) fn take_class(class: usize) -> NonNull<u8> {
    match take_cached_class(class) {
        Some(block) => block,
        None => fresh_of_class(class),
    }
}

/// Takes a block of a class from this thread's free list.
#[inline(always)]
fn take_cached_class(class: usize) -> Option<NonNull<u8>> {
    let blocks = &pool()[class];
    let first = NonNull::new(blocks.first.get())?;
    // SAFETY: the list owns its blocks, and only this thread accesses the list.
    blocks.first.set(unsafe { first.as_ref() }.next);
    blocks.room.set(blocks.room.get() + 1);
    Some(first.cast())
}

/// Frees a block of a class.
///
/// # Safety
/// The block comes from [`take_class`] for this class, and no reference to it remains.
pub(crate) unsafe fn free_class(block: NonNull<u8>, class: usize) {
    let blocks = &pool()[class];
    if blocks.room.get() == 0 && !open(blocks) {
        // SAFETY: by the contract.
        return unsafe { return_of_class(block, class) };
    }
    let free: NonNull<Free> = block.cast();
    // SAFETY: the caller gave the block away, and blocks of every class are large enough for a
    // `Free`.
    unsafe { free.write(Free { next: blocks.first.get() }) };
    blocks.first.set(free.as_ptr());
    blocks.room.set(blocks.room.get() - 1);
}

/// Returns the free lists of this thread.
#[inline(always)]
fn pool<'a>() -> &'a [Class; CLASSES] {
    let pool = POOL.with(|pool| NonNull::from(pool));
    // SAFETY: a thread-local without a destructor lives as long as its thread, and a reference to a
    // `Class` cannot leave the thread, since `Class` is not `Sync`.
    unsafe { pool.as_ref() }
}

/// Gives a new thread capacity to cache blocks. Returns whether there is capacity now.
#[cold]
fn open(blocks: &Class) -> bool {
    if !OPEN.get() && SWEEP.try_with(|_| ()).is_ok() {
        OPEN.set(true);
        pool().iter().for_each(|blocks| blocks.room.set(KEEP));
    }
    blocks.room.get() > 0
}

// WHY apart from `take_class` and `free_class`: the layout is not computed in the common case.
#[cold]
fn fresh_of_class(class: usize) -> NonNull<u8> {
    fresh(rounded(class))
}

/// # Safety
/// As for [`free_class`].
#[cold]
unsafe fn return_of_class(block: NonNull<u8>, class: usize) {
    // SAFETY: `take_class` allocated it with this layout, now or in an earlier use.
    unsafe { dealloc(block.as_ptr(), rounded(class)) }
}

#[cold]
fn fresh(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is that of a size class, or of a type of which `Block::of` has checked that
    // its size is not zero.
    let block =
        NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
    // WHY here: the inbox state word keeps a count in the upper bits of an envelope's address, and
    // every envelope lies in such a block.
    let beyond = block.addr().get() >> ADDRESS_BITS;
    assert!(beyond == 0, "the allocator returned an address of more than 48 bits");
    block
}

impl Drop for Sweep {
    fn drop(&mut self) {
        for (class, blocks) in pool().iter().enumerate() {
            // WHY: no destructor would free the blocks that this thread caches after this.
            blocks.room.set(0);
            while let Some(block) = NonNull::new(blocks.first.get()) {
                // SAFETY: the list owns its blocks, which were allocated with this layout.
                unsafe {
                    blocks.first.set(block.as_ref().next);
                    dealloc(block.cast().as_ptr(), rounded(class));
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn freed_block_is_reused_for_a_type_of_the_same_class() {
        let first = take::<[u32; 7]>();
        // SAFETY: taken for this type, and not used.
        unsafe { free(first) };
        let second = take::<[u64; 4]>();
        assert_eq!(first.cast::<u8>() == second.cast::<u8>(), !cfg!(purlin_plain_memory));
        // SAFETY: as above.
        unsafe { free(second) };
    }

    #[test]
    fn excess_large_and_overaligned_blocks_go_to_the_allocator() {
        #[repr(align(64))]
        struct Wide {
            _first: u8,
        }
        let blocks: Vec<_> = (0..2 * KEEP).map(|_| take::<u64>()).collect();
        for block in blocks {
            // SAFETY: taken for this type, and not used.
            unsafe { free(block) };
        }
        assert_eq!(pool()[0].room.get(), 0, "as many are kept as may be");
        let (large, wide) = (take::<[u8; 4096]>(), take::<Wide>());
        assert_eq!(wide.addr().get() % 64, 0);
        // SAFETY: as above.
        unsafe {
            free(large);
            free(wide);
        }
    }

    #[test]
    fn block_may_be_freed_on_another_thread() {
        struct Sent(NonNull<u64>);
        // SAFETY: the struct owns the block.
        unsafe impl Send for Sent {}
        let block = Sent(take());
        std::thread::spawn(move || {
            let Sent(block) = { block };
            // SAFETY: taken for this type, and not used.
            unsafe { free(block) };
        })
        .join()
        .unwrap();
    }
}
