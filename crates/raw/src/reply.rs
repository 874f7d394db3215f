//! One-shot reply channel of a call.
//!
//! [`oneshot`] allocates one block with two ends. A [`ReplySender`] sends the reply, once, or is
//! dropped. A [`ReplyReceiver`] waits for it, or is dropped. Both may be used from any thread and
//! dropped at any time. The reply is dropped exactly once, by the end that holds it last. Neither
//! end blocks. No user code runs, except the destructor of a reply and wakers of other runtimes,
//! whose panics are caught.
//!
//! # State word
//!
//! | word | meaning | left by |
//! |---|---|---|
//! | null | no reply yet; nothing waits for it so far | the replier; the waiter, to set a waker or to give up |
//! | a cell's address | no reply yet; this process waits, and the word holds a reference to it | the replier; the waiter, to replace the waker or to give up |
//! | a waker's address and `FOREIGN` | the same, for a waker of another runtime | the same |
//! | `ANSWERED` | the reply is in the block | never left |
//! | `REFUSED` | the replier was dropped | never left |
//! | `GONE` | the waiter was dropped | never left |
//!
//! Each end leaves with one swap, whose result decides what it owns:
//!
//! - A replier that finds a waiter or null has taken it out of the word, and wakes the waiter. The
//!   waiter's end now owns the block.
//! - A replier that finds `GONE` keeps its reply and frees the block.
//! - A waiter that leaves and finds its own waker or null passes the block to the replier. If it finds
//!   `ANSWERED` or `REFUSED`, it frees the block, with the reply in it if there is one.
//!
//! The first poll that finds no reply sets the waker, so a reply that is there before wakes nothing.
//! Later polls by the same process only read the word.
//!
//! COST: one block of `8 + size_of::<T>()` bytes, see `pool`, and another per poll with a waker of
//! another runtime; one swap for the reply, one read per poll. A poll that sets a waker takes a
//! compare-and-swap and a reference to the process.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

use crate::catch_panic::catch_panic;
use crate::memory::pool;
use crate::process::cell::Base;
use crate::process::context::clear_waits_for;
use crate::process::waker;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};

const FOREIGN: usize = 0b001;
const ANSWERED: usize = 0b010;
const REFUSED: usize = 0b100;
const GONE: usize = 0b110;
const FLAGS: usize = 0b111;
const _: () = assert!(align_of::<Base>() > FLAGS && align_of::<Waker>() > FLAGS);

/// State shared by both ends.
struct Shared<T> {
    word: AtomicPtr<()>,
    /// Initialised while the word is `ANSWERED`; accessed by the replier only while the word is a
    /// waiter or `GONE`.
    answer: UnsafeCell<MaybeUninit<T>>,
}

/// End that sends the reply, once. Dropping it notifies the waiter that no reply will come.
pub struct ReplySender<T>(NonNull<Shared<T>>);

/// End that waits for the reply. Dropping it gives up.
pub struct ReplyReceiver<T> {
    /// `None` after the reply has been taken or refused.
    block: Option<NonNull<Shared<T>>>,
}

// SAFETY: a reply may be sent on one thread and dropped on another, hence `T: Send`. The word is
// atomic, and wakers are `Send`.
unsafe impl<T: Send> Send for ReplySender<T> {}
// SAFETY: a shared reference gives read access to the word only.
unsafe impl<T: Send> Sync for ReplySender<T> {}
// SAFETY: as for `ReplySender`.
unsafe impl<T: Send> Send for ReplyReceiver<T> {}
// SAFETY: a shared reference gives access to nothing.
unsafe impl<T: Send> Sync for ReplyReceiver<T> {}

/// Creates both ends. The reply wakes the waker of the last poll.
#[inline]
pub fn oneshot<T>() -> (ReplySender<T>, ReplyReceiver<T>) {
    let block = pool::take::<Shared<T>>();
    let word = AtomicPtr::new(ptr::null_mut());
    // SAFETY: the block was taken for this type.
    unsafe { block.write(Shared { word, answer: UnsafeCell::new(MaybeUninit::uninit()) }) };
    (ReplySender(block), ReplyReceiver { block: Some(block) })
}

impl<T> ReplySender<T> {
    /// Sends the reply and wakes the waiter. Returns the reply if the waiter was dropped.
    #[inline]
    pub fn send(self, answer: T) -> Result<(), T> {
        let block = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: this end keeps the block alive until the swap, and no other thread accesses the
        // reply before the word is `ANSWERED`.
        let old = unsafe {
            block.as_ref().answer.with_mut(|place| (*place).write(answer));
            swap(block, ANSWERED)
        };
        match flags(old) {
            GONE => {
                // SAFETY: the waiter has left, so this end owns the block and the reply.
                Err(unsafe { take_answer(block) })
            }
            _ => {
                // SAFETY: the swap took the waiter out of the word.
                unsafe { with_waiter(old, Waker::wake) };
                Ok(())
            }
        }
    }

