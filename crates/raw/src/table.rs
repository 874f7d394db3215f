//! From a number to a process, safe against reuse.
//!
//! Any thread may `reserve`, `look_up` and walk the table; a slot is filled and vacated by whoever
//! reserved it. The table never frees a slot, so a stale number is always safe to look up.
//!
//! # Idea
//!
//! A slot holds the pointer to a process and a *generation*, which grows each time the slot is
//! vacated. A number is an index with a generation: it finds its process or nothing, never a later
//! process in the same slot. A slot whose generation has run out (after 2³² processes) is retired.
//!
//! Slots lie in chunks that double in size, so growing moves nothing. Vacant slots lie in one list
//! behind a lock; a worker keeps a few of its own, a [`Stock`], and exchanges them with the list a
//! batch at a time. Nobody takes from another's stock, so at the limit a worker may find no slot
//! while others keep some, up to two batches each. A table with a low limit has small batches, or
//! none: the stocks of all workers are an eighth of it at most. A thread that was relieved of its
//! work in a long turn keeps its stock until that turn is over.
//!
//! # Races
//!
//! *A look-up while the process ends*: the look-up locks the slot with the lowest bit of its
//! pointer while it takes a reference, a matter of a few instructions; vacating waits for it.
//!
//! COST: 16 bytes a slot, and 4 for each vacant one in the list. Reserving is plain reads and writes
//! and vacating one compare-and-swap; every 256 processes that a worker begins or ends more than
//! the other way round cost one lock. A look-up is one compare-and-swap and a store.

mod walk;

use std::fmt;
use std::num::NonZero;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

use crate::stock::{BATCH, Stock};
use crate::sync::{AtomicPtr, AtomicU32, Mutex, Ordering, hint, thread};

#[cfg(not(any(loom, shuttle)))]
const FIRST_CHUNK: u32 = 1024;
#[cfg(any(loom, shuttle))]
const FIRST_CHUNK: u32 = 2;
const CHUNKS: u32 = 17;

/// A worker's share of the limit that it may have in its stock: one in so many.
const SHARE: usize = 16;

/// A pointer's lowest bit: somebody is taking a reference.
const LOCKED: usize = 1;

/// Where a process stands in its table: never the same for two processes of one realm.
///
/// WHY one word, and never zero: it is copied in each spawn, alone and as an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(NonZero<u64>);

impl Slot {
    /// A slot out of its parts; the index is below `u32::MAX`.
    #[inline]
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        let word = u64::from(generation) << 32 | (u64::from(index) + 1);
        Self(NonZero::new(word).expect("an index and one is not zero"))
    }

    /// Out of its parts; `None` if no slot has that index.
    pub fn from_parts(index: u32, generation: u32) -> Option<Self> {
        (index < u32::MAX).then(|| Self::new(index, generation))
    }

    /// As one number, which is never zero.
    #[inline]
    pub fn to_bits(self) -> NonZero<u64> {
        self.0
    }

    /// Out of what [`Slot::to_bits`] gave.
    #[inline]
    pub fn from_bits(bits: NonZero<u64>) -> Self {
        Self(bits)
    }

    /// The place in the table.
    #[inline]
    pub fn index(self) -> u32 {
        (self.0.get() as u32).wrapping_sub(1)
    }

    /// How many processes had that place before.
    #[inline]
    pub fn generation(self) -> u32 {
        (self.0.get() >> 32) as u32
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({}, {})", self.index(), self.generation())
    }
}

pub(crate) struct Entry<T> {
    item: AtomicPtr<T>,
    generation: AtomicU32,
    /// Its place, which never changes.
    index: u32,
}

/// The table of the processes of one realm; `T` is what an entry points to.
pub struct Table<T> {
    /// Null, or 2ⁿ entries that are there as long as the table; null below `FIRST_CHUNK`.
    chunks: [AtomicPtr<Entry<T>>; u32::BITS as usize],
    vacant: Mutex<Vec<u32>>,
    /// Slots that were ever handed out; those from here on are untouched.
    used: AtomicU32,
    limit: u32,
    batch: usize,
}

/// A vacant slot that is the caller's to fill.
#[must_use]
pub struct Reserved<'a, T>(&'a Entry<T>);

