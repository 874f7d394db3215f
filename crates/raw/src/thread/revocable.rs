//! Revocable value: one thread uses it with plain loads and stores, and another thread can inspect
//! it or take it away for good.
//!
//! The [`Revocable`] belongs to one thread at a time, the owner, and is used often. The [`Revoker`]
//! may be used by any thread, the revoker, and is used rarely. The revoker never waits for a use by
//! the owner: if it finds one in progress, it returns without the value.
//!
//! # Protocol
//!
//! | the owner | the revoker, which holds the lock |
//! |---|---|
//! | 1. `busy` = true | 1. `word` = `REVOKING` |
//! | 2. light fence | 2. heavy fence |
//! | 3. `word` is `OWNED`: uses the value | 3. `busy` is false: uses the value |
//! | 4. `busy` = false | 4. `word` = `REVOKED` with the value, or `OWNED` again |
//!
//! If both sides run concurrently, at least one sees the other's store (`fence`), so they never
//! both use the value. An owner that finds `REVOKING` resets `busy` and waits for the lock; by then
//! the revoker has decided. `REVOKED` is final. Without the kernel's barrier the word holds
//! `FENCED` instead of `OWNED`: the owner then executes a SeqCst fence and reads the word again.
//!
//! A use within a use is refused like a use of a value that has been taken: `f` may call code that it
//! does not know, such as a destructor that another library has deferred.
//!
//! COST: for the owner two loads and two stores; for the revoker a lock and a `membarrier`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, Ordering, UnsafeCell, fence};
use crate::thread::fence::{heavy, light, light_suffices};

/// The owner may use the value without a fence.
const OWNED: u32 = 0;
/// The owner may use the value, after a fence before each use.
const FENCED: u32 = 3;
/// A revoker is deciding whether to take the value.
const REVOKING: u32 = 1;
/// The value has been taken.
const REVOKED: u32 = 2;

/// State shared by the owner and the revoker.
// WHY separate cache lines: the owner writes here constantly.
#[repr(align(128))]
struct Shared<T> {
    /// The owner is using the value, or is checking whether it may. Written by the owner only.
    busy: AtomicBool,
    /// Written by the thread that holds `deciding`.
    word: AtomicU32,
    /// INVARIANT: `Some` unless `word` is `REVOKED`.
    value: UnsafeCell<Option<T>>,
    deciding: Mutex<()>,
}

// SAFETY: the protocol gives one thread at a time access to the value, and each release of access
// synchronizes with the next acquire, as if the value had been sent (`T: Send`). The other fields
// are atomics and a lock.
unsafe impl<T: Send> Sync for Shared<T> {}

/// Side that uses the value. `Send` but not `Sync`.
pub struct Revocable<T> {
    shared: Arc<Shared<T>>,
    one_thread: PhantomData<Cell<()>>,
}

/// Side that may take the value away.
pub struct Revoker<T> {
    shared: Arc<Shared<T>>,
}

/// Creates both sides of a revocable value.
pub fn revocable<T: Send>(value: T) -> (Revocable<T>, Revoker<T>) {
    let shared = Arc::new(Shared {
        busy: AtomicBool::new(false),
        word: AtomicU32::new(owned_state()),
        value: UnsafeCell::new(Some(value)),
        deciding: Mutex::new(()),
    });
    (Revocable { shared: Arc::clone(&shared), one_thread: PhantomData }, Revoker { shared })
}

/// Returns the word for a value that has not been taken.
fn owned_state() -> u32 {
    if light_suffices() { OWNED } else { FENCED }
}

/// Guard of a use of the value; also ends the use on unwinding.
struct UseGuard<'a>(&'a AtomicBool);

impl Drop for UseGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // ORDER: release to the acquire load of `busy` in `Revoker::revoke`: the changes to the
        // value.
        self.0.store(false, Ordering::Release);
    }
}

