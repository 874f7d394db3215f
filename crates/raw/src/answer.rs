//! One answer, on its way from whoever was asked to whoever waits for it.
//!
//! [`oneshot`] makes one block of memory with two ends. A [`ReplyTo`] gives the answer, once, or
//! is dropped; an [`Answer`] waits for it, or is dropped. Each may be used from any thread, and
//! dropped at any time; the answer is dropped once, by the end that has it last. Neither end blocks
//! or runs user code, apart from the destructor of an answer and wakers of other runtimes, whose
//! panics stop here.
//!
//! # The word
//!
//! | word | meaning | who leaves it |
//! |---|---|---|
//! | a cell's address | no answer yet; this process waits, and the word holds a reference to it | the replier; the waiter, to put another waker there or to give up |
//! | a waker's address and `FOREIGN` | the same, for a waker of another runtime | the same |
//! | `ANSWERED` | the answer is in its place | nobody |
//! | `REFUSED` | the replier was dropped | nobody |
//! | `GONE` | the waiter was dropped | nobody |
//!
//! Each end leaves with one swap, and what the word was tells it what it is left with:
//!
//! - A replier that finds a waiter has taken it out of the word, and wakes it. The block is the
//!   waiter's from then on.
//! - A replier that finds `GONE` keeps its answer and frees the block.
//! - A waiter that leaves finds itself, and leaves the block to the replier; or it finds one of the
//!   replier's two words and frees the block, with the answer in it if there is one.
//!
//! INVARIANT: the word holds whom to wake from the beginning, so a waiter that is polled by the
//! same process again only reads it.
//!
//! COST: one block of `8 + size_of::<T>()` bytes, see `pool`, and one more per poll for a waker of
//! another runtime; one swap for the answer, one read per poll, a reference to the process.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, Waker};

use crate::cell::Base;
use crate::current::waits_for_nobody;
use crate::pool;
use crate::quiet::quietly;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};
use crate::wake;

const FOREIGN: usize = 0b001;
const ANSWERED: usize = 0b010;
const REFUSED: usize = 0b100;
const GONE: usize = 0b110;
const FLAGS: usize = 0b111;
const _: () = assert!(align_of::<Base>() > FLAGS && align_of::<Waker>() > FLAGS);

/// What both ends share.
struct Block<T> {
    word: AtomicPtr<()>,
    /// There while the word is `ANSWERED`; the replier's while it is a waiter or `GONE`.
    answer: UnsafeCell<MaybeUninit<T>>,
}

/// The end that gives the answer, once. Dropping it says that none will come.
pub struct ReplyTo<T>(NonNull<Block<T>>);

/// The end that waits for the answer. Dropping it gives up.
pub struct Answer<T> {
    /// Nothing once the answer has been taken or refused.
    block: Option<NonNull<Block<T>>>,
}

// SAFETY: an answer may be made on one thread and dropped on another, hence `T: Send`; the word is
// atomic, and wakers may go anywhere.
unsafe impl<T: Send> Send for ReplyTo<T> {}
// SAFETY: through a shared reference only the word is read.
unsafe impl<T: Send> Sync for ReplyTo<T> {}
// SAFETY: as for `ReplyTo`.
unsafe impl<T: Send> Send for Answer<T> {}
// SAFETY: nothing can be done through a shared reference.
unsafe impl<T: Send> Sync for Answer<T> {}

/// Makes the two ends; the answer wakes `waiter`, unless the wait is polled with another waker.
#[inline]
pub fn oneshot<T>(waiter: Waker) -> (ReplyTo<T>, Answer<T>) {
    let block = pool::take::<Block<T>>();
    let word = AtomicPtr::new(into_word(waiter));
    // SAFETY: the block was taken for this type.
    unsafe { block.write(Block { word, answer: UnsafeCell::new(MaybeUninit::uninit()) }) };
    (ReplyTo(block), Answer { block: Some(block) })
}

