//! Deferred reference counting for cells.
//!
//! All threads that clone or drop an address write the process's reference count, so its cache line
//! would move between cores each time. A worker that drops a reference therefore records it as
//! *credit* instead of decrementing the count, and takes the next reference to the same cell from
//! its credit. A parent that gives each child its address, and a worker on which those children
//! end, then write the count rarely instead of twice per child.
//!
//! Only workers keep credit (from [`open`] until [`settle`]); any other thread counts immediately.
//! A worker settles before it sleeps. Nothing here blocks. Freeing a cell may run a user destructor
//! (of an exit reason), so no borrow is held across it.
//!
//! INVARIANT: credit for a cell is a number of references that the counter still includes. So a
//! cell with credit is not freed, and the rules for references apply unchanged.
//!
//! COST: a few plain reads and writes. A cell without other references may stay allocated until its
//! worker settles or drops references to other cells: at most [`PLACES`] cells per worker.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::cell::{Base, LET_GO};
use crate::current::is_running;
use crate::sync::{Ordering, thread_local};

// WHY other figures in a model: it has few cells, and its result must not depend on their
// addresses.

/// Cells for which a worker keeps credit at the same time; a power of two.
const PLACES: usize = if cfg!(loom) { 1 } else { 8 };
/// Maximum credit for one cell; at this value it is subtracted from the count.
const MOST: u32 = if cfg!(loom) { 3 } else { 1024 };
/// References counted in advance when the credit of a cell in use is exhausted.
const AHEAD: u32 = if cfg!(loom) { 2 } else { 32 };

struct Place {
    base: Cell<*const Base>,
    credit: Cell<u32>,
}

// WHY no function here that accesses a thread-local is `#[inline]`: see `pool`.

thread_local! {
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static PLACES_OF: [Place; PLACES] = const {
        [const { Place { base: Cell::new(ptr::null()), credit: Cell::new(0) } }; PLACES]
    };
}

/// Returns the entry that a cell's credit is kept in; several cells map to one entry.
#[inline(always)]
fn place<'a>(base: NonNull<Base>) -> &'a Place {
    // WHY both shifts: cells are some hundred bytes apart, or a power of two.
    let number = base.addr().get();
    let places = PLACES_OF.with(|places| NonNull::from(places));
    // SAFETY: a thread-local without a destructor lives as long as its thread, and a reference to a
    // `Place` cannot leave the thread, since `Place` is not `Sync`.
    let places: &'a [Place; PLACES] = unsafe { places.as_ref() };
    &places[((number >> 6) ^ (number >> 12)) % PLACES]
}

/// Counts one more reference to a cell.
///
/// # Safety
/// The caller holds a reference, or prevents another holder's from being released.
pub(crate) unsafe fn retain(base: NonNull<Base>) {
    let place = place(base);
    if place.base.get() != base.as_ptr() {
        // SAFETY: by the contract.
        return unsafe { count_up(base, 1) };
    }
    let credit = match place.credit.get() {
        0 => {
            // SAFETY: by the contract.
            unsafe { count_up(base, AHEAD) };
            AHEAD
        }
        credit => credit,
    };
    place.credit.set(credit - 1);
}

/// Releases one reference; releasing the last one frees the cell.
///
/// # Safety
/// The caller held a reference and does not access the cell again.
pub(crate) unsafe fn release(base: NonNull<Base>) {
    let place = place(base);
    if place.base.get() != base.as_ptr() {
        // SAFETY: by the contract.
        return unsafe { release_another(base, place) };
    }
    let credit = place.credit.get() + 1;
    // SAFETY: the reference being released keeps the cell alive.
    if credit < MOST && !unsafe { is_all(base, credit) } {
        return place.credit.set(credit);
    }
    place.credit.set(0);
    // SAFETY: the credit was removed from its entry and includes the reference being released.
    unsafe { count_down(base, credit) }
}

/// [`release`] for a cell whose entry is in use by another cell, which is evicted.
///
/// # Safety
/// As for [`release`].
unsafe fn release_another(base: NonNull<Base>, place: &Place) {
    // SAFETY: the reference being released keeps the cell alive.
    if !OPEN.get() || unsafe { is_all(base, 1) } {
        // SAFETY: the reference is released here.
        return unsafe { count_down(base, 1) };
    }
    let before = NonNull::new(place.base.replace(base.as_ptr()).cast_mut());
    let credit = place.credit.replace(1);
    if let Some(before) = before
        && credit > 0
    {
        // SAFETY: the credit was removed from its entry.
        unsafe { count_down(before, credit) }
    }
}

/// Releases the reference of a process's own handle.
///
/// # Safety
/// As for [`release`].
pub(crate) unsafe fn let_go(base: NonNull<Base>) {
    if is_running(base) {
        // SAFETY: a process lives at least as long as its turn.
        unsafe { base.as_ref() }.ask(LET_GO);
    } else {
        // SAFETY: by the contract.
        unsafe { release(base) }
    }
}

/// Removes this thread's credit for a cell, to be released together with the caller's `own`
/// references. Returns their sum, and whether these are all references, so that no other thread can
/// reach the cell.
///
/// # Safety
/// The caller holds `own` references, at least one.
pub(crate) unsafe fn gather(base: NonNull<Base>, own: u32) -> (u32, bool) {
    let place = place(base);
    let credit = if place.base.get() == base.as_ptr() { place.credit.replace(0) } else { 0 };
    // SAFETY: the caller's references keep the cell alive.
    (credit + own, unsafe { is_all(base, credit + own) })
}

/// Starts keeping credit on this thread.
pub(crate) fn open() {
    OPEN.set(true);
}

/// Stops keeping credit on this thread; must be followed by [`settle`].
pub(crate) fn close() {
    OPEN.set(false);
}

/// Subtracts all credit of this thread from the counts. Returns `true` if that freed a cell; its
/// destructors may have sent messages.
pub fn settle() -> bool {
    let mut freed = false;
    for number in 0..PLACES {
        let (base, credit) = PLACES_OF.with(|places| {
            (places[number].base.replace(ptr::null()), places[number].credit.replace(0))
        });
        if let Some(base) = NonNull::new(base.cast_mut())
            && credit > 0
        {
            // SAFETY: the credit was removed from its entry.
            freed |= unsafe { give_up(base, credit) };
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
unsafe fn is_all(base: NonNull<Base>, references: u32) -> bool {
    // ORDER: acquire from the release in `give_up` of all other references: their accesses to the
    // cell happen before this. References that are all the caller's cannot be cloned concurrently.
    // SAFETY: the caller's reference keeps the cell alive.
    unsafe { base.as_ref() }.refs.load(Ordering::Acquire) == references
}

/// Releases references; releasing the last one frees the cell.
///
/// # Safety
/// The caller held that many and does not access the cell again.
#[inline]
pub(crate) unsafe fn count_down(base: NonNull<Base>, references: u32) {
    // SAFETY: by the contract.
    unsafe { give_up(base, references) };
}

/// [`count_down`] that returns whether it freed the cell.
///
/// # Safety
/// As for [`count_down`].
#[inline]
unsafe fn give_up(base: NonNull<Base>, references: u32) -> bool {
    // SAFETY: the references keep the cell alive until the subtraction.
    unsafe {
        // ORDER: acquire and release between all threads that release references: their accesses to
        // the cell happen before it is freed.
        let all = is_all(base, references)
            || base.as_ref().refs.fetch_sub(references, Ordering::AcqRel) == references;
        if all {
            (base.as_ref().vtable.free)(base);
        }
        all
    }
}
