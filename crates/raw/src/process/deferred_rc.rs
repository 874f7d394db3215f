//! Deferred reference counting for cells.
//!
//! All threads that clone or drop an address write the process's reference count, so its cache line
//! would move between cores each time. A worker that drops a reference therefore *defers* the
//! decrement: it keeps the reference in a thread-local entry, and takes the next reference to the
//! same cell from there. A parent that gives each child its address, and a worker on which those
//! children end, then write the count rarely instead of twice per child.
//!
//! Only workers defer (from [`open`] until [`flush`]); any other thread counts immediately. A
//! worker flushes before it sleeps. Nothing here blocks. Freeing a cell may run a user destructor
//! (of an exit reason), so no borrow is held across it.
//!
//! INVARIANT: the count still includes the deferred references to a cell. So a cell with deferred
//! references is not freed, and the rules for references apply unchanged.
//!
//! COST: a few plain reads and writes. A cell without other references may stay allocated until its
//! worker flushes or drops references to other cells: at most [`ENTRIES`] cells per worker.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::process::cell::Base;
use crate::sync::{Ordering, thread_local};

// WHY other figures in a model: it has few cells, and its result must not depend on their
// addresses.

/// Cells to which a worker keeps deferred references at the same time; a power of two.
const ENTRIES: usize = if cfg!(loom) { 1 } else { 8 };
/// Maximum number of deferred references to one cell; at this value it is subtracted from the
/// count.
const MAX_DEFERRED: u32 = if cfg!(loom) { 3 } else { 1024 };
/// References counted in advance when a cell in use has no deferred references left.
const PREFETCHED: u32 = if cfg!(loom) { 2 } else { 32 };

/// A cell and its number of deferred references.
struct Entry {
    base: Cell<*const Base>,
    /// Number of deferred references.
    deferred: Cell<u32>,
}

// WHY no function here that accesses a thread-local is `#[inline]`: see `pool`.

thread_local! {
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static PLACES_OF: [Entry; ENTRIES] = const {
        [const { Entry { base: Cell::new(ptr::null()), deferred: Cell::new(0) } }; ENTRIES]
    };
}

/// Returns the entry for a cell's deferred references; several cells map to one entry.
#[inline(always)]
fn entry_for<'a>(base: NonNull<Base>) -> &'a Entry {
    // WHY both shifts: cells are some hundred bytes apart, or a power of two.
    let number = base.addr().get();
    let entries = PLACES_OF.with(|entries| NonNull::from(entries));
    // SAFETY: a thread-local without a destructor lives as long as its thread, and a reference to a
    // `Entry` cannot leave the thread, since `Entry` is not `Sync`.
    let entries: &'a [Entry; ENTRIES] = unsafe { entries.as_ref() };
    &entries[((number >> 6) ^ (number >> 12)) % ENTRIES]
}

/// Counts one more reference to a cell.
///
/// # Safety
/// The caller holds a reference, or prevents another holder's from being released.
pub(crate) unsafe fn retain(base: NonNull<Base>) {
    let entry = entry_for(base);
    if entry.base.get() != base.as_ptr() {
        // SAFETY: by the contract.
        return unsafe { count_up(base, 1) };
    }
    let deferred = match entry.deferred.get() {
        0 => {
            // SAFETY: by the contract.
            unsafe { count_up(base, PREFETCHED) };
            PREFETCHED
        }
        deferred => deferred,
    };
    entry.deferred.set(deferred - 1);
}

/// Releases one reference; releasing the last one frees the cell.
///
/// # Safety
/// The caller held a reference and does not access the cell again.
pub(crate) unsafe fn release(base: NonNull<Base>) {
    let entry = entry_for(base);
    if entry.base.get() != base.as_ptr() {
        // SAFETY: by the contract.
        return unsafe { release_uncached(base, entry) };
    }
    let deferred = entry.deferred.get() + 1;
    // SAFETY: the reference being released keeps the cell alive.
    if deferred < MAX_DEFERRED && !unsafe { has_count(base, deferred) } {
        return entry.deferred.set(deferred);
    }
    entry.deferred.set(0);
    // SAFETY: the deferred references were removed from their entry and include the one being
    // released.
    unsafe { count_down(base, deferred) };
}