impl<T> ReplyTo<T> {
    /// Gives the answer and wakes who waits; gives it back if nobody does any more.
    #[inline]
    pub fn send(self, answer: T) -> Result<(), T> {
        let block = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: this end keeps the block until the swap, and nobody touches the place of the
        // answer before the word says `ANSWERED`.
        let old = unsafe {
            block.as_ref().answer.with_mut(|place| (*place).write(answer));
            swap(block, ANSWERED)
        };
        match flags(old) {
            GONE => {
                // SAFETY: the waiter has left, so block and answer are ours.
                Err(unsafe { take_answer(block) })
            }
            _ => {
                // SAFETY: the swap took the waiter out of the word.
                unsafe { with_waiter(old, Waker::wake) };
                Ok(())
            }
        }
    }

    /// Whether somebody still waits: a glance that may be old at once.
    pub fn is_wanted(&self) -> bool {
        // SAFETY: this end keeps the block.
        let word = unsafe { self.0.as_ref() }.word.load(Ordering::Relaxed);
        flags(word) != GONE
    }
}

impl<T> Drop for ReplyTo<T> {
    fn drop(&mut self) {
        // SAFETY: this end keeps the block until the swap; the waiter is then out of the word, or
        // has left the block to us.
        unsafe {
            let old = swap(self.0, REFUSED);
            match flags(old) {
                GONE => free(self.0),
                _ => with_waiter(old, Waker::wake),
            }
        }
    }
}

impl<T> Answer<T> {
    /// The answer; `None` if none will come. Must not be called again after it was ready.
    ///
    /// # Panics
    /// If it is.
    #[inline]
    pub fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        let Some(block) = self.block else { polled_again() };
        // SAFETY: this end keeps the block.
        let word = unsafe { &block.as_ref().word };
        // ORDER: acquire from the replier's swap: the answer.
        let mut now = word.load(Ordering::Acquire);
        if is_waiter(now) {
            if wake::is_own(cx.waker(), now) {
                return Poll::Pending;
            }
            match wait_with(word, now, cx.waker().clone()) {
                Ok(()) => return Poll::Pending,
                Err(left) => now = left,
            }
        }
        self.block = None;
        // SAFETY: the replier has left, so block and answer are ours.
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

impl<T> Drop for Answer<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block {
            give_up(block);
        }
    }
}

/// The waiter leaves before it has seen the answer.
#[cold]
fn give_up<T>(block: NonNull<Block<T>>) {
    waits_for_nobody();
    // SAFETY: this end keeps the block until the swap. The word it finds is its own waiter, which
    // it takes, or the replier's last, after which block and answer are ours.
    unsafe {
        let old = swap(block, GONE);
        match flags(old) {
            ANSWERED => drop(take_answer(block)),
            REFUSED => free(block),
            _ => with_waiter(old, drop),
        }
    }
}

/// Puts another waker into the word; or says what the replier has left there.
#[cold]
fn wait_with(word: &AtomicPtr<()>, now: *mut (), waker: Waker) -> Result<(), *mut ()> {
    let next = into_word(waker);
    // ORDER: release to the replier's swap: the waker. On failure acquire from it: the answer.
    let exchanged = word.compare_exchange(now, next, Ordering::Release, Ordering::Acquire);
    // SAFETY: the waiter that is not in the word is ours: the old one, or the new one again.
    unsafe { with_waiter(if exchanged.is_ok() { now } else { next }, drop) };
    exchanged.map(drop)
}

/// Leaves: what the word was.
///
/// # Safety
/// The caller's end keeps the block.
#[inline]
unsafe fn swap<T>(block: NonNull<Block<T>>, last: usize) -> *mut () {
    // ORDER: release of what this end did to the block, and of the answer; acquire of the same from
    // the other end if it has left before, and of the waker from `wait_with`.
    // SAFETY: by the contract.
    unsafe { &block.as_ref().word }.swap(ptr::without_provenance_mut(last), Ordering::AcqRel)
}

/// # Safety
/// The block is the caller's, with the answer in it.
#[inline]
unsafe fn take_answer<T>(block: NonNull<Block<T>>) -> T {
    // SAFETY: by the contract.
    unsafe {
        let answer = block.as_ref().answer.with(|place| (*place).assume_init_read());
        free(block);
        answer
    }
}

