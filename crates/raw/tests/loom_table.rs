//! Models of the process table.
//!
//! Run with `scripts/test-loom.sh`. In a model the first chunk has two slots, and a batch is one
//! slot, or none if the limit is low.
#![cfg(loom)]

use std::num::NonZero;
use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use loom::thread;
use purlin_raw::Slot;
use purlin_raw::model::{self, Reserved, SlotCache, TABLE_REFERENCES, Table, model};

/// A limit so low that caches exchange every slot with the free list.
const LOW: u32 = 4;
/// With this limit, and two caches, a cache holds one or two slots.
const HIGH: u32 = 32;

/// Stands for a process: a reference count, and content that the last reference frees.
struct Item {
    refs: AtomicU32,
    slot: UnsafeCell<Option<Slot>>,
    content: UnsafeCell<u32>,
}

// SAFETY: the memory of an item outlives its model; loom checks the accesses to its content.
unsafe impl model::Item for Item {
    fn slot(&self) -> Slot {
        // SAFETY: written before the item is filled in; loom checks the access.
        self.slot.with(|slot| unsafe { *slot }).expect("it is filled in")
    }

    unsafe fn release(item: NonNull<Self>) {
        // SAFETY: as above.
        unsafe { item.as_ref() }.release(1);
    }
}

impl Item {
    fn new(content: u32) -> Self {
        Self {
            refs: AtomicU32::new(TABLE_REFERENCES),
            slot: UnsafeCell::new(None),
            content: UnsafeCell::new(content),
        }
    }

    fn retain(&self) {
        self.refs.fetch_add(1, Ordering::Relaxed);
    }

    /// Releases references; the last one "frees" the content, which loom sees as a write.
    fn release(&self, references: u32) {
        if self.refs.fetch_sub(references, Ordering::AcqRel) == references {
            // SAFETY: no reference remains; loom checks the access.
            self.content.with_mut(|content| unsafe { *content = 0 });
        }
    }

    fn read(&self) -> u32 {
        // SAFETY: the caller holds a reference; loom checks the access.
        self.content.with(|content| unsafe { *content })
    }
}

/// Reserves a slot and fills it.
fn put(table: &Table<Item>, slot_cache: &SlotCache<Item>, item: &Item) -> Slot {
    fill(reserve(table, slot_cache).expect("there is a slot left"), item)
}

fn fill(reserved: Reserved<'_, Item>, item: &Item) -> Slot {
    let slot = reserved.slot();
    // SAFETY: no other thread finds the item yet; loom checks the access. The items of a model
    // outlive its look-ups.
    unsafe {
        item.slot.with_mut(|place| *place = Some(slot));
        reserved.fill(NonNull::from(item));
    }
    slot
}

fn reserve<'a>(table: &'a Table<Item>, slot_cache: &SlotCache<Item>) -> Option<Reserved<'a, Item>> {
    // SAFETY: each model has one table.
    unsafe { table.reserve(slot_cache) }
}

fn vacate(table: &Table<Item>, slot_cache: &SlotCache<Item>, slot: Slot) -> u32 {
    // SAFETY: each model has one table, and a slot is vacated once, after it was reserved.
    unsafe { table.vacate(slot_cache, slot) }
}

fn hand_back_all(table: &Table<Item>, slot_cache: &SlotCache<Item>) {
    // SAFETY: each model has one table.
    unsafe { table.hand_back_all(slot_cache) }
}

// P4: a slot number finds its process or nothing.
#[test]
fn look_up_finds_a_live_process_or_nothing_while_it_ends() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let slot_cache = SlotCache::new();
        let item = Arc::new(Item::new(7));
        let slot = put(&table, &slot_cache, &item);
        let looker = {
            let (table, item) = (Arc::clone(&table), Arc::clone(&item));
            thread::spawn(move || {
                let found = table.look_up(slot, |found| {
                    assert_eq!(found, NonNull::from(&*item));
                    item.retain();
                });
                if found.is_some() {
                    assert_eq!(item.read(), 7, "a process that was found is not freed");
                    item.release(1);
                }
            })
        };
        item.release(vacate(&table, &slot_cache, slot));
        assert!(table.is_empty());
        looker.join().unwrap();
        assert_eq!(item.read(), 0, "it is freed with the last reference");
    });
}