impl<T: Send> Revocable<T> {
    /// Calls `f` with the value and `stuff`. Returns `stuff` if the value has been taken away, or if
    /// called within a use of the value.
    #[inline]
    pub fn with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: relaxed: only this thread writes `busy`; the fence below orders the store.
        if shared.busy.load(Ordering::Relaxed) {
            return Err(stuff);
        }
        shared.busy.store(true, Ordering::Relaxed);
        light();
        // ORDER: acquire from a revoker that changed the value and left it.
        if shared.word.load(Ordering::Acquire) != OWNED && !shared.confirm_ownership() {
            return Err(stuff);
        }
        // SAFETY: `busy` was false, was then set, and `word` was read as the owner's after the
        // fence.
        Ok(unsafe { shared.use_it(stuff, f) })
    }

    /// [`Revocable::with`] without the slow path: if a revoker is active or a fence is needed,
    /// returns `stuff` and leaves the question open.
    ///
    /// WHY: it calls only `f`, so a caller that ends with this call saves no registers.
    #[inline(always)]
    pub fn try_with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: as in `with`, except for the store below.
        if shared.busy.load(Ordering::Relaxed) {
            return Err(stuff);
        }
        shared.busy.store(true, Ordering::Relaxed);
        light();
        if shared.word.load(Ordering::Acquire) != OWNED {
            // ORDER: release of earlier uses of the value: a revoker may read this store instead of
            // theirs.
            shared.busy.store(false, Ordering::Release);
            return Err(stuff);
        }
        // SAFETY: as in `with`.
        Ok(unsafe { shared.use_it(stuff, f) })
    }
}

impl<T> Shared<T> {
    fn lock_decision(&self) -> MutexGuard<'_, ()> {
        // WHY ignore poisoning: the lock guards no data, and a revoker that panics restores the
        // word.
        self.deciding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the value.
    ///
    /// # Safety
    /// The caller is the owner, has set `busy`, has since read the word as the owner's, and has
    /// no reference to the value.
    #[inline(always)]
    unsafe fn use_it<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> R {
        let _busy = UseGuard(&self.busy);
        self.value.with(|value| {
            // SAFETY: no revoker accesses the value until `_busy` is dropped. It is `Some`, as the
            // word is not `REVOKED`.
            let value = unsafe { (*value).as_ref().unwrap_unchecked() };
            f(value, stuff)
        })
    }

    /// Slow path of the owner, which has set `busy` and has not read `OWNED`. Returns `true` with
    /// `busy` still set if the value has not been taken, otherwise `false` with `busy` reset.
    #[cold]
    fn confirm_ownership(&self) -> bool {
        loop {
            // ORDER: pairs with the revoker's heavy fence if the kernel's barrier is not in use.
            fence(Ordering::SeqCst);
            // ORDER: as in `with`.
            let word = self.word.load(Ordering::Acquire);
            if word == OWNED || word == FENCED {
                return true;
            }
            // ORDER: relaxed: the value has not been used since the fence above. The fence followed
            // by this store releases earlier uses.
            self.busy.store(false, Ordering::Relaxed);
            if word == REVOKED {
                return false;
            }
            // Blocks until the revoker has decided.
            drop(self.lock_decision());
            self.busy.store(true, Ordering::Relaxed);
        }
    }
}

/// Guard that restores the word to the owner unless the value was taken; also on unwinding.
struct RevokeGuard<'a> {
    word: &'a AtomicU32,
    leave: u32,
}

impl Drop for RevokeGuard<'_> {
    fn drop(&mut self) {
        // ORDER: release to the acquire load in `Revocable::with`: the revoker's changes to the
        // value.
        self.word.store(self.leave, Ordering::Release);
    }
}