    /// Returns whether the waiter still exists. The result may be stale.
    pub fn is_awaited(&self) -> bool {
        // SAFETY: this end keeps the block alive.
        let word = unsafe { self.0.as_ref() }.word.load(Ordering::Relaxed);
        flags(word) != GONE
    }
}

impl<T> Drop for ReplySender<T> {
    fn drop(&mut self) {
        // SAFETY: this end keeps the block alive until the swap. The swap took the waiter out of
        // the word, or the waiter has left and this end owns the block.
        unsafe {
            let old = swap(self.0, REFUSED);
            match flags(old) {
                GONE => free(self.0),
                _ => with_waiter(old, Waker::wake),
            }
        }
    }
}

impl<T> ReplyReceiver<T> {
    /// Polls for the reply; `None` if none will come. Must not be called again after `Ready`.
    ///
    /// # Panics
    /// Panics if called again after `Ready`.
    #[inline]
    pub fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        let Some(block) = self.block else { polled_again() };
        // SAFETY: this end keeps the block alive.
        let word = unsafe { &block.as_ref().word };
        // ORDER: acquire from the replier's swap: the reply.
        let mut now = word.load(Ordering::Acquire);
        if is_waiter(now) {
            if waker::wakes_cell(cx.waker(), now) {
                return Poll::Pending;
            }
            // SAFETY: the waiter in the word, if there is one, is this end's.
            match unsafe { set_waker(word, now, cx.waker().clone()) } {
                Ok(()) => return Poll::Pending,
                Err(left) => now = left,
            }
        }
        self.block = None;
        // SAFETY: the replier has left, so this end owns the block and the reply.
        Poll::Ready(unsafe {
            match flags(now) {
                ANSWERED => Some(take_answer(block)),
                _ => {
                    free(block);
                    None
                }
            }
        })
    }
}

impl<T> Drop for ReplyReceiver<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block {
            // SAFETY: this end owns its share of the block until here.
            unsafe { give_up(block) };
        }
    }
}

/// The waiter leaves without having seen the reply.
///
/// # Safety
/// The caller is the waiter, which has not left, and does not access the block again.
#[cold]
unsafe fn give_up<T>(block: NonNull<Shared<T>>) {
    clear_waits_for();
    // SAFETY: this end keeps the block alive until the swap. If the swap returns a waiter, it is
    // this end's and is dropped here. Otherwise the replier has left, and this end owns block and
    // reply.
    unsafe {
        let old = swap(block, GONE);
        match flags(old) {
            ANSWERED => drop(take_answer(block)),
            REFUSED => free(block),
            _ => with_waiter(old, drop),
        }
    }
}

/// Sets or replaces the waker in the word. Returns the replier's word if it has left.
///
/// # Safety
/// `now` is a waiter, or null, that the caller has read from the word and that only the replier also
/// takes.
unsafe fn set_waker(word: &AtomicPtr<()>, now: *mut (), waker: Waker) -> Result<(), *mut ()> {
    let next = into_word(waker);
    // ORDER: release to the replier's swap: the waker. On failure, acquire from it: the reply.
    let exchanged = word.compare_exchange(now, next, Ordering::Release, Ordering::Acquire);
    // SAFETY: the waiter that is not in the word is owned here: the old one, or on failure the new
    // one.
    unsafe { with_waiter(if exchanged.is_ok() { now } else { next }, drop) };
    exchanged.map(drop)
}

/// Leaves with the final word `last`. Returns the previous word.
///
/// # Safety
/// The caller's end keeps the block alive.
#[inline]
unsafe fn swap<T>(block: NonNull<Shared<T>>, last: usize) -> *mut () {
    // ORDER: release of this end's accesses to the block, including the reply. Acquire of the other
    // end's if it has left before, and of the waker from `set_waker`.
    // SAFETY: by the contract.
    unsafe { &block.as_ref().word }.swap(ptr::without_provenance_mut(last), Ordering::AcqRel)
}

/// # Safety
/// The caller owns the block, and the reply in it is initialised.
#[inline]
unsafe fn take_answer<T>(block: NonNull<Shared<T>>) -> T {
    // SAFETY: by the contract.
    unsafe {
        let answer = block.as_ref().answer.with(|place| (*place).assume_init_read());
        free(block);
        answer
    }
}

/// # Safety
/// The caller owns the block, and no reply is in it.
#[inline]
unsafe fn free<T>(block: NonNull<Shared<T>>) {
    // SAFETY: by the contract; `MaybeUninit` drops nothing.
    unsafe {
        block.drop_in_place();
        pool::free(block);
    }
}

#[inline(always)]
fn flags(word: *mut ()) -> usize {
    word.addr() & FLAGS
}

#[inline(always)]
fn is_waiter(word: *mut ()) -> bool {
    flags(word) <= FOREIGN
}

