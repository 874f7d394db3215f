//! The word of a process: whether it sleeps, and the stack of signals that arrived.
//!
//! Any thread may `push` and `wake`. Only the worker that runs the process may `take`, `sleep` and
//! `close`. Nothing here allocates or runs user code.
//!
//! # The word
//!
//! ```text
//!  63        48 47                     4      3        2       1        0
//! +------------+------------------------+--------+-------+-------+--------+
//! |   count    | newest link, or null   | SIGNAL | DEAF  | WOKEN | ASLEEP |
//! +------------+------------------------+--------+-------+-------+--------+
//! ```
//!
//! `SIGNAL` says that the stack holds a signal that is no message. The other three are the state:
//!
//! | flags | meaning | who leaves it |
//! |---|---|---|
//! | none | scheduled or running | the owner, by going to sleep or closing |
//! | `WOKEN` | the same, and a wake came since the turn began | the owner, at its next turn |
//! | `ASLEEP` | in no queue; any signal wakes it | a sender or waker; it must schedule the process |
//! | `ASLEEP`, `DEAF` | in no queue; waits for something else than messages, of which some may be in the stack | a waker, or the sender of a signal that is no message |
//! | all four | closed for ever | nobody |
//!
//! `count` is the number of links in the stack, and stays at its greatest value past that.
//!
//! INVARIANT: whoever takes `ASLEEP` away holds the only right to schedule the process.
//!
//! # Orders
//!
//! Every change is a read-modify-write, so there is one order of changes. A push releases the
//! payload to the `take` that acquires it. Going to sleep releases the owner's state to the thread
//! that takes `ASLEEP` away, which acquires it and hands it on through the run queue. A wake
//! releases what happened before it to the `take` at the beginning of the next turn.
//!
//! COST: one compare-and-swap per push, one swap per batch taken, one compare-and-swap to sleep.

use std::ptr::{self, NonNull};

use crate::link::{Class, Link};
use crate::sync::{AtomicPtr, Ordering};

const ASLEEP: usize = 0b001;
const WOKEN: usize = 0b010;
const DEAF: usize = 0b100;
const SIGNAL: usize = 0b1000;
const FLAGS: usize = 0b1111;
const CLOSED: usize = FLAGS;
const COUNT_SHIFT: u32 = 48;
const COUNT_MAX: usize = u16::MAX as usize;
const LINK: usize = ((1 << COUNT_SHIFT) - 1) & !FLAGS;

/// What the sender must do next.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// Nothing: the receiver will find it.
    Queued,
    /// Schedule the receiver: it slept and nobody else will.
    Schedule,
    /// Take the envelope back: the receiver has ended.
    Closed,
}

/// What the owner must do next.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slept {
    /// Let go of the process at once: another thread may be running it already.
    Asleep,
    /// Run again: it was woken, or there is mail it would have to look at.
    Again,
}

/// What was in the word when the owner emptied it.
#[derive(Debug)]
pub struct Taken {
    /// The links that arrived, newest first, or null.
    pub newest: *mut Link,
    /// Whether a wake came since the last time.
    pub woken: bool,
}

/// The word.
#[derive(Debug)]
pub struct Head(AtomicPtr<Link>);

#[inline(always)]
fn flags(word: *mut Link) -> usize {
    word.addr() & FLAGS
}

#[inline(always)]
fn link(word: *mut Link) -> *mut Link {
    word.map_addr(|addr| addr & LINK)
}

#[inline(always)]
fn count(word: *mut Link) -> usize {
    word.addr() >> COUNT_SHIFT
}

