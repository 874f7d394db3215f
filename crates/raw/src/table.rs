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
//! Slots lie in chunks that double in size, so growing moves nothing. Vacant slots hang in free
//! lists, one for each worker and each threaded through the slots themselves; the head of a list
//! carries a tag that changes with every operation, so a slot that was taken and given back in
//! between is noticed (the ABA problem).
//!
//! # Races
//!
//! *A look-up while the process ends*: the look-up locks the slot with the lowest bit of its
//! pointer while it takes a reference, a matter of a few instructions; vacating waits for it.
//!
//! COST: 16 bytes a slot; reserving and vacating are one compare-and-swap each on a list that only
//! this worker uses as a rule; a look-up is one compare-and-swap and a store.

use std::ptr::{self, NonNull};
use std::sync::{OnceLock, PoisonError};

use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Mutex, Ordering, hint, thread};

#[cfg(not(loom))]
const FIRST_CHUNK: u32 = 1024;
#[cfg(loom)]
const FIRST_CHUNK: u32 = 2;
const CHUNKS: usize = 17;

/// A pointer's lowest bit: somebody is taking a reference.
const LOCKED: usize = 1;
/// No slot.
const NIL: u32 = u32::MAX;

/// Where a process stands in its table: never the same for two processes of one realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// The place in the table.
    pub index: u32,
    /// How many processes had that place before.
    pub generation: u32,
}

struct Entry<T> {
    item: AtomicPtr<T>,
    generation: AtomicU32,
    next_free: AtomicU32,
}

/// A list of vacant slots: `tag << 32 | index of the first`.
#[repr(align(128))]
struct FreeList(AtomicU64);

/// The table of the processes of one realm; `T` is what an entry points to.
pub struct Table<T> {
    chunks: [OnceLock<Box<[Entry<T>]>>; CHUNKS],
    free: Box<[FreeList]>,
    /// Slots that were ever handed out; those from here on are untouched.
    used: AtomicU32,
    limit: u32,
    /// Held while slots go from one list to another.
    taking_over: Mutex<()>,
}

/// Splits an index into its chunk and its place there.
fn place(index: u32) -> (usize, usize) {
    let chunk = (index / FIRST_CHUNK + 1).ilog2();
    let before = ((1u32 << chunk) - 1) * FIRST_CHUNK;
    (chunk as usize, (index - before) as usize)
}

impl<T> Table<T> {
    /// The greatest number of slots a table can have.
    pub const GREATEST: u32 = FIRST_CHUNK * ((1 << CHUNKS) - 1);

    /// A table for at most `limit` items at a time, with one list of vacant slots per shard.
    pub fn new(limit: u32, shards: usize) -> Self {
        Self {
            chunks: std::array::from_fn(|_| OnceLock::new()),
            free: (0..shards.max(1)).map(|_| FreeList(AtomicU64::new(NIL.into()))).collect(),
            used: AtomicU32::new(0),
            limit: limit.min(Self::GREATEST),
            taking_over: Mutex::new(()),
        }
    }

    fn entry(&self, index: u32) -> Option<&Entry<T>> {
        let (chunk, offset) = place(index);
        self.chunks.get(chunk)?.get()?.get(offset)
    }

    /// The entry of a slot that was handed out.
    fn known(&self, index: u32) -> &Entry<T> {
        self.entry(index).expect("a slot that was handed out lies in a chunk")
    }

    /// Takes a vacant slot, or a new one; `None` when all are in use.
    #[inline]
    pub fn reserve(&self, shard: usize) -> Option<Slot> {
        let own = shard.min(self.free.len() - 1);
        self.pop_free(own).or_else(|| self.reserve_elsewhere(own))
    }

    /// Takes a new slot; before the table grows by another chunk, takes over the vacant slots of
    /// another shard, since processes may begin on one worker and end on another.
    #[cold]
    fn reserve_elsewhere(&self, own: usize) -> Option<Slot> {
        // WHY a lock: while one thread has the slots of another shard in its hands, a second one
        // must wait for them rather than find no slot anywhere.
        let _one_at_a_time = self.taking_over.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = self.pop_free(own) {
            return Some(slot);
        }
        if let Some(index) = self.extend(false) {
            return Some(Slot { index, generation: 0 });
        }
        let others = (1..self.free.len()).map(|i| (own + i) % self.free.len());
        let taken = others.into_iter().find_map(|other| self.take_all(other));
        let Some(first) = taken else {
            return self.extend(true).map(|index| Slot { index, generation: 0 });
        };
        let entry = self.known(first);
        let generation = entry.generation.load(Ordering::Relaxed);
        let mut rest = entry.next_free.load(Ordering::Relaxed);
        while rest != NIL {
            let entry = self.known(rest);
            let next = entry.next_free.load(Ordering::Relaxed);
            self.push_free(own, rest, entry);
            rest = next;
        }
        Some(Slot { index: first, generation })
    }

