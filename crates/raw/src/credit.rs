//! References to cells that this thread has given up but not yet counted down.
//!
//! A process's count of references is written by everybody who clones or drops its address, and a
//! counter that two cores write travels between them each time. So a worker that drops a reference
//! notes it as *credit*, and the next reference it needs to the same cell is taken from there: a
//! parent that gives each child its address, and a worker on which those children end, touch the
//! counter now and then instead of twice per child.
//!
//! Only workers keep credit ([`open`] until [`settle`]); any other thread counts at once. A worker
//! settles before it sleeps. Never blocks. Freeing a cell may run a destructor of the user's (that
//! of an exit reason), so nothing is borrowed meanwhile.
//!
//! INVARIANT: credit for a cell is that many references which the counter still counts, so a cell
//! with credit is not freed, and all that is said of references elsewhere holds.
//!
//! COST: a few plain reads and writes. A cell that is not referred to any more may wait for its end
//! until its worker settles, or drops references to other cells: at most [`PLACES`] per worker.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::cell::{Base, LET_GO};
use crate::current::is_running;
use crate::sync::{Ordering, thread_local};

// WHY other figures in a model: it has few cells, whose addresses must not matter.

/// Cells for which a worker keeps credit at a time; a power of two.
const PLACES: usize = if cfg!(loom) { 1 } else { 8 };
/// The most credit for one cell; it is counted down when it is reached.
const MOST: u32 = if cfg!(loom) { 3 } else { 1024 };
/// References taken at once when a cell's credit is used up: it is in demand here.
const AHEAD: u32 = if cfg!(loom) { 2 } else { 32 };

struct Place {
    base: Cell<*const Base>,
    credit: Cell<u32>,
}

// WHY nothing here that touches a thread-local is `#[inline]`: see `pool`.

thread_local! {
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static PLACES_OF: [Place; PLACES] = const {
        [const { Place { base: Cell::new(ptr::null()), credit: Cell::new(0) } }; PLACES]
    };
}

/// Where the credit of a cell is kept, among others'.
#[inline(always)]
fn place<'a>(base: NonNull<Base>) -> &'a Place {
    // WHY both shifts: cells are some hundred bytes apart, or a power of two.
    let number = base.addr().get();
    let places = PLACES_OF.with(|places| NonNull::from(places));
    // SAFETY: a thread-local without a destructor is there as long as its thread, which a reference
    // to a `Place` cannot leave.
    let places: &'a [Place; PLACES] = unsafe { places.as_ref() };
    &places[((number >> 6) ^ (number >> 12)) % PLACES]
}

/// Counts one more reference to a cell.
///
/// # Safety
/// The caller has a reference, or keeps somebody else's from being given up.
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

/// Gives up one reference and frees the cell with the last.
///
/// # Safety
/// The caller held a reference and does not touch the cell again.
pub(crate) unsafe fn release(base: NonNull<Base>) {
    let place = place(base);
    if place.base.get() != base.as_ptr() {
        // SAFETY: by the contract.
        return unsafe { release_another(base, place) };
    }
    let credit = place.credit.get() + 1;
    // SAFETY: the reference that is given up keeps the cell.
    if credit < MOST && !unsafe { is_all(base, credit) } {
        return place.credit.set(credit);
    }
    place.credit.set(0);
    // SAFETY: the credit was taken out of its place, with the reference that is given up.
    unsafe { count_down(base, credit) }
}

/// [`release`] for a cell that has no place here: it takes over that of the cell which has it.
///
/// # Safety
/// As for [`release`].
unsafe fn release_another(base: NonNull<Base>, place: &Place) {
    // SAFETY: the reference that is given up keeps the cell.
    if !OPEN.get() || unsafe { is_all(base, 1) } {
        // SAFETY: the reference is given up here.
        return unsafe { count_down(base, 1) };
    }
    let before = NonNull::new(place.base.replace(base.as_ptr()).cast_mut());
    let credit = place.credit.replace(1);
    if let Some(before) = before
        && credit > 0
    {
        // SAFETY: the credit was taken out of its place.
        unsafe { count_down(before, credit) }
    }
}

/// Gives up the reference of a process's own handle.
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

/// Takes the credit for a cell out, to be given up with the `own` references of the caller; how many
/// these are, and whether they are all there are, so that nobody else can reach the cell.
///
/// # Safety
/// The caller holds so many references, at least one.
pub(crate) unsafe fn gather(base: NonNull<Base>, own: u32) -> (u32, bool) {
    let place = place(base);
    let credit = if place.base.get() == base.as_ptr() { place.credit.replace(0) } else { 0 };
    // SAFETY: the caller's references keep the cell.
    (credit + own, unsafe { is_all(base, credit + own) })
}

/// Begins to keep credit on this thread.
pub(crate) fn open() {
    OPEN.set(true);
}

/// Ends it; to be followed by [`settle`].
pub(crate) fn close() {
    OPEN.set(false);
}

/// Counts down all the credit of this thread; `true` if that freed a cell, whose destructors may
/// have sent something.
pub fn settle() -> bool {
    let mut freed = false;
    for number in 0..PLACES {
        let (base, credit) = PLACES_OF.with(|places| {
            (places[number].base.replace(ptr::null()), places[number].credit.replace(0))
        });
        if let Some(base) = NonNull::new(base.cast_mut())
            && credit > 0
        {
            // SAFETY: the credit was taken out of its place.
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
    // ORDER: relaxed: whoever wants a reference has one.
    let before = unsafe { base.as_ref() }.refs.fetch_add(more, Ordering::Relaxed);
    if before > i32::MAX as u32 {
        // WHY: only leaking references in a loop gets here; going on would free too early.
        std::process::abort();
    }
}

/// Whether the cell has just so many references.
///
/// # Safety
/// The caller holds one of them.
#[inline]
unsafe fn is_all(base: NonNull<Base>, references: u32) -> bool {
    // ORDER: acquire from the release of all others in `give_up`: what they did with the cell is
    // done. References that are all the caller's are not cloned meanwhile.
    // SAFETY: the caller's reference keeps the cell.
    unsafe { base.as_ref() }.refs.load(Ordering::Acquire) == references
}

/// Gives up references and frees the cell with the last.
///
/// # Safety
/// The caller held that many and does not touch the cell again.
#[inline]
pub(crate) unsafe fn count_down(base: NonNull<Base>, references: u32) {
    // SAFETY: by the contract.
    unsafe { give_up(base, references) };
}

/// [`count_down`] that says whether it freed the cell.
///
/// # Safety
/// As for [`count_down`].
#[inline]
unsafe fn give_up(base: NonNull<Base>, references: u32) -> bool {
    // SAFETY: the references keep the cell until the subtraction.
    unsafe {
        // ORDER: acquire and release between all who give references up: what they did with the
        // cell is done before it is freed.
        let all = is_all(base, references)
            || base.as_ref().refs.fetch_sub(references, Ordering::AcqRel) == references;
        if all {
            (base.as_ref().vtable.free)(base);
        }
        all
    }
}