/// [`release`] for a cell whose entry is in use by another cell, which is evicted.
///
/// # Safety
/// As for [`release`].
unsafe fn release_uncached(base: NonNull<Base>, entry: &Entry) {
    // SAFETY: the reference being released keeps the cell alive.
    if !OPEN.with(Cell::get) || unsafe { has_count(base, 1) } {
        // SAFETY: the reference is released here.
        unsafe { count_down(base, 1) };
        return;
    }
    let before = NonNull::new(entry.base.replace(base.as_ptr()).cast_mut());
    let deferred = entry.deferred.replace(1);
    if let Some(before) = before
        && deferred > 0
    {
        // SAFETY: the deferred references were removed from their entry.
        unsafe { count_down(before, deferred) };
    }
}

/// Removes this thread's deferred references to a cell, to be released together with the caller's
/// `own` references. Returns their sum, and whether these are all references, so that no other
/// thread can reach the cell.
///
/// # Safety
/// The caller holds `own` references, at least one.
pub(crate) unsafe fn take_deferred(base: NonNull<Base>, own: u32) -> (u32, bool) {
    let entry = entry_for(base);
    let deferred = if entry.base.get() == base.as_ptr() { entry.deferred.replace(0) } else { 0 };
    // SAFETY: the caller's references keep the cell alive.
    (deferred + own, unsafe { has_count(base, deferred + own) })
}

/// Starts deferring on this thread.
pub(crate) fn open() {
    OPEN.with(|open| open.set(true));
}

/// Stops deferring on this thread; must be followed by [`flush`].
pub(crate) fn close() {
    OPEN.with(|open| open.set(false));
}

/// Subtracts all deferred references of this thread from the counts. Returns `true` if that freed a
/// cell; its destructors may have sent messages.
pub fn flush() -> bool {
    let mut freed = false;
    for number in 0..ENTRIES {
        let (base, deferred) = PLACES_OF.with(|entries| {
            (entries[number].base.replace(ptr::null()), entries[number].deferred.replace(0))
        });
        if let Some(base) = NonNull::new(base.cast_mut())
            && deferred > 0
        {
            // SAFETY: the deferred references were removed from their entry.
            freed |= unsafe { count_down(base, deferred) };
        }
    }
    freed
}

/// # Safety
/// As for [`retain`].
#[inline]
unsafe fn count_up(base: NonNull<Base>, more: u32) {
    // SAFETY: by the contract.
    // ORDER: relaxed: a new reference is only made from an existing one.
    let before = unsafe { base.as_ref() }.refs.fetch_add(more, Ordering::Relaxed);
    if before > i32::MAX as u32 {
        // WHY: only leaking references in a loop gets here; continuing would free the cell too
        // early.
        std::process::abort();
    }
}

/// Returns whether the cell has exactly this many references.
///
/// # Safety
/// The caller holds one of them.
#[inline]
unsafe fn has_count(base: NonNull<Base>, references: u32) -> bool {
    // ORDER: acquire from the release in `count_down` of all other references: their accesses to the
    // cell happen before this. References that are all the caller's cannot be cloned concurrently.
    // SAFETY: the caller's reference keeps the cell alive.
    unsafe { base.as_ref() }.refs.load(Ordering::Acquire) == references
}

/// Releases references; releasing the last one frees the cell. Returns whether it did.
///
/// # Safety
/// The caller held that many and does not access the cell again.
#[inline]
pub(crate) unsafe fn count_down(base: NonNull<Base>, references: u32) -> bool {
    // SAFETY: the references keep the cell alive until the subtraction.
    unsafe {
        // ORDER: acquire and release between all threads that release references: their accesses to
        // the cell happen before it is freed.
        let all = has_count(base, references)
            || base.as_ref().refs.fetch_sub(references, Ordering::AcqRel) == references;
        if all {
            (base.as_ref().vtable.free)(base);
        }
        all
    }
}