impl<T> Reserved<'_, T> {
    /// The slot.
    #[inline]
    pub fn slot(&self) -> Slot {
        // ORDER: relaxed: written by this thread, or before the slot came through the lock.
        Slot::new(self.0.index, self.0.generation.load(Ordering::Relaxed))
    }

    /// Fills the slot. The pointer must be even.
    ///
    /// Stands in the one order of `SeqCst` with [`Table::slots`], so that of a thread that fills and
    /// then reads a flag, and one that sets the flag and then walks the table, one sees the other.
    #[inline]
    pub fn fill(self, item: NonNull<T>) {
        // ORDER: release to `look_up`: what the pointer leads to. SeqCst: see above.
        self.0.item.store(item.as_ptr(), Ordering::SeqCst);
    }
}

/// Splits an index into its chunk, named by the binary logarithm of its length, and its place there.
///
/// Counted from the length of the first chunk on, the slots of a chunk are the numbers that have the
/// same highest bit. An index so great that counting wraps is in a chunk that is never there.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let number = index.wrapping_add(FIRST_CHUNK);
    // WHY `| 1`: the logarithm of zero is not asked for.
    let chunk = (number | 1).ilog2();
    (chunk as usize, (number ^ 1 << chunk) as usize)
}

impl<T> Table<T> {
    /// The greatest number of slots a table can have.
    pub const GREATEST: u32 = FIRST_CHUNK * ((1 << CHUNKS) - 1);

    /// A table for at most `limit` items at a time, used by that many threads with a stock.
    pub fn new(limit: u32, stocks: usize) -> Self {
        let limit = limit.min(Self::GREATEST);
        Self {
            chunks: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            vacant: Mutex::new(Vec::new()),
            used: AtomicU32::new(0),
            limit,
            batch: (limit as usize / (SHARE * stocks.max(1))).min(BATCH),
        }
    }

    #[inline]
    fn entry(&self, index: u32) -> Option<&Entry<T>> {
        let (chunk, offset) = place(index);
        // ORDER: acquire from `extend`: the entries of the chunk.
        let entries = NonNull::new(self.chunks[chunk].load(Ordering::Acquire))?;
        // SAFETY: a chunk that is there has `1 << chunk` entries, of which `offset` is one by
        // `place`; it is freed with the table.
        Some(unsafe { entries.add(offset).as_ref() })
    }

    /// The entry of a slot that was handed out.
    #[inline]
    fn known(&self, index: u32) -> &Entry<T> {
        self.entry(index).expect("a slot that was handed out lies in a chunk")
    }