/// Encodes a waker as one word.
#[inline]
fn into_word(waker: Waker) -> *mut () {
    match waker::into_cell(waker) {
        Ok(base) => base.as_ptr().cast(),
        Err(waker) => {
            let foreign = pool::take::<Waker>();
            // SAFETY: the block was taken for this type.
            unsafe { foreign.write(waker) };
            foreign.as_ptr().cast::<()>().map_addr(|addr| addr | FOREIGN)
        }
    }
}

/// Calls `f` with the waker encoded in a word, if it is not null. Catches panics of another runtime's
/// waker.
///
/// # Safety
/// The word is null, or a waiter that the caller owns.
#[inline]
unsafe fn with_waiter(word: *mut (), f: impl FnOnce(Waker)) {
    if word.is_null() {
        return;
    }
    if flags(word) != FOREIGN {
        // SAFETY: a waiter without `FOREIGN` is a cell, and the word held a reference to it.
        return f(unsafe { waker::from_cell(word.cast_const().cast()) });
    }
    let foreign = NonNull::new(word.map_addr(|addr| addr & !FLAGS).cast::<Waker>());
    if let Some(foreign) = foreign {
        // SAFETY: `into_word` took the block for a waker, which the word owned.
        let waker = unsafe {
            let waker = foreign.read();
            pool::free(foreign);
            waker
        };
        catch_panic(|| f(waker));
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("an answer was awaited again after it had come")
}

impl<T> fmt::Debug for ReplySender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplySender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ReplyReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyReceiver").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn woken(by: &Arc<Woken>) -> usize {
        by.0.load(Ordering::Relaxed)
    }

    fn poll<T>(answer: &mut ReplyReceiver<T>, waker: &Arc<Woken>) -> Poll<Option<T>> {
        answer.poll(&Context::from_waker(&Waker::from(Arc::clone(waker))))
    }

    #[test]
    fn reply_wakes_the_last_polled_waker_and_arrives_once() {
        let (first, last) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        let (reply, mut answer) = oneshot();
        assert!(poll(&mut answer, &first).is_pending());
        assert!(poll(&mut answer, &last).is_pending());
        assert_eq!(Arc::strong_count(&first), 1, "a waker that no longer waits is not kept");
        assert!(reply.is_awaited());
        assert_eq!(reply.send("yes".to_string()), Ok(()));
        assert_eq!((woken(&first), woken(&last)), (0, 1));
        assert_eq!(poll(&mut answer, &last), Poll::Ready(Some("yes".to_string())));
        assert_eq!(Arc::strong_count(&last), 1);
    }

    #[test]
    fn reply_before_the_first_poll_wakes_nothing() {
        let waker = Arc::<Woken>::default();
        let (reply, mut answer) = oneshot();
        assert!(reply.is_awaited());
        assert_eq!(reply.send(7), Ok(()));
        assert_eq!(poll(&mut answer, &waker), Poll::Ready(Some(7)));
        assert_eq!((woken(&waker), Arc::strong_count(&waker)), (0, 1));
    }

    #[test]
    fn dropped_replier_wakes_the_waiter_which_receives_none() {
        let waker = Arc::<Woken>::default();
        let (reply, mut answer) = oneshot::<String>();
        assert!(poll(&mut answer, &waker).is_pending());
        drop(reply);
        assert_eq!(woken(&waker), 1);
        assert_eq!(poll(&mut answer, &waker), Poll::Ready(None));
    }

    #[test]
    fn reply_without_a_waiter_is_returned() {
        let waker = Arc::<Woken>::default();
        for polled in [false, true] {
            let (reply, mut answer) = oneshot();
            assert!(!polled || poll(&mut answer, &waker).is_pending());
            drop(answer);
            assert!(!reply.is_awaited());
            assert_eq!(Arc::strong_count(&waker), 1);
            assert_eq!(reply.send("late".to_string()), Err("late".to_string()));
            let (reply, mut answer) = oneshot::<String>();
            assert!(!polled || poll(&mut answer, &waker).is_pending());
            drop(answer);
            drop(reply);
            assert_eq!((woken(&waker), Arc::strong_count(&waker)), (0, 1));
        }
    }

    #[test]
    fn reply_that_is_never_polled_is_dropped_once() {
        let value = Arc::new(());
        let (reply, answer) = oneshot();
        assert!(reply.send(Arc::clone(&value)).is_ok());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(answer);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn panic_of_a_waker_is_caught() {
        struct Harm;
        impl Wake for Harm {
            fn wake(self: Arc<Self>) {
                std::panic::resume_unwind(Box::new("harm"));
            }
        }
        let (reply, mut answer) = oneshot();
        let harm = Waker::from(Arc::new(Harm));
        assert!(answer.poll(&Context::from_waker(&harm)).is_pending());
        assert_eq!(reply.send(1), Ok(()));
        assert_eq!(poll(&mut answer, &Arc::default()), Poll::Ready(Some(1)));
    }
}
