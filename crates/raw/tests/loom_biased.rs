//! Models of a value that is used by one thread and taken away by another.
//!
//! The value is a cell whose accesses loom checks, so that two who use it at the same time, or one
//! who does not see what the other did, are found.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread;
use purlin_raw::biased;

fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
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

#[test]
fn a_taker_sees_every_use_and_none_comes_after() {
    model(|| {
        let (holder, taker) = biased(count());
        let user = thread::spawn(move || {
            let uses = (0..2).filter(|_| holder.with((), |value, ()| value.add()).is_ok()).count();
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
            let uses = (0..2).filter(|_| holder.with((), |value, ()| value.add()).is_ok()).count();
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
