//! Models of a revocable value that one thread uses and another takes away.
//!
//! The value is a cell whose accesses loom checks. A concurrent use, or a use that misses earlier
//! writes, fails the model.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use loom::cell::Cell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use purlin_raw::model::{self, has_barrier};
use purlin_raw::{Holder, biased};

/// Runs a model with a kernel that has the barrier, and with one that does not.
fn model(f: impl Fn() + Clone + Sync + Send + 'static) {
    for it_has in [true, false] {
        has_barrier(it_has);
        model::model(f.clone());
    }
}

/// Counter that one thread may use at a time.
struct Count(Cell<u32>);

// SAFETY: only the thread that holds the value uses it, which the models check.
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
fn taker_sees_every_use_and_no_use_follows_the_take() {
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
fn holder_sees_changes_of_a_taker_that_leaves_the_value() {
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
fn exactly_one_of_two_takers_gets_the_value() {
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

// As when sysmon hands off a core: it takes the core only from a worker whose status shows a turn,
// and a worker that publishes the end of its turn before it uses its core keeps it.
#[test]
fn store_before_a_use_is_seen_by_the_taker_or_the_use_fails() {
    model(|| {
        let (holder, taker) = biased(count());
        let in_turn = Arc::new(AtomicUsize::new(1));
        let user = {
            let in_turn = Arc::clone(&in_turn);
            thread::spawn(move || {
                // Relaxed: only the use itself may order the store.
                in_turn.store(0, Ordering::Relaxed);
                add(&holder)
            })
        };
        let taken = taker.take(|_| in_turn.load(Ordering::Relaxed) == 1).is_some();
        assert_ne!(user.join().unwrap(), taken);
    });
}

// As when the core of a stuck worker continues on a fresh thread: items put in before the hand-off
// are there, and later ones are returned to the old thread.
#[test]
fn value_handed_to_a_fresh_thread_continues_there_and_late_items_are_returned() {
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
