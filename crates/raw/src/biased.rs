//! Revocable value: one thread uses it with plain loads and stores, and another thread can inspect
//! it or take it away for good.
//!
//! The [`Holder`] belongs to one thread at a time and is used often. The [`Taker`] may be used by
//! any thread and is used rarely. The taker never waits for a use by the holder: if it finds one in
//! progress, it returns without the value.
//!
//! # Protocol
//!
//! | the holder | the taker, which holds the lock |
//! |---|---|
//! | 1. `busy` = true | 1. `word` = `ASKED` |
//! | 2. light fence | 2. heavy fence |
//! | 3. `word` is `MINE`: uses the value | 3. `busy` is false: uses the value |
//! | 4. `busy` = false | 4. `word` = `GONE` with the value, or `MINE` again |
//!
//! If both sides run concurrently, at least one sees the other's store (`fence`), so they never
//! both use the value. A holder that finds `ASKED` resets `busy` and waits for the lock; by then
//! the taker has decided. `GONE` is final. Without the kernel's barrier the word holds `FENCED`
//! instead of `MINE`: the holder then executes a SeqCst fence and reads the word again.
//!
//! COST: for the holder two loads and two stores; for the taker a lock and a `membarrier`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

use crate::fence::Fence;
use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, Ordering, UnsafeCell, fence};

/// The holder owns the value and needs no fence.
const MINE: u32 = 0;
/// The holder owns the value and must execute a fence before each use.
const FENCED: u32 = 3;
/// A taker is deciding whether to take the value.
const ASKED: u32 = 1;
/// The value has been taken.
const GONE: u32 = 2;

// WHY separate cache lines: the holder writes here constantly.
#[repr(align(128))]
struct Shared<T> {
    /// The holder is using the value, or is checking whether it may. Written by the holder only.
    busy: AtomicBool,
    /// Written by the thread that holds `deciding`.
    word: AtomicU32,
    fence: Fence,
    /// INVARIANT: `Some` unless `word` is `GONE`.
    value: UnsafeCell<Option<T>>,
    deciding: Mutex<()>,
}

// SAFETY: the protocol gives one thread at a time access to the value, and each release of access
// synchronizes with the next acquire, as if the value had been sent (`T: Send`). The other fields
// are atomics and a lock.
unsafe impl<T: Send> Sync for Shared<T> {}

/// Side that uses the value. `Send` but not `Sync`.
pub struct Holder<T> {
    shared: Arc<Shared<T>>,
    one_thread: PhantomData<Cell<()>>,
}

/// Side that may take the value away.
pub struct Taker<T> {
    shared: Arc<Shared<T>>,
}

/// Creates both sides of a revocable value.
pub fn biased<T: Send>(value: T) -> (Holder<T>, Taker<T>) {
    let fence = Fence::settled();
    let shared = Arc::new(Shared {
        busy: AtomicBool::new(false),
        word: AtomicU32::new(unasked(fence)),
        fence,
        value: UnsafeCell::new(Some(value)),
        deciding: Mutex::new(()),
    });
    (Holder { shared: Arc::clone(&shared), one_thread: PhantomData }, Taker { shared })
}

/// Returns the word for a value owned by the holder.
fn unasked(fence: Fence) -> u32 {
    if fence.is_free() { MINE } else { FENCED }
}

/// Guard of a use of the value; also ends the use on unwinding.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // ORDER: release to the acquire load of `busy` in `Taker::take`: the changes to the value.
        self.0.store(false, Ordering::Release);
    }
}

impl<T: Send> Holder<T> {
    /// Calls `f` with the value and `stuff`. Returns `stuff` if the value has been taken away.
    ///
    /// # Panics
    /// Panics if called within `f`.
    #[inline]
    pub fn with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: relaxed: only this thread writes `busy`; the fence below orders the store.
        if shared.busy.load(Ordering::Relaxed) {
            used_within_its_use();
        }
        shared.busy.store(true, Ordering::Relaxed);
        Fence::light();
        // ORDER: acquire from a taker that changed the value and left it.
        if shared.word.load(Ordering::Acquire) != MINE && !shared.is_mine_after_all() {
            return Err(stuff);
        }
        // SAFETY: `busy` was false, was then set, and `word` was read as the holder's after the
        // fence.
        Ok(unsafe { shared.use_it(stuff, f) })
    }

    /// [`Holder::with`] without the slow path: if a taker is active or a fence is needed, returns
    /// `stuff` and leaves the question open.
    ///
    /// WHY: it calls only `f`, so a caller that ends with this call saves no registers.
    ///
    /// # Panics
    /// Panics if called within `f`.
    #[inline(always)]
    pub fn try_with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: as in `with`, except for the store below.
        if shared.busy.load(Ordering::Relaxed) {
            used_within_its_use();
        }
        shared.busy.store(true, Ordering::Relaxed);
        Fence::light();
        if shared.word.load(Ordering::Acquire) != MINE {
            // ORDER: release of earlier uses of the value: a taker may read this store instead of
            // theirs.
            shared.busy.store(false, Ordering::Release);
            return Err(stuff);
        }
        // SAFETY: as in `with`.
        Ok(unsafe { shared.use_it(stuff, f) })
    }
}

#[cold]
fn used_within_its_use() -> ! {
    panic!("a value that may be taken away was used within its own use")
}

