//! Models of a value that is used by one thread and taken away by another.
//!
//! The value is a cell whose accesses loom checks, so that two who use it at the same time, or one
//! who does not see what the other did, are found.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use loom::cell::Cell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use purlin_raw::model::{self, has_barrier};
use purlin_raw::{Holder, biased};

/// With a kernel that has a barrier, and with one that has none.
fn model(f: impl Fn() + Clone + Sync + Send + 'static) {
    for it_has in [true, false] {
        has_barrier(it_has);
        model::model(f.clone());
    }
}

/// A count that may be used by one thread at a time.
struct Count(Cell<u32>);

// SAFETY: only who holds the value uses it, which is what the models check.
unsafe impl Send for Count {}

fn count() -> Count {
    Count(Cell::new(0))
}

impl Count {
    fn add(&self) {
        self.0.set(self.0.get() + 1);
    }
}

fn add(holder: &Holder<Count>) -> bool {
    holder.with((), |value, ()| value.add()).is_ok()
}

fn try_to_add(holder: &Holder<Count>) -> bool {
    holder.try_with((), |value, ()| value.add()).is_ok()
}

#[test]
fn a_taker_sees_every_use_and_none_comes_after() {
    model(|| {
        let (holder, taker) = biased(count());
        let user = thread::spawn(move || {
            let uses = (0..2).filter(|_| try_to_add(&holder) || add(&holder)).count();
            (uses, holder)
        });
        let taken = taker.take(|_| true);
        let (uses, holder) = user.join().unwrap();
        match taken {
            Some(value) => {
                assert_eq!(value.0.get() as usize, uses);
                assert!(holder.with((), |_, ()| ()).is_err());
            }
            None => {
                assert_eq!(uses, 2, "nobody took it");
                assert_eq!(taker.take(|_| true).map(|value| value.0.get()), Some(2));
            }
        }
    });
}

#[test]
fn what_a_taker_changes_and_leaves_is_seen_by_the_holder() {
    model(|| {
        let (holder, taker) = biased(count());
        let user = thread::spawn(move || {
            let uses = (0..2).filter(|_| try_to_add(&holder) || add(&holder)).count();
            assert_eq!(uses, 2, "nothing was taken");
            holder
        });
        let mut visits = 0;
        let taken = taker.take(|value| {
            value.add();
            visits += 1;
            false
        });
        assert!(taken.is_none());
        let holder = user.join().unwrap();
        assert_eq!(holder.with((), |value, ()| value.0.get()), Ok(2 + visits));
    });
}

#[test]
fn of_two_takers_one_gets_it() {
    model(|| {
        let (holder, taker) = biased(count());
        let taker = Arc::new(taker);
        let other = Arc::clone(&taker);
        let second = thread::spawn(move || other.take(|_| true).is_some());
        let first = taker.take(|_| true).is_some();
        assert_eq!(usize::from(first) + usize::from(second.join().unwrap()), 1);
        assert!(holder.with((), |_, ()| ()).is_err());
    });
}

// As the monitor relieves a worker: it takes the post only from a thread that shows a turn, and a
// thread that shows the end of one before it uses its post keeps it.
#[test]
fn what_a_holder_shows_before_a_use_is_seen_by_a_taker_or_the_use_finds_the_value_gone() {
    model(|| {
        let (holder, taker) = biased(count());
        let in_turn = Arc::new(AtomicUsize::new(1));
        let user = {
            let in_turn = Arc::clone(&in_turn);
            thread::spawn(move || {
                // Relaxed: the use alone must carry it.
                in_turn.store(0, Ordering::Relaxed);
                add(&holder)
            })
        };
        let taken = taker.take(|_| in_turn.load(Ordering::Relaxed) == 1).is_some();
        assert_ne!(user.join().unwrap(), taken);
    });
}

// As a relieved thread's post goes on with a fresh one: what the first put in is there, what came
// too late comes back to it.
#[test]
fn a_value_that_is_given_to_a_fresh_thread_goes_on_there_and_goods_come_back() {
    model(|| {
        let (holder, taker) = biased(count());
        let relieved = thread::spawn(move || {
            let goods = [(); 2].map(|()| holder.with(1, |value, _| value.add()));
            goods.into_iter().filter_map(Result::err).sum::<u32>()
        });
        let fresh = taker.take(|_| true).map(|post| {
            let (holder, taker) = biased(post);
            let worker = thread::spawn(move || holder.with((), |value, ()| value.add()));
            (worker, taker)
        });
        let back = relieved.join().unwrap();
        let (taker, more) = match fresh {
            Some((worker, fresh)) => {
                assert_eq!(worker.join().unwrap(), Ok(()));
                (fresh, 1)
            }
            None => (taker, 0),
        };
        let total = taker.take(|_| true).expect("nobody uses it").0.get() + back;
        assert_eq!(total, 2 + more);
    });
}