    /// Empties a free list; the first slot of what it held.
    fn take_all(&self, shard: usize) -> Option<u32> {
        let list = &self.free[shard].0;
        let mut head = list.load(Ordering::Relaxed);
        while head as u32 != NIL {
            // ORDER: acquire from `push_free`: `next_free` and the generation of all of them.
            let emptied = list.compare_exchange_weak(
                head,
                tagged(head, NIL),
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match emptied {
                Ok(_) => return Some(head as u32),
                Err(now) => head = now,
            }
        }
        None
    }

    /// Takes the next untouched slot, if there is one in a chunk that exists or the table may grow.
    fn extend(&self, grow: bool) -> Option<u32> {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            if used >= self.limit {
                return None;
            }
            let (chunk, offset) = place(used);
            if offset == 0 && !grow && self.chunks[chunk].get().is_none() {
                return None;
            }
            self.chunks[chunk].get_or_init(|| {
                let vacant = |_| Entry {
                    item: AtomicPtr::new(ptr::null_mut()),
                    generation: AtomicU32::new(0),
                    next_free: AtomicU32::new(NIL),
                };
                (0..FIRST_CHUNK << chunk).map(vacant).collect()
            });
            // ORDER: the chunk is published by its OnceLock, not by this counter. SeqCst: a walk that
            // does not come to this slot stands before it is filled, see `fill`.
            match self.used.compare_exchange_weak(
                used,
                used + 1,
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(used),
                Err(now) => used = now,
            }
        }
    }

    #[inline]
    fn pop_free(&self, shard: usize) -> Option<Slot> {
        let list = &self.free[shard].0;
        // ORDER: acquire from `push_free`: the slot's `next_free` and generation.
        let mut head = list.load(Ordering::Acquire);
        loop {
            let index = head as u32;
            if index == NIL {
                return None;
            }
            // The slot may be taken by another thread meanwhile; then what is read here is of no
            // use, and the tag makes the exchange fail.
            let entry = self.known(index);
            let next = entry.next_free.load(Ordering::Relaxed);
            let generation = entry.generation.load(Ordering::Relaxed);
            let new = tagged(head, next);
            // ORDER: on failure, as the load above. On success nothing more is read.
            match list.compare_exchange_weak(head, new, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => return Some(Slot { index, generation }),
                Err(now) => head = now,
            }
        }
    }