impl<T> Shared<T> {
    fn decide(&self) -> MutexGuard<'_, ()> {
        // WHY ignore poisoning: the lock guards no data, and a taker that panics restores the word.
        self.deciding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the value.
    ///
    /// # Safety
    /// The caller is the holder, has set `busy`, has since read the word as the holder's, and has
    /// no reference to the value.
    #[inline(always)]
    unsafe fn use_it<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> R {
        let _busy = Busy(&self.busy);
        self.value.with(|value| {
            // SAFETY: no taker accesses the value until `_busy` is dropped. It is `Some`, as the
            // word is not `GONE`.
            let value = unsafe { (*value).as_ref().unwrap_unchecked() };
            f(value, stuff)
        })
    }

    /// Slow path of the holder, which has set `busy` and has not read `MINE`. Returns `true` with
    /// `busy` still set if the holder owns the value, otherwise `false` with `busy` reset.
    #[cold]
    fn is_mine_after_all(&self) -> bool {
        loop {
            // ORDER: pairs with the taker's heavy fence if the kernel's barrier is not in use.
            fence(Ordering::SeqCst);
            // ORDER: as in `with`.
            let word = self.word.load(Ordering::Acquire);
            if word == MINE || word == FENCED {
                return true;
            }
            // ORDER: relaxed: the value has not been used since the fence above. The fence followed
            // by this store releases earlier uses.
            self.busy.store(false, Ordering::Relaxed);
            if word == GONE {
                return false;
            }
            // Blocks until the taker has decided.
            drop(self.decide());
            self.busy.store(true, Ordering::Relaxed);
        }
    }
}

/// Guard that restores the word to the holder unless the value was taken; also on unwinding.
struct Asked<'a> {
    word: &'a AtomicU32,
    leave: u32,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // ORDER: release to the acquire load in `Holder::with`: the taker's changes to the value.
        self.word.store(self.leave, Ordering::Release);
    }
}

impl<T: Send> Taker<T> {
    /// Calls `f` with the value, unless the holder is using it or it has been taken. `f` may change
    /// the value and returns whether to take it.
    ///
    /// `f` must be short: the holder waits for it.
    pub fn take(&self, f: impl FnOnce(&mut T) -> bool) -> Option<T> {
        let _deciding = self.shared.decide();
        let word = &self.shared.word;
        if word.load(Ordering::Relaxed) == GONE {
            return None;
        }
        word.store(ASKED, Ordering::Relaxed);
        let mut asked = Asked { word, leave: unasked(self.shared.fence) };
        self.shared.fence.heavy();
        // ORDER: acquire from the holder's last use.
        if self.shared.busy.load(Ordering::Acquire) {
            return None;
        }
        let taken = self.shared.value.with_mut(|value| {
            // SAFETY: the holder was not using the value, and a use that begins after the fence
            // reads `ASKED` and waits. Other takers wait for the lock. The word was not `GONE`.
            let value = unsafe { &mut *value };
            if value.as_mut().is_some_and(f) { value.take() } else { None }
        });
        if taken.is_some() {
            asked.leave = GONE;
        }
        taken
    }
}

impl<T> std::fmt::Debug for Holder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Holder")
    }
}

impl<T> std::fmt::Debug for Taker<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Taker")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::biased;

    #[test]
    fn taken_value_is_gone_and_later_items_are_returned() {
        let (holder, taker) = biased(Cell::new(1));
        assert_eq!(holder.with(2, |value, more| value.replace(more)), Ok(1));
        assert!(taker.take(|_| false).is_none());
        assert_eq!(holder.with(3, |value, more| value.replace(more)), Ok(2));
        assert_eq!(taker.take(|value| *value.get_mut() == 3).map(Cell::into_inner), Some(3));
        assert_eq!(holder.with("goods", |_, _| ()), Err("goods"));
        assert!(taker.take(|_| true).is_none());
    }

    #[test]
    fn value_is_not_taken_during_a_use() {
        let (holder, taker) = biased(Cell::new(1));
        let used = holder.with((), |value, ()| {
            assert!(taker.take(|_| true).is_none());
            value.get()
        });
        assert_eq!(used, Ok(1));
        assert!(taker.take(|_| true).is_some());
    }

    #[test]
    #[should_panic(expected = "within its own use")]
    fn nested_use_panics() {
        let (holder, _taker) = biased(Cell::new(1));
        let _ = holder.with((), |_, ()| holder.with((), |value, ()| value.get()));
    }

    #[test]
    fn panic_on_either_side_leaves_the_value_usable() {
        let (holder, taker) = biased(Cell::new(1));
        let caught = std::panic::AssertUnwindSafe(|| {
            let _ = holder.with((), |_, ()| std::panic::resume_unwind(Box::new(())));
        });
        assert!(std::panic::catch_unwind(caught).is_err());
        let caught = std::panic::AssertUnwindSafe(|| {
            taker.take(|_| std::panic::resume_unwind(Box::new(())));
        });
        assert!(std::panic::catch_unwind(caught).is_err());
        assert_eq!(holder.with((), |value, ()| value.get()), Ok(1));
        assert!(taker.take(|_| true).is_some());
    }

    // The taken value includes every successful use, and no use succeeds afterwards.
    #[test]
    fn taker_sees_every_earlier_use() {
        for _ in 0..20 {
            let (holder, taker) = biased(Cell::new(0u64));
            let user = std::thread::spawn(move || {
                let mut uses = 0;
                while holder.with((), |value, ()| value.set(value.get() + 1)).is_ok() {
                    uses += 1;
                }
                uses
            });
            let taken = loop {
                if let Some(taken) = taker.take(|value| *value.get_mut() > 100) {
                    break taken.into_inner();
                }
                std::hint::spin_loop();
            };
            assert_eq!(user.join().expect("it only counts"), taken);
        }
    }
}