impl Head {
    /// A process that is about to be scheduled for the first time.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Adds a link. On [`Pushed::Closed`] the caller has it back.
    ///
    /// # Safety
    /// The caller owns the link and gives it away, except on [`Pushed::Closed`].
    #[inline]
    pub unsafe fn push(&self, new: NonNull<Link>, class: Class) -> Pushed {
        debug_assert_eq!(new.addr().get() & !LINK, 0, "an address beyond 48 bits");
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let old = flags(word);
            if old == CLOSED {
                return Pushed::Closed;
            }
            // SAFETY: the link is the caller's until the exchange below succeeds.
            unsafe { new.as_ref().set_next(link(word)) };
            let wake = old & ASLEEP != 0 && (old & DEAF == 0 || class == Class::Signal);
            let news = if class == Class::Signal { SIGNAL } else { 0 };
            let keep = if wake { old & SIGNAL } else { old } | news;
            let waiting = (count(word) + 1).min(COUNT_MAX) << COUNT_SHIFT;
            let next = new.as_ptr().map_addr(|addr| addr | keep | waiting);
            // ORDER: release to `take` (the payload); acquire from `sleep` (the owner's state),
            // which matters only when this push wakes.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if wake => return Pushed::Schedule,
                Ok(_) => return Pushed::Queued,
                Err(now) => word = now,
            }
        }
    }

    /// Wakes the process; `true` tells the caller to schedule it.
    #[must_use]
    #[inline]
    pub fn wake(&self) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let old = flags(word);
            if old == CLOSED {
                return false;
            }
            let asleep = old & ASLEEP != 0;
            let woken = if asleep { 0 } else { WOKEN };
            let next = word.map_addr(|addr| (addr & !(ASLEEP | DEAF)) | woken);
            // WHY: a second wake writes the word again although nothing changes in it, because
            // what happened before *this* wake has to be released too.
            // ORDER: release to `take`; acquire from `sleep`, as in `push`.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return asleep,
                Err(now) => word = now,
            }
        }
    }

    /// Takes everything that arrived, and the wake with it. Only for the owner, awake.
    #[inline]
    pub fn take(&self) -> Taken {
        // ORDER: relaxed is enough to see that nothing came; what came is acquired by the swap.
        if self.0.load(Ordering::Relaxed).is_null() {
            return Taken { newest: ptr::null_mut(), woken: false };
        }
        // ORDER: acquire from `push` (the payloads) and from `wake`. Nothing to release: a sender
        // reads nothing of the owner's unless it takes ASLEEP away.
        let word = self.0.swap(ptr::null_mut(), Ordering::Acquire);
        debug_assert!(flags(word) & (ASLEEP | DEAF) == 0, "the owner takes while it sleeps");
        Taken { newest: link(word), woken: flags(word) & WOKEN != 0 }
    }

    /// Goes to sleep unless there is something to do. Only for the owner, awake.
    ///
    /// A deaf process sleeps on messages it has not looked at; a signal or a wake it has not seen
    /// keeps it awake like any other.
    #[inline]
    pub fn sleep(&self, deaf: bool) -> Slept {
        let mut word = if deaf { self.0.load(Ordering::Relaxed) } else { ptr::null_mut() };
        loop {
            if flags(word) & (WOKEN | SIGNAL) != 0 {
                return Slept::Again;
            }
            let asleep = if deaf { ASLEEP | DEAF } else { ASLEEP };
            let next = word.map_addr(|addr| addr | asleep);
            // ORDER: release to whoever takes ASLEEP away: everything the owner wrote in its turn.
            // On failure nothing is read through the word.
            match self.0.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Slept::Asleep,
                Err(now) if deaf => word = now,
                Err(_) => return Slept::Again,
            }
        }
    }

    /// Closes for ever and gives back what arrived, newest first. Only for the owner, awake.
    pub fn close(&self) -> *mut Link {
        // ORDER: acquire from `push` (the payloads); release to senders that find the process
        // closed and then read how it ended.
        link(self.0.swap(ptr::without_provenance_mut(CLOSED), Ordering::AcqRel))
    }

    /// What arrived, newest first, in a process that nobody else refers to any more.
    pub fn rest(&self) -> *mut Link {
        // ORDER: relaxed: the pushes came before their senders gave up their references, and that
        // was acquired when they were found to be gone.
        link(self.0.load(Ordering::Relaxed))
    }

    /// Whether the process has ended.
    pub fn is_closed(&self) -> bool {
        // ORDER: acquire from `close`: how it ended can be read afterwards.
        flags(self.0.load(Ordering::Acquire)) == CLOSED
    }

    /// Whether the process sleeps, and whether it is deaf: a glance that may be old at once.
    pub fn asleep(&self) -> Option<bool> {
        let now = flags(self.0.load(Ordering::Relaxed));
        (now != CLOSED && now & ASLEEP != 0).then_some(now & DEAF != 0)
    }

    /// Links in the stack, at most 65535: a glance that may be old at once.
    pub fn count(&self) -> usize {
        count(self.0.load(Ordering::Relaxed))
    }

    /// Whether a signal that is no message arrived, or a wake, since the last `take`.
    #[inline]
    pub fn has_signals(&self) -> bool {
        flags(self.0.load(Ordering::Relaxed)) & (WOKEN | SIGNAL) != 0
    }

    /// Whether something arrived or woke the process since the last `take`.
    #[inline]
    pub fn has_news(&self) -> bool {
        !self.0.load(Ordering::Relaxed).is_null()
    }
}
