//! A value that one thread uses at the cost of plain loads and stores, and that another thread can
//! look into or take away for good.
//!
//! The [`Holder`] is one thread's at a time and is for use all the time; the [`Taker`] may be used
//! by any thread and is for emergencies. Neither ever waits for what the holder is doing: the taker
//! that finds the holder at it goes away again.
//!
//! # Protocol
//!
//! | the holder | the taker, who holds the lock |
//! |---|---|
//! | 1. `busy` = true | 1. `word` = `ASKED` |
//! | 2. light barrier | 2. heavy barrier |
//! | 3. `word` is `MINE`: uses the value | 3. `busy` is false: uses the value |
//! | 4. `busy` = false | 4. `word` = `GONE` with the value, or `MINE` again |
//!
//! Of two that come at the same time one at least sees the other (`fence`), so never both use the
//! value. A holder that finds `ASKED` sets `busy` back and waits for the lock: then the taker has
//! made up its mind. `GONE` is final. Where the kernel has no barrier to offer, `FENCED` stands for
//! `MINE`: the holder then passes a fence and looks again.
//!
//! COST: for the holder two loads and two stores; for the taker a lock and a `membarrier`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

use crate::fence::Fence;
use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, Ordering, UnsafeCell, fence};

/// The value is the holder's, who need not pass a fence.
const MINE: u32 = 0;
/// The value is the holder's, who has to pass a fence first.
const FENCED: u32 = 3;
/// A taker is making up its mind.
const ASKED: u32 = 1;
/// The value has been taken.
const GONE: u32 = 2;

// WHY lines of its own: the holder writes here all the time.
#[repr(align(128))]
struct Shared<T> {
    /// The holder is using the value, or about to find out that it may not. Only the holder writes.
    busy: AtomicBool,
    /// Written by whoever holds `deciding`.
    word: AtomicU32,
    fence: Fence,
    /// INVARIANT: there is a value unless `word` is `GONE`.
    value: UnsafeCell<Option<T>>,
    deciding: Mutex<()>,
}

// SAFETY: the protocol lets one thread at a time reach the value, and passes it on with a release
// and an acquire, as if it had been sent; the rest are atomics and a lock.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The side that uses the value. It may be sent to another thread but not shared.
pub struct Holder<T> {
    shared: Arc<Shared<T>>,
    one_thread: PhantomData<Cell<()>>,
}

/// The side that may take the value away.
pub struct Taker<T> {
    shared: Arc<Shared<T>>,
}

/// Puts a value under both sides.
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

/// How the word says that the value is the holder's.
fn unasked(fence: Fence) -> u32 {
    if fence.is_free() { MINE } else { FENCED }
}

/// Ends a use of the value, also when it unwinds.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // ORDER: release of what was done to the value, to the acquire in `Taker::take`.
        self.0.store(false, Ordering::Release);
    }
}

impl<T: Send> Holder<T> {
    /// Uses the value together with `stuff`, which comes back if the value has been taken away.
    ///
    /// # Panics
    /// Within `f`: it is a use already.
    #[inline]
    pub fn with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: relaxed: this thread alone writes it; the barrier that follows orders the store.
        if shared.busy.load(Ordering::Relaxed) {
            used_within_its_use();
        }
        shared.busy.store(true, Ordering::Relaxed);
        Fence::light();
        // ORDER: acquire from a taker that changed the value and left it here.
        if shared.word.load(Ordering::Acquire) != MINE && !shared.is_mine_after_all() {
            return Err(stuff);
        }
        // SAFETY: `busy` was set before `word` was seen to be the holder's, and it was not set before.
        Ok(unsafe { shared.use_it(stuff, f) })
    }

    /// [`Holder::with`] unless a taker has come, or a fence has to be passed: then `stuff` comes back
    /// and nothing is decided.
    ///
    /// WHY: it calls nothing but `f`, so that who calls it last of all saves no registers.
    ///
    /// # Panics
    /// As `with`.
    #[inline(always)]
    pub fn try_with<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> Result<R, S> {
        let shared = &*self.shared;
        // ORDER: all as in `with`.
        if shared.busy.load(Ordering::Relaxed) {
            used_within_its_use();
        }
        shared.busy.store(true, Ordering::Relaxed);
        Fence::light();
        if shared.word.load(Ordering::Acquire) != MINE {
            // ORDER: release of what earlier uses did to the value: a taker may see this store only.
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
        // WHY: it guards no data of its own; a taker that panics puts the word back.
        self.deciding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the value.
    ///
    /// # Safety
    /// The holder, which is `busy`, has seen the word to be its own since it set that, and has no
    /// reference to the value.
    #[inline(always)]
    unsafe fn use_it<S, R>(&self, stuff: S, f: impl FnOnce(&T, S) -> R) -> R {
        let _busy = Busy(&self.busy);
        self.value.with(|value| {
            // SAFETY: no taker gets at the value until `_busy` is dropped. There is one, as the word is
            // not `GONE`.
            let value = unsafe { (*value).as_ref().unwrap_unchecked() };
            f(value, stuff)
        })
    }

    /// The holder, which is `busy`, has not found `MINE`: `true`, and still busy, if the value is its
    /// own all the same; else it is not busy any more.
    #[cold]
    fn is_mine_after_all(&self) -> bool {
        loop {
            // ORDER: the partner of the taker's barrier, where the kernel's is not in use.
            fence(Ordering::SeqCst);
            // ORDER: as in `with`.
            let word = self.word.load(Ordering::Acquire);
            if word == MINE || word == FENCED {
                return true;
            }
            // ORDER: relaxed: the value has not been used since the fence above, which releases what
            // was done to it before.
            self.busy.store(false, Ordering::Relaxed);
            if word == GONE {
                return false;
            }
            // Waits until the taker has decided.
            drop(self.decide());
            self.busy.store(true, Ordering::Relaxed);
        }
    }
}

/// Gives the holder its word back unless the value was taken, also when it unwinds.
struct Asked<'a> {
    word: &'a AtomicU32,
    leave: u32,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // ORDER: release of what the taker did to the value, to the acquire in `Holder::with`.
        self.word.store(self.leave, Ordering::Release);
    }
}

impl<T: Send> Taker<T> {
    /// Shows `f` the value, unless the holder is using it just now or it has been taken. `f` may
    /// change it, and says whether to take it.
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
            // SAFETY: the holder was not using the value, and any use that begins after the barrier
            // finds `ASKED` and waits; other takers wait for the lock. The value was not `GONE`.
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
    fn what_was_taken_is_gone_for_good_and_the_goods_come_back() {
        let (holder, taker) = biased(Cell::new(1));
        assert_eq!(holder.with(2, |value, more| value.replace(more)), Ok(1));
        assert!(taker.take(|_| false).is_none());
        assert_eq!(holder.with(3, |value, more| value.replace(more)), Ok(2));
        assert_eq!(taker.take(|value| *value.get_mut() == 3).map(Cell::into_inner), Some(3));
        assert_eq!(holder.with("goods", |_, _| ()), Err("goods"));
        assert!(taker.take(|_| true).is_none());
    }

    #[test]
    fn nobody_takes_it_from_under_a_use() {
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
    fn a_use_within_a_use_is_refused() {
        let (holder, _taker) = biased(Cell::new(1));
        let _ = holder.with((), |_, ()| holder.with((), |value, ()| value.get()));
    }

    #[test]
    fn a_panic_on_either_side_leaves_it_usable() {
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

    // What was counted in is all there when it is taken, and nothing is counted after.
    #[test]
    fn every_use_before_the_taking_is_seen_by_the_taker() {
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
