//! Process table with generational indices.
//!
//! Any thread may `reserve`, `look_up` and walk the table. The thread that reserved a slot fills
//! it; the one that ends the process vacates it. The table never frees a slot, so looking up a
//! stale slot number is always safe.
//!
//! # Structure
//!
//! A slot holds the pointer to a process and a *generation*, which is incremented when the slot is
//! vacated. A slot number is an index with a generation: it finds its process or nothing, never a
//! later process in the same slot. A slot whose generation would overflow (after 2³² processes) is
//! retired.
//!
//! Slots lie in chunks of doubling size, so growing moves nothing. Vacant slots lie in one free
//! list behind a lock. Each worker has a slot cache ([`SlotCache`]) and exchanges slots with the
//! free list in batches. No worker takes from another's cache, so at the limit a worker may find no
//! slot while others cache up to two batches each. A table with a low limit has small batches, or
//! none: all caches together hold at most an eighth of it. A thread whose core was handed off
//! during a long turn keeps its cache until that turn ends.
//!
//! # Races
//!
//! *Look-up while the process ends*: the look-up is counted in the slot, and the count becomes
//! references to the process when the slot is vacated (`entry`). Neither waits for the other.
//!
//! COST: 16 bytes per slot, and 4 for each vacant one in the free list. Reserving is plain reads
//! and writes; vacating is one swap. A worker takes the lock once per 256 processes that it spawns
//! beyond those it ends, or ends beyond those it spawns. A look-up is two compare-and-swaps.

pub(crate) mod entry;
pub(crate) mod slot_cache;
mod walk;

use std::fmt;
use std::num::NonZero;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

use crate::sync::{AtomicPtr, AtomicU32, Mutex, MutexGuard, Ordering};
use crate::table::entry::{Entry, Item};
use crate::table::slot_cache::{BATCH, SlotCache};

#[cfg(not(any(loom, shuttle)))]
const FIRST_CHUNK: u32 = 1024;
#[cfg(any(loom, shuttle))]
const FIRST_CHUNK: u32 = 2;
const CHUNKS: u32 = 17;

/// Divisor of a worker's share of the limit: its batch is at most one in this many.
const SHARE: usize = 16;

/// Slot number of a process: unique among all processes of one node core.
///
/// WHY one non-zero word: each spawn copies it, plain and as an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(NonZero<u64>);

impl Slot {
    /// Creates a slot number. The index is below `u32::MAX`.
    #[inline]
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        let word = u64::from(generation) << 32 | (u64::from(index) + 1);
        Self(NonZero::new(word).expect("an index and one is not zero"))
    }

    /// Creates a slot number from its parts. Returns `None` if no slot has that index.
    pub fn from_parts(index: u32, generation: u32) -> Option<Self> {
        (index < u32::MAX).then(|| Self::new(index, generation))
    }

    /// Returns the slot number as one integer.
    #[inline]
    pub fn to_bits(self) -> NonZero<u64> {
        self.0
    }

    /// Restores a slot number from [`Slot::to_bits`].
    #[inline]
    pub fn from_bits(bits: NonZero<u64>) -> Self {
        Self(bits)
    }

    /// Returns the index in the table.
    #[inline]
    pub fn index(self) -> u32 {
        (self.0.get() as u32).wrapping_sub(1)
    }

    /// Returns how many processes occupied the index before.
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

/// Process table of one node core; `T` is the type that entries point to.
pub struct Table<T> {
    /// Null, or 2ⁿ entries that live as long as the table; always null below `FIRST_CHUNK`.
    chunks: [AtomicPtr<Entry<T>>; u32::BITS as usize],
    vacant: Mutex<Vec<u32>>,
    /// Number of slots ever handed out; slots from this index on are untouched.
    used: AtomicU32,
    /// Number of slots whose generation was the last one.
    retired: AtomicU32,
    limit: u32,
    batch: usize,
}

/// A vacant slot reserved by the caller.
#[must_use]
pub struct Reserved<'a, T>(&'a Entry<T>);

impl<T> Reserved<'_, T> {
    /// Returns the slot number.
    #[inline]
    pub fn slot(&self) -> Slot {
        // ORDER: relaxed: written by this thread, or before the slot came through the free list's
        // lock.
        Slot::new(self.0.index, self.0.generation.load(Ordering::Relaxed))
    }

    /// Fills the slot.
    ///
    /// Takes part in the total order of `SeqCst` operations with [`Table::slots`]. So of a thread
    /// that fills and then reads a flag, and one that sets the flag and then walks the table, at
    /// least one sees the other's store.
    ///
    /// # Safety
    /// The item's slot is this one. It gives the table its references and keeps the slot until that
    /// is vacated.
    #[inline]
    pub unsafe fn fill(self, item: NonNull<T>) {
        // ORDER: release to `look_up`: the item. SeqCst: see above.
        self.0.item.store(item.as_ptr(), Ordering::SeqCst);
    }
}