/// # Safety
/// The block is the caller's, with no answer in it.
#[inline]
unsafe fn free<T>(block: NonNull<Block<T>>) {
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

/// A waker as one word.
#[inline]
fn into_word(waker: Waker) -> *mut () {
    match wake::into_cell(waker) {
        Ok(base) => base.as_ptr().cast(),
        Err(waker) => {
            let foreign = pool::take::<Waker>();
            // SAFETY: the block was taken for this type.
            unsafe { foreign.write(waker) };
            foreign.as_ptr().cast::<()>().map_addr(|addr| addr | FOREIGN)
        }
    }
}

/// Gives the waker that is in a word to `f`; what unwinds out of another runtime's stops here.
///
/// # Safety
/// The word is a waiter that the caller has taken.
#[inline]
unsafe fn with_waiter(word: *mut (), f: impl FnOnce(Waker)) {
    if flags(word) != FOREIGN {
        // SAFETY: a waiter that is not foreign is a cell, and the word held its reference.
        return f(unsafe { wake::from_cell(word.cast_const().cast()) });
    }
    let foreign = NonNull::new(word.map_addr(|addr| addr & !FLAGS).cast::<Waker>());
    if let Some(foreign) = foreign {
        // SAFETY: `into_word` took the block for a waker, and the word held it.
        let waker = unsafe {
            let waker = foreign.read();
            pool::free(foreign);
            waker
        };
        quietly(|| f(waker));
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("an answer was awaited again after it had come")
}

impl<T> fmt::Debug for ReplyTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
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

    fn poll<T>(answer: &mut Answer<T>, waker: &Arc<Woken>) -> Poll<Option<T>> {
        answer.poll(&Context::from_waker(&Waker::from(Arc::clone(waker))))
    }

    #[test]
    fn an_answer_wakes_the_last_waker_it_was_polled_with_and_arrives_once() {
        let (first, last) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        let (reply, mut answer) = oneshot(Waker::from(Arc::clone(&first)));
        assert!(poll(&mut answer, &first).is_pending());
        assert!(poll(&mut answer, &last).is_pending());
        assert_eq!(Arc::strong_count(&first), 1, "whoever is not waiting is not kept");
        assert!(reply.is_wanted());
        assert_eq!(reply.send("yes".to_string()), Ok(()));
        assert_eq!((woken(&first), woken(&last)), (0, 1));
        assert_eq!(poll(&mut answer, &last), Poll::Ready(Some("yes".to_string())));
        assert_eq!(Arc::strong_count(&last), 1);
    }

    #[test]
    fn a_reply_that_is_dropped_wakes_and_says_so() {
        let waker = Arc::<Woken>::default();
        let (reply, mut answer) = oneshot::<String>(Waker::from(Arc::clone(&waker)));
        drop(reply);
        assert_eq!(woken(&waker), 1);
        assert_eq!(poll(&mut answer, &waker), Poll::Ready(None));
    }

    #[test]
    fn an_answer_that_nobody_waits_for_comes_back() {
        let waker = Arc::<Woken>::default();
        let (reply, answer) = oneshot(Waker::from(Arc::clone(&waker)));
        drop(answer);
        assert!(!reply.is_wanted());
        assert_eq!(Arc::strong_count(&waker), 1);
        assert_eq!(reply.send("late".to_string()), Err("late".to_string()));
        let (reply, answer) = oneshot::<String>(Waker::from(Arc::clone(&waker)));
        drop(answer);
        drop(reply);
        assert_eq!((woken(&waker), Arc::strong_count(&waker)), (0, 1));
    }

    #[test]
    fn an_answer_that_was_not_looked_at_is_dropped_once() {
        let (waker, value) = (Arc::<Woken>::default(), Arc::new(()));
        let (reply, answer) = oneshot(Waker::from(Arc::clone(&waker)));
        assert!(reply.send(Arc::clone(&value)).is_ok());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(answer);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn a_waker_that_panics_harms_nobody() {
        struct Harm;
        impl Wake for Harm {
            fn wake(self: Arc<Self>) {
                std::panic::resume_unwind(Box::new("harm"));
            }
        }
        let (reply, mut answer) = oneshot(Waker::from(Arc::new(Harm)));
        assert_eq!(reply.send(1), Ok(()));
        assert_eq!(poll(&mut answer, &Arc::default()), Poll::Ready(Some(1)));
    }
}