// P4: look-ups and the end of a process do not wait for each other; the last of them frees it.
#[test]
fn look_ups_during_the_end_free_the_process_once() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let slot_cache = SlotCache::new();
        let item = Arc::new(Item::new(7));
        let slot = put(&table, &slot_cache, &item);
        let lookers = [(); 2].map(|()| {
            let (table, item) = (Arc::clone(&table), Arc::clone(&item));
            thread::spawn(move || {
                let read = table.look_up(slot, |_| item.read());
                assert!(read.is_none_or(|content| content == 7));
            })
        });
        item.release(vacate(&table, &slot_cache, slot));
        for looker in lookers {
            looker.join().unwrap();
        }
        assert_eq!(item.read(), 0, "it is freed with the last reference");
    });
}

// P5: a walk reads no freed item.
#[test]
fn walk_reads_live_items_while_others_come_and_go() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let slot_cache = SlotCache::new();
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let first = put(&table, &slot_cache, &items[0]);
        let walker = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let mut seen = Vec::new();
                // SAFETY: a visit keeps its item alive.
                let visit = |item: NonNull<Item>| unsafe { item.as_ref() }.read();
                let rest = table.walk(0, 1, visit, |content| seen.push(content));
                assert!(rest.is_none() && matches!(*seen, [] | [1 | 2]), "{seen:?}");
            })
        };
        items[0].release(vacate(&table, &slot_cache, first));
        put(&table, &slot_cache, &items[1]);
        walker.join().unwrap();
        assert_eq!(items[0].read(), 0, "it is freed with the last reference");
    });
}

// P4: nor does it find a later process in the same slot.
#[test]
fn stale_number_never_finds_the_next_process_in_its_slot() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let slot_cache = SlotCache::new();
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let first = put(&table, &slot_cache, &items[0]);
        let looker = {
            let (table, items) = (Arc::clone(&table), Arc::clone(&items));
            thread::spawn(move || {
                let found = table.look_up(first, |found| found);
                assert!(found.is_none_or(|found| found == NonNull::from(&items[0])));
            })
        };
        let _ = vacate(&table, &slot_cache, first);
        let second = put(&table, &slot_cache, &items[1]);
        assert_eq!(second.index(), first.index());
        assert!(table.look_up(second, |_| ()).is_some());
        looker.join().unwrap();
    });
}

#[test]
fn writes_before_fill_are_seen_by_a_look_up() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let item = Arc::new(Item::new(0));
        let reserved = table.reserve_one().unwrap();
        let slot = reserved.slot();
        let looker = {
            let (table, item) = (Arc::clone(&table), Arc::clone(&item));
            thread::spawn(move || {
                if table.look_up(slot, |_| item.retain()).is_some() {
                    assert_eq!(item.read(), 7);
                }
            })
        };
        // SAFETY: no other thread finds the item yet; loom checks the access.
        item.content.with_mut(|content| unsafe { *content = 7 });
        fill(reserved, &item);
        looker.join().unwrap();
    });
}

#[test]
fn number_received_without_synchronization_finds_an_initialised_chunk() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let item = Arc::new(Item::new(7));
        let heard = Arc::new(AtomicU64::new(0));
        let looker = {
            let (table, item, heard) = (Arc::clone(&table), Arc::clone(&item), Arc::clone(&heard));
            thread::spawn(move || {
                // Relaxed: the slot number must not publish the chunk.
                let Some(bits) = NonZero::new(heard.load(Ordering::Relaxed)) else { return };
                if table.look_up(Slot::from_bits(bits), |_| item.retain()).is_some() {
                    assert_eq!(item.read(), 7);
                }
            })
        };
        let slot = put(&table, &SlotCache::new(), &item);
        heard.store(slot.to_bits().get(), Ordering::Relaxed);
        looker.join().unwrap();
    });
}

#[test]
fn two_threads_never_have_the_same_slot() {
    for limit in [LOW, HIGH] {
        model(move || {
            let table = Arc::new(Table::<Item>::new(limit, 2));
            let owners = Arc::new([const { std::sync::atomic::AtomicUsize::new(0) }; 4]);
            let take_and_give = |table: Arc<Table<Item>>, owners: Arc<[_; 4]>| {
                move || {
                    let slot_cache = SlotCache::new();
                    for _ in 0..2 {
                        let reserved =
                            reserve(&table, &slot_cache).expect("there is a slot for each");
                        let slot = reserved.slot();
                        let owner: &std::sync::atomic::AtomicUsize = &owners[slot.index() as usize];
                        assert_eq!(owner.swap(1, std::sync::atomic::Ordering::SeqCst), 0);
                        thread::yield_now();
                        owner.store(0, std::sync::atomic::Ordering::SeqCst);
                        let _ = vacate(&table, &slot_cache, slot);
                    }
                    hand_back_all(&table, &slot_cache);
                }
            };
            let other = thread::spawn(take_and_give(Arc::clone(&table), Arc::clone(&owners)));
            take_and_give(table, owners)();
            other.join().unwrap();
        });
    }
}