impl<T: Send> Revoker<T> {
    /// Calls `f` with the value, unless the owner is using it or it has been taken. `f` may change
    /// the value and returns whether to take it.
    ///
    /// `f` must be short: the owner waits for it.
    pub fn revoke(&self, f: impl FnOnce(&mut T) -> bool) -> Option<T> {
        let _deciding = self.shared.lock_decision();
        let word = &self.shared.word;
        if word.load(Ordering::Relaxed) == REVOKED {
            return None;
        }
        word.store(REVOKING, Ordering::Relaxed);
        let mut guard = RevokeGuard { word, leave: owned_state() };
        heavy();
        // ORDER: acquire from the owner's last use.
        if self.shared.busy.load(Ordering::Acquire) {
            return None;
        }
        let taken = self.shared.value.with_mut(|value| {
            // SAFETY: the owner was not using the value, and a use that begins after the fence
            // reads `REVOKING` and waits. Other revokers wait for the lock. The word was not
            // `REVOKED`.
            let value = unsafe { &mut *value };
            if value.as_mut().is_some_and(f) { value.take() } else { None }
        });
        if taken.is_some() {
            guard.leave = REVOKED;
        }
        taken
    }
}

impl<T> std::fmt::Debug for Revocable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Revocable")
    }
}

impl<T> std::fmt::Debug for Revoker<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Revoker")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::revocable;

    #[test]
    fn taken_value_is_gone_and_later_items_are_returned() {
        let (owner, revoker) = revocable(Cell::new(1));
        assert_eq!(owner.with(2, |value, more| value.replace(more)), Ok(1));
        assert!(revoker.revoke(|_| false).is_none());
        assert_eq!(owner.with(3, |value, more| value.replace(more)), Ok(2));
        assert_eq!(revoker.revoke(|value| *value.get_mut() == 3).map(Cell::into_inner), Some(3));
        assert_eq!(owner.with("value", |_, _| ()), Err("value"));
        assert!(revoker.revoke(|_| true).is_none());
    }

    #[test]
    fn value_is_not_taken_during_a_use() {
        let (owner, revoker) = revocable(Cell::new(1));
        let used = owner.with((), |value, ()| {
            assert!(revoker.revoke(|_| true).is_none());
            value.get()
        });
        assert_eq!(used, Ok(1));
        assert!(revoker.revoke(|_| true).is_some());
    }

    #[test]
    fn nested_use_is_refused() {
        let (owner, revoker) = revocable(Cell::new(1));
        let nested = owner.with((), |_, ()| {
            assert_eq!(owner.with("one", |_, _| ()), Err("one"));
            assert_eq!(owner.try_with("two", |_, _| ()), Err("two"));
            assert!(revoker.revoke(|_| true).is_none());
        });
        assert_eq!(nested, Ok(()));
        assert_eq!(owner.with((), |value, ()| value.get()), Ok(1));
    }

    #[test]
    fn panic_on_either_side_leaves_the_value_usable() {
        let (owner, revoker) = revocable(Cell::new(1));
        let caught = std::panic::AssertUnwindSafe(|| {
            let _ = owner.with((), |_, ()| std::panic::resume_unwind(Box::new(())));
        });
        assert!(std::panic::catch_unwind(caught).is_err());
        let caught = std::panic::AssertUnwindSafe(|| {
            revoker.revoke(|_| std::panic::resume_unwind(Box::new(())));
        });
        assert!(std::panic::catch_unwind(caught).is_err());
        assert_eq!(owner.with((), |value, ()| value.get()), Ok(1));
        assert!(revoker.revoke(|_| true).is_some());
    }

    // The taken value includes every successful use, and no use succeeds afterwards.
    #[test]
    fn taker_sees_every_earlier_use() {
        for _ in 0..20 {
            let (owner, revoker) = revocable(Cell::new(0u64));
            let user = std::thread::spawn(move || {
                let mut uses = 0;
                while owner.with((), |value, ()| value.set(value.get() + 1)).is_ok() {
                    uses += 1;
                }
                uses
            });
            let taken = loop {
                if let Some(taken) = revoker.revoke(|value| *value.get_mut() > 100) {
                    break taken.into_inner();
                }
                std::hint::spin_loop();
            };
            assert_eq!(user.join().expect("it only counts"), taken);
        }
    }
}
