//! Tests of the process table: stale numbers, look-ups in progress, exhausted generations and limits.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use crate::table::entry::TABLE_REFERENCES;

/// Item that outlives its table and counts the references that look-ups release.
struct One {
    slot: Cell<Slot>,
    released: Cell<u32>,
}

impl One {
    fn new() -> Self {
        Self { slot: Cell::new(Slot::new(0, 0)), released: Cell::new(0) }
    }
}

// SAFETY: the items of a test outlive its table.
unsafe impl Item for One {
    fn slot(&self) -> Slot {
        self.slot.get()
    }

    unsafe fn release(item: NonNull<Self>) {
        // SAFETY: as above.
        let released = &unsafe { item.as_ref() }.released;
        released.set(released.get() + 1);
    }
}

fn take(table: &Table<One>, slot_cache: &SlotCache<One>) -> Option<Slot> {
    // SAFETY: each test has one table.
    unsafe { table.reserve(slot_cache) }.map(|reserved| reserved.slot())
}

fn put(table: &Table<One>, slot_cache: &SlotCache<One>, item: &One) -> Slot {
    // SAFETY: each test has one table, and the item outlives it.
    unsafe {
        let reserved = table.reserve(slot_cache).unwrap();
        item.slot.set(reserved.slot());
        reserved.fill(NonNull::from(item));
    }
    item.slot.get()
}

fn vacate(table: &Table<One>, slot_cache: &SlotCache<One>, slot: Slot) -> u32 {
    // SAFETY: each test has one table and vacates each of its slots once.
    unsafe { table.vacate(slot_cache, slot) }
}

// P4: a process found by a look-up in progress is not freed when it ends.
#[test]
fn look_up_in_progress_takes_over_a_reference_of_the_table() {
    let (table, slot_cache) = (Table::<One>::new(10, 1), SlotCache::new());
    let [one, next] = [One::new(), One::new()];
    let first = put(&table, &slot_cache, &one);
    let left = table.look_up(first, |_| {
        let left = table.look_up(first, |_| vacate(&table, &slot_cache, first));
        assert_eq!(one.released.get(), 1, "the inner look-up");
        put(&table, &slot_cache, &next);
        left.unwrap()
    });
    assert_eq!((left.unwrap(), one.released.get()), (TABLE_REFERENCES - 2, 2));
    assert_eq!(vacate(&table, &slot_cache, next.slot()), TABLE_REFERENCES);
    assert_eq!(next.released.get(), 0);
}

// P4: a process is freed by its last look-up, however many are in progress.
#[test]
fn look_ups_in_progress_never_own_more_references_than_the_table_held() {
    let (table, slot_cache) = (Table::<One>::new(10, 1), SlotCache::new());
    let one = One::new();
    let slot = put(&table, &slot_cache, &one);
    let entry = table.known(slot.index());
    let most: Vec<_> = (1..TABLE_REFERENCES).map(|_| entry.begin()).collect();
    assert!(most.iter().all(Option::is_some));
    let more = AssertUnwindSafe(|| entry.begin().is_some());
    assert!(catch_unwind(more).is_err(), "one more cannot be counted");
    assert_eq!(vacate(&table, &slot_cache, slot), 1);
    drop(most);
    assert_eq!(one.released.get(), TABLE_REFERENCES - 1);
}

#[test]
fn look_up_that_panics_ends() {
    let (table, slot_cache) = (Table::<One>::new(10, 1), SlotCache::new());
    let one = One::new();
    let slot = put(&table, &slot_cache, &one);
    let panics = |_| -> u8 { resume_unwind(Box::new("a visit that panics")) };
    assert!(catch_unwind(AssertUnwindSafe(|| table.look_up(slot, panics))).is_err());
    assert_eq!(vacate(&table, &slot_cache, slot), TABLE_REFERENCES);
}

#[test]
fn every_index_maps_to_one_place_and_chunks_are_full() {
    let mut expected = (FIRST_CHUNK.ilog2() as usize, 0);
    for index in 0..100_000 {
        assert_eq!(locate(index), expected, "index {index}");
        expected.1 += 1;
        if expected.1 == 1 << expected.0 {
            expected = (expected.0 + 1, 0);
        }
    }
}

#[test]
fn slot_round_trips_through_its_parts() {
    for (index, generation) in [(0, 0), (0, u32::MAX), (u32::MAX - 1, 0), (7, 9)] {
        let slot = Slot::new(index, generation);
        assert_eq!((slot.index(), slot.generation()), (index, generation));
    }
}

// P4: a slot number finds nothing after its process has ended.
#[test]
fn stale_number_finds_nothing_in_a_reused_slot() {
    let (table, slot_cache) = (Table::<One>::new(10, 1), SlotCache::new());
    let item = One::new();
    let first = put(&table, &slot_cache, &item);
    assert!(table.look_up(first, |_| ()).is_some());
    let _ = vacate(&table, &slot_cache, first);
    let second = put(&table, &slot_cache, &item);
    assert_eq!(second.index(), first.index());
    assert!(table.look_up(first, |_| ()).is_none());
    assert!(table.look_up(second, |_| ()).is_some());
    let _ = vacate(&table, &slot_cache, second);
}

// P4: after 2^32 processes a slot is retired; its generation does not wrap. Another one replaces it.
#[test]
fn slot_with_an_exhausted_generation_is_retired() {
    let (table, slot_cache) = (Table::<One>::new(1, 1), SlotCache::new());
    let slot = take(&table, &slot_cache).unwrap();
    table.known(slot.index()).generation.store(u32::MAX, Ordering::Relaxed);
    let _ = vacate(&table, &slot_cache, Slot::new(slot.index(), u32::MAX));
    assert_eq!(table.taken(), 0);
    assert_ne!(take(&table, &slot_cache).unwrap().index(), slot.index());
    assert_eq!((table.taken(), take(&table, &slot_cache)), (1, None));
}

// E2: a full table returns an error, and a slot vacated by one thread is available to another.
#[test]
fn full_table_returns_none_and_caches_withhold_no_slot() {
    let table = Table::<One>::new(2, 2);
    let (here, there) = (SlotCache::new(), SlotCache::new());
    let a = take(&table, &here).unwrap();
    let _b = take(&table, &there).unwrap();
    assert_eq!(take(&table, &here), None);
    let _ = vacate(&table, &there, a);
    assert_eq!(take(&table, &here).map(Slot::index), Some(a.index()));
    assert_eq!(take(&table, &here), None);
}

#[test]
fn slot_cache_holds_at_most_two_batches_and_returns_the_rest() {
    let (table, slot_cache) = (Table::<One>::new(100_000, 1), SlotCache::new());
    let taken: Vec<_> = (0..10 * BATCH).map(|_| take(&table, &slot_cache).unwrap()).collect();
    for slot in taken {
        let _ = vacate(&table, &slot_cache, slot);
        assert!(slot_cache.len() <= 2 * BATCH);
    }
    // SAFETY: as above.
    unsafe { table.hand_back_all(&slot_cache) };
    let mut vacant = table.vacant.lock().unwrap().clone();
    vacant.sort_unstable();
    assert_eq!(vacant, (0..10 * BATCH as u32).collect::<Vec<_>>());
}
