//! Memory for envelopes, answers and cells, kept by the thread that freed it.
//!
//! A process that talks to another on the same worker takes the memory of its next message from the
//! last one that was received, and does not go to the allocator at all. Each thread has two short
//! lists of free blocks per size: one it takes from and adds to, and a full or empty spare. Where
//! one thread sends and another receives, the receiver's full lists go back through a *depot*, a
//! list at a time, so that the cores meet at a lock once in [`BATCH`] messages and not at the
//! allocator in each. What the depot has no room for goes to the allocator, as do large blocks.
//!
//! Any thread may call; a block may be freed on another thread than it was taken on. Never runs
//! user code. A thread that ends gives its blocks back to the allocator.
//!
//! Built with `--cfg purlin_plain_memory` everything goes to the allocator, so that a sanitizer
//! sees every use of freed memory.
//!
//! COST: taking and freeing are a few plain reads and writes. A thread keeps at most two batches of
//! a size, 4 kB of the smallest and 1.2 MB if every size is full; the depot [`DEPOT`] bytes of each
//! size.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sizes are rounded up to a multiple of this.
const STEP: usize = 16;
/// The largest block that is kept has `CLASSES * STEP` bytes.
const CLASSES: usize = 24;
/// Blocks in a full list.
const BATCH: u32 = 128;
/// Bytes of one size that the depot keeps at most.
const DEPOT: usize = 1 << 20;

/// A free block.
struct Free {
    next: *mut Free,
}

/// A full list.
struct Batch(NonNull<Free>);

// SAFETY: the blocks of a list belong to whoever has it.
unsafe impl Send for Batch {}

/// Full lists, per size. WHY for the whole program: blocks know no node.
static FULL: [Mutex<Vec<Batch>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];

/// The free blocks of one size.
struct Class {
    first: Cell<*mut Free>,
    kept: Cell<u32>,
    /// A full list, or null.
    spare: Cell<*mut Free>,
}

/// The free blocks of one thread.
struct Pool([Class; CLASSES]);

impl Class {
    const fn new() -> Self {
        Self {
            first: Cell::new(ptr::null_mut()),
            kept: Cell::new(0),
            spare: Cell::new(ptr::null_mut()),
        }
    }
}

thread_local! {
    static POOL: Pool = const { Pool([const { Class::new() }; CLASSES]) };
}

/// The class of a layout, if blocks of it are kept.
const fn class(layout: Layout) -> Option<usize> {
    let kept = layout.size() > 0
        && layout.size() <= CLASSES * STEP
        && layout.align() <= STEP
        && !cfg!(purlin_plain_memory);
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
    let kept = POOL.try_with(|pool| {
        let blocks = &pool.0[class];
        let first = NonNull::new(blocks.first.get()).or_else(|| blocks.refill(class))?;
        // SAFETY: the blocks in the list are free, so the list owns them, and this thread the list.
        blocks.first.set(unsafe { first.as_ref() }.next);
        blocks.kept.set(blocks.kept.get() - 1);
        Some(first)
    });
    match kept {
        Ok(Some(block)) => block.cast(),
        _ => fresh(rounded(class)),
    }
}

/// Frees a block of a class.
///
/// # Safety
/// The block comes from [`take_class`] for this class, and nobody uses it any more.
pub(crate) unsafe fn free_class(block: NonNull<u8>, class: usize) {
    let kept = POOL.try_with(|pool| {
        let blocks = &pool.0[class];
        if blocks.kept.get() == BATCH {
            blocks.set_aside(class);
        }
        let free: NonNull<Free> = block.cast();
        // SAFETY: the block is ours by the contract, and every class has room for a `Free`.
        unsafe { free.write(Free { next: blocks.first.get() }) };
        blocks.first.set(free.as_ptr());
        blocks.kept.set(blocks.kept.get() + 1);
    });
    if kept.is_err() {
        // SAFETY: `take_class` got it from the allocator with this layout, now or in an earlier use.
        unsafe { dealloc(block.as_ptr(), rounded(class)) }
    }
}

impl Class {
    /// Puts a full list in the place of the empty one: the spare, or one of the depot's.
    #[cold]
    fn refill(&self, class: usize) -> Option<NonNull<Free>> {
        let spare = NonNull::new(self.spare.replace(ptr::null_mut()));
        let list = spare.or_else(|| depot(class).pop().map(|batch| batch.0))?;
        self.first.set(list.as_ptr());
        self.kept.set(BATCH);
        Some(list)
    }

    /// Makes the full list the spare, and gives the spare of before to the depot, or to the
    /// allocator if the depot is full.
    #[cold]
    fn set_aside(&self, class: usize) {
        let full = self.first.replace(ptr::null_mut());
        self.kept.set(0);
        let Some(before) = NonNull::new(self.spare.replace(full)) else { return };
        let room = DEPOT / (BATCH as usize * rounded(class).size());
        let mut depot = depot(class);
        if depot.len() < room {
            depot.push(Batch(before));
        } else {
            drop(depot);
            // SAFETY: the list was this thread's, and is in no place any more.
            unsafe { give_back(before.as_ptr(), class) }
        }
    }
}

fn depot(class: usize) -> MutexGuard<'static, Vec<Batch>> {
    FULL[class].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the blocks of a list to the allocator.
///
/// # Safety
/// The list is the caller's, and its blocks of this class.
unsafe fn give_back(mut list: *mut Free, class: usize) {
    while let Some(block) = NonNull::new(list) {
        // SAFETY: the list owns its blocks, which came from the allocator with this layout.
        unsafe {
            list = block.as_ref().next;
            dealloc(block.cast().as_ptr(), rounded(class));
        }
    }
}

#[cold]
fn fresh(layout: Layout) -> NonNull<u8> {
    // SAFETY: no layout here has size zero: a cell and an envelope have at least a word.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (class, blocks) in self.0.iter().enumerate() {
            // SAFETY: the lists are this thread's, and taken out of their places.
            unsafe {
                give_back(blocks.first.replace(ptr::null_mut()), class);
                give_back(blocks.spare.replace(ptr::null_mut()), class);
            }
            blocks.kept.set(0);
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
    fn what_one_thread_freed_too_much_of_another_takes_by_the_list() {
        #[repr(align(16))]
        struct Rare([u8; 23 * STEP]);
        let taken = |n| (0..n).map(|_| take::<Rare>().as_ptr() as usize).collect::<Vec<_>>();
        let give = |blocks: Vec<usize>| {
            for block in blocks {
                let block = NonNull::new(ptr::with_exposed_provenance_mut::<Rare>(block)).unwrap();
                // SAFETY: taken for this type, and not used.
                unsafe { free(block) };
            }
        };
        let blocks = taken(3 * BATCH);
        give(blocks.clone());
        let elsewhere = std::thread::spawn(move || {
            let again = taken(BATCH);
            let same = again.iter().filter(|block| blocks.contains(block)).count();
            give(again);
            same
        });
        let expected = if cfg!(purlin_plain_memory) { 0 } else { BATCH as usize };
        assert!(elsewhere.join().unwrap() >= expected);
        let _ = Rare([0; 23 * STEP]).0;
    }

    #[test]
    fn large_and_overaligned_blocks_come_from_the_allocator() {
        #[repr(align(64))]
        struct Wide {
            _first: u8,
        }
        let (large, wide) = (take::<[u8; 4096]>(), take::<Wide>());
        assert_eq!(wide.addr().get() % 64, 0);
        // SAFETY: taken for these types, and not used.
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
