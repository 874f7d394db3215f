//! Models of the process table.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use purlin_raw::model::Table;

/// Stands for a process: a count of references, and content that the last one frees.
struct Item {
    refs: AtomicUsize,
    content: UnsafeCell<u32>,
}

impl Item {
    fn new(content: u32) -> Self {
        Self { refs: AtomicUsize::new(1), content: UnsafeCell::new(content) }
    }

    fn retain(&self) {
        self.refs.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives up a reference; the last one "frees", which loom sees as a write.
    fn release(&self) {
        if self.refs.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: nobody holds a reference; loom checks it.
            self.content.with_mut(|content| unsafe { *content = 0 });
        }
    }

    fn read(&self) -> u32 {
        // SAFETY: the caller holds a reference; loom checks it.
        self.content.with(|content| unsafe { *content })
    }
}

fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

#[test]
fn a_look_up_finds_a_live_process_or_nothing_while_it_ends() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(4, 1));
        let item = Arc::new(Item::new(7));
        let slot = table.reserve(0).unwrap();
        table.fill(slot, NonNull::from(&*item));
        let looker = {
            let table = Arc::clone(&table);
            let item = Arc::clone(&item);
            thread::spawn(move || {
                let found = table.look_up(slot, |found| {
                    assert_eq!(found, NonNull::from(&*item));
                    item.retain();
                });
                if found.is_some() {
                    assert_eq!(item.read(), 7, "a process that was found is not freed");
                    item.release();
                }
            })
        };
        assert_eq!(table.vacate(0, slot), Some(NonNull::from(&*item)));
        item.release();
        looker.join().unwrap();
    });
}

#[test]
fn a_stale_number_never_finds_the_next_process_in_its_slot() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(1, 1));
        let items = Arc::new([Item::new(1), Item::new(2)]);
        let first = table.reserve(0).unwrap();
        table.fill(first, NonNull::from(&items[0]));
        let looker = {
            let table = Arc::clone(&table);
            let items = Arc::clone(&items);
            thread::spawn(move || {
                let found = table.look_up(first, |found| found);
                assert!(found.is_none_or(|found| found == NonNull::from(&items[0])));
            })
        };
        table.vacate(0, first);
        let second = table.reserve(0).unwrap();
        assert_eq!(second.index, first.index);
        table.fill(second, NonNull::from(&items[1]));
        assert!(table.look_up(second, |_| ()).is_some());
        looker.join().unwrap();
        table.vacate(0, second);
    });
}

#[test]
fn what_was_written_before_a_slot_was_filled_is_seen_by_a_look_up() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(1, 1));
        let item = Arc::new(Item::new(0));
        let slot = table.reserve(0).unwrap();
        let looker = {
            let table = Arc::clone(&table);
            let item = Arc::clone(&item);
            thread::spawn(move || {
                if table.look_up(slot, |_| item.retain()).is_some() {
                    assert_eq!(item.read(), 7);
                }
            })
        };
        // SAFETY: nobody finds the item yet; loom checks it.
        item.content.with_mut(|content| unsafe { *content = 7 });
        table.fill(slot, NonNull::from(&*item));
        looker.join().unwrap();
    });
}

#[test]
fn two_threads_never_reserve_the_same_slot() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(3, 1));
        // Two slots hang in the free list, so that the threads meet there and at its end.
        let (a, b) = (table.reserve(0).unwrap(), table.reserve(0).unwrap());
        table.vacate(0, a);
        table.vacate(0, b);
        let owners = Arc::new([const { std::sync::atomic::AtomicUsize::new(0) }; 3]);
        let take_and_give =
            |table: Arc<Table<Item>>, owners: Arc<[std::sync::atomic::AtomicUsize; 3]>| {
                move || {
                    for _ in 0..2 {
                        let slot = table.reserve(0).expect("there is a slot for each thread");
                        let owner = &owners[slot.index as usize];
                        assert_eq!(owner.swap(1, std::sync::atomic::Ordering::SeqCst), 0);
                        thread::yield_now();
                        owner.store(0, std::sync::atomic::Ordering::SeqCst);
                        table.vacate(0, slot);
                    }
                }
            };
        let other = thread::spawn(take_and_give(Arc::clone(&table), Arc::clone(&owners)));
        take_and_give(table, owners)();
        other.join().unwrap();
    });
}

#[test]
fn whoever_takes_a_vacant_slot_sees_its_generation_and_what_hangs_behind_it() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(2, 1));
        let (a, b) = (table.reserve(0).unwrap(), table.reserve(0).unwrap());
        let taker = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let Some(first) = table.reserve(0) else { return };
                assert_eq!(first.generation, 1, "P4: the number is new");
                if first.index == b.index {
                    let second = table.reserve(0).expect("the other hangs behind it");
                    assert_eq!((second.index, second.generation), (a.index, 1));
                }
            })
        };
        table.vacate(0, a);
        table.vacate(0, b);
        taker.join().unwrap();
    });
}

#[test]
fn a_worker_that_takes_over_the_slots_of_another_loses_none_and_doubles_none() {
    model(|| {
        let table = Arc::new(Table::<Item>::new(2, 2));
        let (a, b) = (table.reserve(0).unwrap(), table.reserve(0).unwrap());
        table.vacate(0, a);
        let other = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.reserve(1))
        };
        table.vacate(0, b);
        let own = table.reserve(0);
        let taken: Vec<_> = [own, other.join().unwrap()].into_iter().flatten().collect();
        let rest: Vec<_> = std::iter::from_fn(|| table.reserve(0)).collect();
        let mut all: Vec<_> = taken.iter().chain(&rest).map(|slot| slot.index).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
        assert!(taken.iter().chain(&rest).all(|slot| slot.generation == 1));
    });
}