/// Returns the chunk of an index, as the binary logarithm of the chunk's length, and the offset in
/// it.
///
/// Shifted by the length of the first chunk, the indices of a chunk are the numbers with the same
/// highest bit. An index for which the shift wraps maps to a chunk that is never allocated.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let number = index.wrapping_add(FIRST_CHUNK);
    // WHY `| 1`: avoids the logarithm of zero.
    let chunk = (number | 1).ilog2();
    (chunk as usize, (number ^ 1 << chunk) as usize)
}

impl<T: Item> Table<T> {
    /// Maximum number of slots in a table.
    pub const GREATEST: u32 = FIRST_CHUNK * ((1 << CHUNKS) - 1);

    /// Creates a table for at most `limit` items, used by `caches` threads with a slot cache.
    pub fn new(limit: u32, caches: usize) -> Self {
        let limit = limit.min(Self::GREATEST);
        Self {
            chunks: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            vacant: Mutex::new(Vec::new()),
            used: AtomicU32::new(0),
            retired: AtomicU32::new(0),
            limit,
            batch: (limit as usize / (SHARE * caches.max(1))).min(BATCH),
        }
    }

    fn lock_vacant(&self) -> MutexGuard<'_, Vec<u32>> {
        // WHY: no code panics while the list is locked, so it is always consistent.
        self.vacant.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn entry(&self, index: u32) -> Option<&Entry<T>> {
        let (chunk, offset) = locate(index);
        // ORDER: acquire from `extend`: the entries of the chunk.
        let entries = NonNull::new(self.chunks[chunk].load(Ordering::Acquire))?;
        // SAFETY: a non-null chunk has `1 << chunk` entries, and `locate` returns an `offset` below
        // that. It is freed with the table.
        Some(unsafe { entries.add(offset).as_ref() })
    }

    /// Returns the entry of a slot that was handed out.
    #[inline]
    fn known(&self, index: u32) -> &Entry<T> {
        self.entry(index).expect("a slot that was handed out lies in a chunk")
    }

