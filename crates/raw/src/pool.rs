//! Memory for cells, envelopes and answers, kept by the thread that freed it.
//!
//! A process that talks to another on the same worker takes the memory of its next message from the
//! last one that was received, and does not go to the allocator at all. Each thread has a short
//! list of free blocks per size; what does not fit there goes to the allocator, as do large blocks.
//!
//! Any thread may call; a block may be freed on another thread than it was taken on. Never runs
//! user code. A thread that ends gives its blocks back.
//!
//! Built with `--cfg purlin_plain_memory` everything goes to the allocator, so that a sanitizer
//! sees every use of freed memory; in loom's models too, since nothing here is shared.
//!
//! COST: taking and freeing are a few plain reads and writes; at most [`KEEP`] blocks are kept per
//! size and thread, which is 8 kB for the smallest size and 2.4 MB if every size is full.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Sizes are rounded up to a multiple of this.
const STEP: usize = 16;
/// The largest block that is kept has `CLASSES * STEP` bytes.
const CLASSES: usize = 24;
/// Blocks kept per size.
const KEEP: u32 = 512;

/// A free block.
struct Free {
    next: *mut Free,
}

/// The free blocks of one size.
struct Class {
    first: Cell<*mut Free>,
    /// How many more are kept. None before the thread has a [`Sweep`], and after that is gone.
    room: Cell<u32>,
}

/// Gives the blocks of a thread back at its end.
struct Sweep;

// WHY the blocks apart from what sweeps them: a thread-local with a destructor asks on each use
// whether that has run.
thread_local! {
    static POOL: [Class; CLASSES] = const {
        [const { Class { first: Cell::new(ptr::null_mut()), room: Cell::new(0) } }; CLASSES]
    };
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static SWEEP: Sweep = const { Sweep };
}

/// The class of a layout, if blocks of it are kept.
const fn class(layout: Layout) -> Option<usize> {
    let kept = layout.size() > 0
        && layout.size() <= CLASSES * STEP
        && layout.align() <= STEP
        && !cfg!(any(purlin_plain_memory, loom));
    if kept { Some((layout.size() - 1) / STEP) } else { None }
}

/// How blocks of a class are taken from the allocator.
const fn rounded(class: usize) -> Layout {
    match Layout::from_size_align((class + 1) * STEP, STEP) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    }
}

/// The block of a type: its class, or its layout.
pub(crate) struct Block {
    class: Option<usize>,
    layout: Layout,
}

impl Block {
    /// The block of a `T`.
    pub(crate) const fn of<T>() -> Self {
        Self { class: class(Layout::new::<T>()), layout: Layout::new::<T>() }
    }

    /// Takes one, as [`take`] does.
    #[inline]
    pub(crate) fn take(&self) -> NonNull<u8> {
        match self.class {
            Some(class) => take_class(class),
            None => fresh(self.layout),
        }
    }

    /// Takes one that this thread freed before, if there is one.
    #[inline(always)]
    pub(crate) fn take_at_hand(&self) -> Option<NonNull<u8>> {
        take_kept(self.class?)
    }
}

/// Takes a block for a `T`.
#[inline]
pub(crate) fn take<T>() -> NonNull<T> {
    match const { class(Layout::new::<T>()) } {
        Some(class) => take_class(class).cast(),
        None => fresh(const { Layout::new::<T>() }).cast(),
    }
}

/// Frees the block of a `T` that has been dropped or moved out.
///
/// # Safety
/// The block comes from [`take`] for this very type, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn free<T>(block: NonNull<T>) {
    match const { class(Layout::new::<T>()) } {
        // SAFETY: by the contract.
        Some(class) => unsafe { free_class(block.cast(), class) },
        // SAFETY: `take` got it from the allocator with this layout.
        None => unsafe { dealloc(block.cast().as_ptr(), const { Layout::new::<T>() }) },
    }
}

// WHY the two below are not generic: the compiler reaches a thread-local of this crate directly
// from code of this crate, and through a function from code that it makes in another.

/// Takes a block of a class.
pub(crate) fn take_class(class: usize) -> NonNull<u8> {
    match take_kept(class) {
        Some(block) => block,
        None => fresh(rounded(class)),
    }
}

/// Takes one of the blocks of a class that this thread keeps.
#[inline(always)]
fn take_kept(class: usize) -> Option<NonNull<u8>> {
    let blocks = &pool()[class];
    let first = NonNull::new(blocks.first.get())?;
    // SAFETY: the blocks in the list are free, so the list owns them, and this thread the list.
    blocks.first.set(unsafe { first.as_ref() }.next);
    blocks.room.set(blocks.room.get() + 1);
    Some(first.cast())
}

/// Frees a block of a class.
///
/// # Safety
/// The block comes from [`take_class`] for this class, and nobody uses it any more.
pub(crate) unsafe fn free_class(block: NonNull<u8>, class: usize) {
    let blocks = &pool()[class];
    if blocks.room.get() == 0 && !open(blocks) {
        // SAFETY: `take_class` got it from the allocator with this layout, now or in an earlier use.
        return unsafe { dealloc(block.as_ptr(), rounded(class)) };
    }
    let free: NonNull<Free> = block.cast();
    // SAFETY: the block is ours by the contract, and every class has room for a `Free`.
    unsafe { free.write(Free { next: blocks.first.get() }) };
    blocks.first.set(free.as_ptr());
    blocks.room.set(blocks.room.get() - 1);
}

/// The blocks of this thread.
#[inline(always)]
fn pool<'a>() -> &'a [Class; CLASSES] {
    let pool = POOL.with(|pool| NonNull::from(pool));
    // SAFETY: a thread-local without a destructor is there as long as its thread, which a reference
    // to a `Class` cannot leave.
    unsafe { pool.as_ref() }
}

/// Makes room in a thread that has not kept anything so far; says whether there is some now.
#[cold]
fn open(blocks: &Class) -> bool {
    if !OPEN.get() && SWEEP.try_with(|_| ()).is_ok() {
        OPEN.set(true);
        pool().iter().for_each(|blocks| blocks.room.set(KEEP));
    }
    blocks.room.get() > 0
}

#[cold]
fn fresh(layout: Layout) -> NonNull<u8> {
    // SAFETY: no layout here has size zero: a cell and an envelope have at least a word.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Drop for Sweep {
    fn drop(&mut self) {
        for (class, blocks) in pool().iter().enumerate() {
            // WHY: what this thread frees from now on, nobody would sweep.
            blocks.room.set(0);
            while let Some(block) = NonNull::new(blocks.first.get()) {
                // SAFETY: the list owns its blocks, which came from the allocator with this layout.
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
    fn a_block_that_was_freed_is_taken_again_for_a_type_of_the_same_class() {
        let first = take::<[u64; 3]>();
        // SAFETY: taken for this type, and not used.
        unsafe { free(first) };
        let second = take::<[u64; 4]>();
        assert_eq!(first.cast::<u8>() == second.cast::<u8>(), !cfg!(purlin_plain_memory));
        // SAFETY: as above.
        unsafe { free(second) };
    }

    #[test]
    fn more_blocks_than_are_kept_and_large_or_overaligned_ones_go_back_to_the_allocator() {
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
    fn a_block_may_be_freed_on_another_thread() {
        struct Sent(NonNull<u64>);
        // SAFETY: the block goes with it.
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