    /// Takes a vacant slot, or a new one; `None` when all are in use. The stock has been used with
    /// this table only.
    #[inline]
    pub fn reserve(&self, stock: &Stock<T>) -> Option<Reserved<'_, T>> {
        self.reserve_at_hand(stock).or_else(|| {
            // SAFETY: as in `reserve_at_hand`.
            Some(Reserved(unsafe { &*self.refill(stock)? }))
        })
    }

    /// [`Table::reserve`] that takes what the stock has, if it has any.
    #[inline(always)]
    pub(crate) fn reserve_at_hand(&self, stock: &Stock<T>) -> Option<Reserved<'_, T>> {
        // SAFETY: an entry of a stock is one of this table's, which lives as long as it.
        Some(Reserved(unsafe { &*stock.pop()? }))
    }

    /// [`Table::reserve`] for a thread that keeps no stock.
    #[cold]
    pub fn reserve_one(&self) -> Option<Reserved<'_, T>> {
        let stock = Stock::new();
        let reserved = self.reserve(&stock);
        self.hand_back_all(&stock);
        reserved
    }

    /// [`Table::vacate`] for a thread that keeps no stock.
    #[cold]
    pub fn vacate_one(&self, slot: Slot) {
        let stock = Stock::new();
        self.vacate(&stock, slot);
        self.hand_back_all(&stock);
    }

    /// Moves a batch from the list, or at least one slot, into an empty stock, and takes one.
    #[cold]
    fn refill(&self, stock: &Stock<T>) -> Option<*const Entry<T>> {
        let mut vacant = self.vacant.lock().unwrap_or_else(PoisonError::into_inner);
        while stock.len() < self.batch.max(1) {
            let Some(index) = vacant.pop().or_else(|| self.extend()) else { break };
            stock.push(self.known(index));
        }
        stock.turn_round();
        stock.pop()
    }

    /// Moves what a stock has beyond `keep` slots into the list; those used last stay.
    #[cold]
    fn hand_back(&self, stock: &Stock<T>, keep: usize) {
        let mut vacant = self.vacant.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `reserve_at_hand`.
        stock.keep(keep, |entry| vacant.push(unsafe { &*entry }.index));
    }

    /// Moves all that a stock has into the list.
    pub fn hand_back_all(&self, stock: &Stock<T>) {
        if stock.len() > 0 {
            self.hand_back(stock, 0);
        }
    }

    /// Takes the next untouched slot. Called with the lock held.
    fn extend(&self) -> Option<u32> {
        let index = self.used.load(Ordering::Relaxed);
        if index >= self.limit {
            return None;
        }
        let (chunk, offset) = place(index);
        if offset == 0 {
            let first = index;
            let vacant = |n| Entry {
                item: AtomicPtr::new(ptr::null_mut()),
                generation: AtomicU32::new(0),
                index: first + n,
            };
            let entries: Box<[Entry<T>]> = (0..1 << chunk).map(vacant).collect();
            // ORDER: release to `entry`: the entries.
            self.chunks[chunk].store(Box::into_raw(entries).cast(), Ordering::Release);
        }
        // ORDER: SeqCst: a walk that does not come to this slot stands before it is filled, see
        // `fill`. No read-modify-write: only who holds the lock writes.
        self.used.store(index + 1, Ordering::SeqCst);
        Some(index)
    }

    /// Empties a slot and makes it ready for the next item; waits for look-ups under way.
    pub fn vacate(&self, stock: &Stock<T>, slot: Slot) {
        if self.vacate_at_once(stock, slot) {
            return;
        }
        let entry = self.known(slot.index());
        while !entry.empty() {
            entry.wait();
        }
        let Some(next) = slot.generation().checked_add(1) else { return };
        entry.generation.store(next, Ordering::Relaxed);
        stock.push(entry);
        if stock.len() > 2 * self.batch {
            self.hand_back(stock, self.batch);
        }
    }

    /// [`Table::vacate`] if there is nothing to wait for and the stock has room; says whether.
    ///
    /// WHY apart: it calls nothing, so that whoever ends with it has no registers to save.
    #[inline(always)]
    pub(crate) fn vacate_at_once(&self, stock: &Stock<T>, slot: Slot) -> bool {
        let entry = self.known(slot.index());
        let more = slot.generation() < u32::MAX && stock.len() < 2 * self.batch;
        let vacated = more && entry.empty();
        if vacated {
            entry.generation.store(slot.generation() + 1, Ordering::Relaxed);
            stock.push(entry);
        }
        vacated
    }

    /// Runs `take` on the item of a slot if it is still the same, and keeps it from being vacated
    /// meanwhile. `take` must be short and must not come back to this table.
    pub fn look_up<R>(&self, slot: Slot, take: impl FnOnce(NonNull<T>) -> R) -> Option<R> {
        let entry = self.entry(slot.index())?;
        let item = entry.lock()?;
        // ORDER: relaxed: the generation is written after the slot is vacated, which the lock
        // prevents, and what was written before it was filled is acquired with the pointer.
        let same = entry.generation.load(Ordering::Relaxed) == slot.generation();
        let found = same.then(|| take(item));
        // ORDER: release to `vacate`: the reference that `take` counted.
        entry.item.store(item.as_ptr(), Ordering::Release);
        found
    }

    /// How many items there may be at a time.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The slots that are filled now, one after the other; others may come and go meanwhile.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.used.load(Ordering::SeqCst)).filter_map(|index| {
            let entry = self.entry(index)?;
            // ORDER: SeqCst, see `fill`.
            let filled = !entry.item.load(Ordering::SeqCst).is_null();
            // ORDER: relaxed, after the item: its generation was written before it was filled.
            filled.then(|| Slot::new(index, entry.generation.load(Ordering::Relaxed)))
        })
    }

    /// Whether no slot is filled. Exact when nobody fills or vacates meanwhile.
    pub fn is_empty(&self) -> bool {
        self.slots().next().is_none()
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        for (chunk, entries) in self.chunks.iter().enumerate() {
            let entries = entries.load(Ordering::Relaxed);
            if !entries.is_null() {
                let len = 1 << chunk;
                // SAFETY: made by `extend` out of a box of that many entries, and nobody has the
                // table any more.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(entries, len)) });
            }
        }
    }
}