// P4: the generation is new, also if another thread had the slot before.
#[test]
fn slot_from_the_free_list_is_empty_and_has_a_new_generation() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(1, 1));
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let slot_cache = SlotCache::new();
        let first = put(&table, &slot_cache, &items[0]);
        let other = {
            let (table, items) = (Arc::clone(&table), Arc::clone(&items));
            thread::spawn(move || {
                let reserved = table.reserve_one()?;
                let second = reserved.slot();
                assert_eq!((second.index(), second.generation()), (first.index(), 1));
                assert!(table.is_empty(), "it was vacated before it came here");
                fill(reserved, &items[1]);
                let found = table.look_up(second, |found| found);
                assert_eq!(found, Some(NonNull::from(&items[1])));
                Some(second)
            })
        };
        let _ = vacate(&table, &slot_cache, first);
        let second = other.join().unwrap();
        assert!(table.look_up(first, |_| ()).is_none());
        assert_eq!(table.slots().collect::<Vec<_>>(), Vec::from_iter(second));
    });
}

#[test]
fn slots_exchanged_by_two_caches_are_neither_lost_nor_duplicated() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(2, 2));
        let (own, others) = (SlotCache::new(), SlotCache::new());
        let [a, b] = [(); 2].map(|()| reserve(&table, &own).unwrap().slot());
        let _ = vacate(&table, &own, a);
        let other = {
            let table = Arc::clone(&table);
            // The thread needs no cache, since it takes one slot.
            thread::spawn(move || table.reserve_one().map(|reserved| reserved.slot()))
        };
        let _ = vacate(&table, &own, b);
        let taken = reserve(&table, &own).map(|reserved| reserved.slot());
        let mut all: Vec<_> = [taken, other.join().unwrap()].into_iter().flatten().collect();
        hand_back_all(&table, &own);
        all.extend(std::iter::from_fn(|| reserve(&table, &others)).map(|reserved| reserved.slot()));
        all.sort_unstable();
        assert_eq!(all.iter().map(|slot| slot.index()).collect::<Vec<_>>(), [0, 1]);
        assert!(all.iter().all(|slot| slot.generation() == 1));
    });
}

/// One thread fills a slot and then reads a flag, as spawning does. Another sets the flag and then
/// walks the table, as the end of a node does. `reuses`: the slot had a process before.
///
/// Loom treats `SeqCst` accesses as acquire and release, and would report that neither thread sees
/// the other. It does order SeqCst fences totally, so fences replace the accesses here.
fn fill_against_walk(reuses: bool) {
    model(move || {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let flag = Arc::new(AtomicBool::new(false));
        let before = reuses.then(|| put(&table, &SlotCache::new(), &items[0]));
        let filler = {
            let (table, items, flag) = (Arc::clone(&table), Arc::clone(&items), Arc::clone(&flag));
            thread::spawn(move || {
                if let Some(before) = before {
                    // SAFETY: the slot is vacated once.
                    let _ = unsafe { table.vacate_one(before) };
                }
                let slot = put(&table, &SlotCache::new(), &items[1]);
                fence(Ordering::SeqCst);
                (slot, flag.load(Ordering::Acquire))
            })
        };
        flag.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let found: Vec<_> =
            table.slots().filter(|&slot| table.look_up(slot, |_| ()).is_some()).collect();
        let (slot, saw_the_flag) = filler.join().unwrap();
        assert!(saw_the_flag || found.contains(&slot), "neither saw the other");
    });
}

#[test]
fn walk_finds_the_process_or_its_spawner_sees_the_flag() {
    fill_against_walk(false);
}

#[test]
fn walk_finds_the_process_in_a_reused_slot_or_its_spawner_sees_the_flag() {
    fill_against_walk(true);
}

#[test]
fn walk_does_not_report_the_number_of_an_ended_process() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(LOW, 1));
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let first = put(&table, &SlotCache::new(), &items[0]);
        let walker = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let gone = table.look_up(first, |_| ()).is_none();
                gone && table.slots().any(|slot| slot == first)
            })
        };
        // SAFETY: the slot is vacated once.
        let _ = unsafe { table.vacate_one(first) };
        put(&table, &SlotCache::new(), &items[1]);
        assert!(!walker.join().unwrap());
    });
}
