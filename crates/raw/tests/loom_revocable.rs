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
use purlin_raw::{Revocable, revocable};

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

fn add(owner: &Revocable<Count>) -> bool {
    owner.with((), |value, ()| value.add()).is_ok()
}

fn try_to_add(owner: &Revocable<Count>) -> bool {
    owner.try_with((), |value, ()| value.add()).is_ok()
}

#[test]
fn taker_sees_every_use_and_no_use_follows_the_take() {
    model(|| {
        let (owner, revoker) = revocable(count());
        let user = thread::spawn(move || {
            let uses = (0..2).filter(|_| try_to_add(&owner) || add(&owner)).count();
            (uses, owner)
        });
        let taken = revoker.revoke(|_| true);
        let (uses, owner) = user.join().unwrap();
        match taken {
            Some(value) => {
                assert_eq!(value.0.get() as usize, uses);
                assert!(owner.with((), |_, ()| ()).is_err());
            }
            None => {
                assert_eq!(uses, 2, "it was not revoked");
                assert_eq!(revoker.revoke(|_| true).map(|value| value.0.get()), Some(2));
            }
        }
    });
}

#[test]
fn holder_sees_changes_of_a_taker_that_leaves_the_value() {
    model(|| {
        let (owner, revoker) = revocable(count());
        let user = thread::spawn(move || {
            let uses = (0..2).filter(|_| try_to_add(&owner) || add(&owner)).count();
            assert_eq!(uses, 2, "nothing was taken");
            owner
        });
        let mut visits = 0;
        let taken = revoker.revoke(|value| {
            value.add();
            visits += 1;
            false
        });
        assert!(taken.is_none());
        let owner = user.join().unwrap();
        assert_eq!(owner.with((), |value, ()| value.0.get()), Ok(2 + visits));
    });
}

#[test]
fn exactly_one_of_two_takers_gets_the_value() {
    model(|| {
        let (owner, revoker) = revocable(count());
        let revoker = Arc::new(revoker);
        let other = Arc::clone(&revoker);
        let second = thread::spawn(move || other.revoke(|_| true).is_some());
        let first = revoker.revoke(|_| true).is_some();
        assert_eq!(usize::from(first) + usize::from(second.join().unwrap()), 1);
        assert!(owner.with((), |_, ()| ()).is_err());
    });
}

// As when sysmon hands off a core: it takes the core only from a worker whose status shows a turn,
// and a worker that publishes the end of its turn before it uses its core keeps it.
#[test]
fn store_before_a_use_is_seen_by_the_taker_or_the_use_fails() {
    model(|| {
        let (owner, revoker) = revocable(count());
        let in_turn = Arc::new(AtomicUsize::new(1));
        let user = {
            let in_turn = Arc::clone(&in_turn);
            thread::spawn(move || {
                // Relaxed: only the use itself may order the store.
                in_turn.store(0, Ordering::Relaxed);
                add(&owner)
            })
        };
        let taken = revoker.revoke(|_| in_turn.load(Ordering::Relaxed) == 1).is_some();
        assert_ne!(user.join().unwrap(), taken);
    });
}

// As when the core of a stuck worker continues on a fresh thread: items put in before the hand-off
// are there, and later ones are returned to the old thread.
#[test]
fn value_handed_to_a_fresh_thread_continues_there_and_late_items_are_returned() {
    model(|| {
        let (owner, revoker) = revocable(count());
        let detached = thread::spawn(move || {
            let uses = [(); 2].map(|()| owner.with(1, |value, _| value.add()));
            uses.into_iter().filter_map(Result::err).sum::<u32>()
        });
        let fresh = revoker.revoke(|_| true).map(|core| {
            let (owner, revoker) = revocable(core);
            let worker = thread::spawn(move || owner.with((), |value, ()| value.add()));
            (worker, revoker)
        });
        let back = detached.join().unwrap();
        let (revoker, more) = match fresh {
            Some((worker, fresh)) => {
                assert_eq!(worker.join().unwrap(), Ok(()));
                (fresh, 1)
            }
            None => (revoker, 0),
        };
        let total = revoker.revoke(|_| true).expect("it is not in use").0.get() + back;
        assert_eq!(total, 2 + more);
    });
}