    /// Reserves a vacant slot, or a new one. Returns `None` if all are in use.
    ///
    /// # Safety
    /// The cache is used with this table only.
    #[inline]
    pub unsafe fn reserve(&self, slot_cache: &SlotCache<T>) -> Option<Reserved<'_, T>> {
        // SAFETY: by the contract.
        unsafe { self.reserve_cached(slot_cache) }.or_else(|| {
            // SAFETY: as in `reserve_cached`.
            Some(Reserved(unsafe { &*self.refill(slot_cache)? }))
        })
    }

    /// [`Table::reserve`] from the cache only.
    ///
    /// # Safety
    /// As for [`Table::reserve`].
    #[inline(always)]
    pub(crate) unsafe fn reserve_cached(
        &self,
        slot_cache: &SlotCache<T>,
    ) -> Option<Reserved<'_, T>> {
        // SAFETY: the cache holds entries of this table only, which live as long as the table.
        Some(Reserved(unsafe { &*slot_cache.pop()? }))
    }

    /// [`Table::reserve`] for a thread without a cache.
    pub fn reserve_one(&self) -> Option<Reserved<'_, T>> {
        let mut vacant = self.lock_vacant();
        let index = vacant.pop().or_else(|| self.extend())?;
        Some(Reserved(self.known(index)))
    }

    /// [`Table::vacate`] for a thread without a cache.
    ///
    /// # Safety
    /// The caller owns the slot and gives it up.
    #[must_use]
    pub unsafe fn vacate_one(&self, slot: Slot) -> u32 {
        let (references, entry) = self.empty(slot);
        if let Some(entry) = entry {
            self.lock_vacant().push(entry.index);
        }
        references
    }

    /// Moves a batch, but at least one slot, from the free list into an empty cache, and takes one.
    #[cold]
    fn refill(&self, slot_cache: &SlotCache<T>) -> Option<*const Entry<T>> {
        let mut vacant = self.lock_vacant();
        while slot_cache.len() < self.batch.max(1) {
            let Some(index) = vacant.pop().or_else(|| self.extend()) else { break };
            slot_cache.push(self.known(index));
        }
        slot_cache.reverse();
        slot_cache.pop()
    }

    /// Moves all but the `keep` most recent slots of a cache into the free list.
    ///
    /// # Safety
    /// As for [`Table::reserve`].
    #[cold]
    unsafe fn hand_back(&self, slot_cache: &SlotCache<T>, keep: usize) {
        let mut vacant = self.lock_vacant();
        // SAFETY: as in `reserve_cached`.
        slot_cache.retain_newest(keep, |entry| vacant.push(unsafe { &*entry }.index));
    }

    /// Moves all slots of a cache into the free list.
    ///
    /// # Safety
    /// As for [`Table::reserve`].
    pub unsafe fn hand_back_all(&self, slot_cache: &SlotCache<T>) {
        if slot_cache.len() > 0 {
            // SAFETY: by the contract.
            unsafe { self.hand_back(slot_cache, 0) };
        }
    }

    /// Returns the next untouched slot. Called with the lock held.
    fn extend(&self) -> Option<u32> {
        let index = self.used.load(Ordering::Relaxed);
        let retired = self.retired.load(Ordering::Relaxed);
        if index >= self.limit.saturating_add(retired).min(Self::GREATEST) {
            return None;
        }
        let (chunk, offset) = locate(index);
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
        // ORDER: SeqCst: in the total order a walk that misses this slot precedes its filling, see
        // `fill`. No read-modify-write: only the thread that holds the lock writes.
        self.used.store(index + 1, Ordering::SeqCst);
        Some(index)
    }

    /// Empties a slot and prepares it for the next item. Returns how many references to the item
    /// the caller has taken over from the table and must release; look-ups in progress hold the
    /// others.
    ///
    /// # Safety
    /// As for [`Table::reserve`], and the caller owns the slot and gives it up.
    #[must_use]
    pub unsafe fn vacate(&self, slot_cache: &SlotCache<T>, slot: Slot) -> u32 {
        let (references, entry) = self.empty(slot);
        if let Some(entry) = entry {
            slot_cache.push(entry);
            if slot_cache.len() > 2 * self.batch {
                // SAFETY: by the contract.
                unsafe { self.hand_back(slot_cache, self.batch) };
            }
        }
        references
    }

    /// Empties a slot. Returns the number of references taken over, and the entry unless its
    /// generation was the last one.
    #[inline(always)]
    fn empty(&self, slot: Slot) -> (u32, Option<&Entry<T>>) {
        let entry = self.known(slot.index());
        let references = entry.empty();
        let reusable = slot.generation() < u32::MAX;
        if reusable {
            entry.generation.store(slot.generation() + 1, Ordering::Relaxed);
        } else {
            self.retired.fetch_add(1, Ordering::Relaxed);
        }
        (references, reusable.then_some(entry))
    }

    /// [`Table::vacate`] if the cache has room.
    ///
    /// WHY a separate function: it calls nothing, so a caller that ends with it saves no registers.
    ///
    /// # Safety
    /// As for [`Table::vacate`].
    #[inline(always)]
    pub(crate) unsafe fn try_vacate(&self, slot_cache: &SlotCache<T>, slot: Slot) -> Option<u32> {
        if slot_cache.len() >= 2 * self.batch {
            return None;
        }
        let (references, entry) = self.empty(slot);
        if let Some(entry) = entry {
            slot_cache.push(entry);
        }
        Some(references)
    }

    /// Calls `take` with the item of a slot if it is still the same, which is not freed meanwhile.
    pub fn look_up<R>(&self, slot: Slot, take: impl FnOnce(NonNull<T>) -> R) -> Option<R> {
        let same = |item: NonNull<T>| {
            // SAFETY: the item is not freed during the visit.
            (unsafe { item.as_ref() }.slot() == slot).then(|| take(item))
        };
        self.entry(slot.index())?.visit(same)?
    }

    /// Returns the maximum number of items.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Iterates over the slots that are filled; others may come and go concurrently.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.used.load(Ordering::SeqCst)).filter_map(|index| {
            let entry = self.entry(index)?;
            // ORDER: SeqCst, see `fill`.
            let filled = !entry.item.load(Ordering::SeqCst).is_null();
            // ORDER: relaxed, after the item: its generation was written before it was filled.
            filled.then(|| Slot::new(index, entry.generation.load(Ordering::Relaxed)))
        })
    }

    /// Returns whether no slot is filled. Exact if no thread fills or vacates concurrently.
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
                // SAFETY: `extend` made it from a box of this many entries, and no other reference
                // to the table exists.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(entries, len)) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