    #[inline]
    fn push_free(&self, shard: usize, index: u32, entry: &Entry<T>) {
        let list = &self.free[shard.min(self.free.len() - 1)].0;
        let mut head = list.load(Ordering::Relaxed);
        loop {
            entry.next_free.store(head as u32, Ordering::Relaxed);
            let new = tagged(head, index);
            // ORDER: release to `pop_free`: `next_free` and the generation.
            match list.compare_exchange_weak(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Fills a reserved slot. The pointer must be even.
    ///
    /// Stands in the one order of `SeqCst` with [`Table::slots`], so that of a thread that fills and
    /// then reads a flag, and one that sets the flag and then walks the table, one sees the other.
    pub fn fill(&self, slot: Slot, item: NonNull<T>) {
        // ORDER: release to `look_up`: what the pointer leads to. SeqCst: see above.
        self.known(slot.index).item.store(item.as_ptr(), Ordering::SeqCst);
    }

    /// Empties a slot and makes it ready for the next item; waits for look-ups under way.
    pub fn vacate(&self, shard: usize, slot: Slot) -> Option<NonNull<T>> {
        let entry = self.known(slot.index);
        let mut patience = Patience::new();
        let item = loop {
            let item = entry.item.load(Ordering::Relaxed);
            if item.addr() & LOCKED != 0 {
                patience.wait();
                continue;
            }
            // ORDER: acquire from the release of a look-up's unlock: its reference is counted
            // before this thread gives up the table's own.
            let vacated = entry.item.compare_exchange(
                item,
                ptr::null_mut(),
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if vacated.is_ok() {
                break item;
            }
        };
        if let Some(next) = slot.generation.checked_add(1) {
            entry.generation.store(next, Ordering::Relaxed);
            self.push_free(shard, slot.index, entry);
        }
        NonNull::new(item)
    }

    /// Runs `take` on the item of a slot if it is still the same, and keeps it from being vacated
    /// meanwhile. `take` must be short and must not come back to this table.
    pub fn look_up<R>(&self, slot: Slot, take: impl FnOnce(NonNull<T>) -> R) -> Option<R> {
        let entry = self.entry(slot.index)?;
        let item = lock(entry)?;
        // ORDER: relaxed: the generation is written after the slot is vacated, which the lock
        // prevents, and what was written before it was filled is acquired with the pointer.
        let same = entry.generation.load(Ordering::Relaxed) == slot.generation;
        let found = same.then(|| take(item));
        // ORDER: release to `vacate`: the reference that `take` counted.
        entry.item.store(item.as_ptr(), Ordering::Release);
        found
    }

    /// The slots that are filled now, one after the other; others may come and go meanwhile.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.used.load(Ordering::SeqCst)).filter_map(|index| {
            let entry = self.entry(index)?;
            let generation = entry.generation.load(Ordering::Relaxed);
            // ORDER: SeqCst, see `fill`.
            let filled = !entry.item.load(Ordering::SeqCst).is_null();
            filled.then_some(Slot { index, generation })
        })
    }

    /// Whether no slot is filled. Exact when nobody fills or vacates meanwhile.
    pub fn is_empty(&self) -> bool {
        self.slots().next().is_none()
    }
}

/// The next head of a free list: a new tag, another first slot.
fn tagged(head: u64, first: u32) -> u64 {
    ((head >> 32).wrapping_add(1) << 32) | u64::from(first)
}

/// Locks an entry; `None` if it is vacant.
fn lock<T>(entry: &Entry<T>) -> Option<NonNull<T>> {
    let mut patience = Patience::new();
    loop {
        let item = entry.item.load(Ordering::Relaxed);
        if item.addr() & LOCKED != 0 {
            patience.wait();
            continue;
        }
        let item = NonNull::new(item)?;
        let locked = item.as_ptr().map_addr(|addr| addr | LOCKED);
        // ORDER: acquire from `fill`: what the pointer leads to.
        let taken = entry.item.compare_exchange(
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

/// Waits for a lock that is held for a few instructions, unless its holder was preempted.
struct Patience(u32);

impl Patience {
    fn new() -> Self {
        Self(0)
    }

    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < 64 && !cfg!(loom) {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_one_place_and_chunks_are_full() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(place(index), expected, "index {index}");
            expected.1 += 1;
            if expected.1 == (FIRST_CHUNK << expected.0) as usize {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    // P4: a number is never found again after its process has ended.
    #[test]
    fn a_stale_number_finds_nothing_in_a_slot_that_is_used_again() {
        let table = Table::<u64>::new(10, 1);
        let mut item = 7;
        let pointer = NonNull::from(&mut item);
        let first = table.reserve(0).unwrap();
        table.fill(first, pointer);
        assert!(table.look_up(first, |_| ()).is_some());
        assert_eq!(table.vacate(0, first), Some(pointer));
        let second = table.reserve(0).unwrap();
        table.fill(second, pointer);
        assert_eq!(second.index, first.index);
        assert!(table.look_up(first, |_| ()).is_none());
        assert!(table.look_up(second, |_| ()).is_some());
        table.vacate(0, second);
    }

    // P4: after 2^32 processes a slot is retired rather than beginning anew.
    #[test]
    fn a_slot_whose_generations_have_run_out_is_retired() {
        let table = Table::<u64>::new(10, 1);
        let slot = table.reserve(0).unwrap();
        table.known(slot.index).generation.store(u32::MAX, Ordering::Relaxed);
        table.vacate(0, Slot { generation: u32::MAX, ..slot });
        assert_ne!(table.reserve(0).unwrap().index, slot.index);
    }

    // E2: the limit is an answer, not a panic.
    #[test]
    fn a_full_table_says_so_and_a_vacant_slot_of_another_shard_is_found() {
        let table = Table::<u64>::new(2, 2);
        let a = table.reserve(0).unwrap();
        let _b = table.reserve(1).unwrap();
        assert_eq!(table.reserve(0), None);
        table.push_free(1, a.index, table.known(a.index));
        assert_eq!(table.reserve(0), Some(a));
        assert_eq!(table.reserve(0), None);
    }
}