impl<T> Entry<T> {
    /// Takes the pointer out, unless the entry is locked.
    #[inline]
    fn empty(&self) -> bool {
        let item = self.item.load(Ordering::Relaxed);
        // ORDER: acquire from the release of a look-up's unlock: its reference is counted before
        // this thread gives up the table's own.
        item.addr() & LOCKED == 0
            && self
                .item
                .compare_exchange(item, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Locks the entry; `None` if it is vacant.
    fn lock(&self) -> Option<NonNull<T>> {
        loop {
            let item = self.item.load(Ordering::Relaxed);
            if item.addr() & LOCKED != 0 {
                self.wait();
                continue;
            }
            let item = NonNull::new(item)?;
            let locked = item.as_ptr().map_addr(|addr| addr | LOCKED);
            // ORDER: acquire from `fill`: what the pointer leads to.
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

    /// Waits while the entry is locked: for a few instructions, unless its holder was preempted.
    #[cold]
    fn wait(&self) {
        for patience in 0.. {
            if self.item.load(Ordering::Relaxed).addr() & LOCKED == 0 {
                return;
            }
            if patience < 64 && !cfg!(loom) {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn take(table: &Table<u64>, stock: &Stock<u64>) -> Option<Slot> {
        table.reserve(stock).map(|reserved| reserved.slot())
    }

    #[test]
    fn every_index_has_one_place_and_chunks_are_full() {
        let mut expected = (FIRST_CHUNK.ilog2() as usize, 0);
        for index in 0..100_000 {
            assert_eq!(place(index), expected, "index {index}");
            expected.1 += 1;
            if expected.1 == 1 << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn a_slot_is_made_of_its_parts() {
        for (index, generation) in [(0, 0), (0, u32::MAX), (u32::MAX - 1, 0), (7, 9)] {
            let slot = Slot::new(index, generation);
            assert_eq!((slot.index(), slot.generation()), (index, generation));
        }
    }

    // P4: a number is never found again after its process has ended.
    #[test]
    fn a_stale_number_finds_nothing_in_a_slot_that_is_used_again() {
        let (table, stock) = (Table::<u64>::new(10, 1), Stock::new());
        let mut item = 7;
        let pointer = NonNull::from(&mut item);
        let reserved = table.reserve(&stock).unwrap();
        let first = reserved.slot();
        reserved.fill(pointer);
        assert!(table.look_up(first, |_| ()).is_some());
        table.vacate(&stock, first);
        let reserved = table.reserve(&stock).unwrap();
        let second = reserved.slot();
        reserved.fill(pointer);
        assert_eq!(second.index(), first.index());
        assert!(table.look_up(first, |_| ()).is_none());
        assert!(table.look_up(second, |_| ()).is_some());
        table.vacate(&stock, second);
    }

    // P4: after 2^32 processes a slot is retired rather than beginning anew.
    #[test]
    fn a_slot_whose_generations_have_run_out_is_retired() {
        let (table, stock) = (Table::<u64>::new(10, 1), Stock::new());
        let slot = take(&table, &stock).unwrap();
        table.known(slot.index()).generation.store(u32::MAX, Ordering::Relaxed);
        table.vacate(&stock, Slot::new(slot.index(), u32::MAX));
        assert_ne!(take(&table, &stock).unwrap().index(), slot.index());
    }

    // E2: the limit is an answer, not a panic; what one thread has given up another one can have.
    #[test]
    fn a_full_table_says_so_and_no_slot_is_kept_from_others_by_a_stock() {
        let table = Table::<u64>::new(2, 2);
        let (here, there) = (Stock::new(), Stock::new());
        let a = take(&table, &here).unwrap();
        let _b = take(&table, &there).unwrap();
        assert_eq!(take(&table, &here), None);
        table.vacate(&there, a);
        assert_eq!(take(&table, &here).map(Slot::index), Some(a.index()));
        assert_eq!(take(&table, &here), None);
    }

    #[test]
    fn a_stock_keeps_a_batch_or_two_and_hands_back_the_rest() {
        let (table, stock) = (Table::<u64>::new(100_000, 1), Stock::new());
        let taken: Vec<_> = (0..10 * BATCH).map(|_| take(&table, &stock).unwrap()).collect();
        for slot in taken {
            table.vacate(&stock, slot);
            assert!(stock.len() <= 2 * BATCH);
        }
        table.hand_back_all(&stock);
        let mut vacant = table.vacant.lock().unwrap().clone();
        vacant.sort_unstable();
        assert_eq!(vacant, (0..10 * BATCH as u32).collect::<Vec<_>>());
    }
}
