//! The word of a process: whether it sleeps, and the stack of signals that arrived, or which lanes
//! they are in.
//!
//! Any thread may `push` and `wake`. Only the worker that runs the process may `take`, `sleep` and
//! `close`. Nothing here runs user code; only the first installation of lanes allocates.
//!
//! # The word
//!
//! ```text
//!   63    62      48 47                     4      3        2       1        0
//! +-------+----------+------------------------+--------+-------+-------+--------+
//! |   0   |  count   | newest link, or null   | SIGNAL | DEAF  | WOKEN | ASLEEP |
//! | LANES |   era    | a bit for each lane    |        |       |       |        |
//! +-------+----------+------------------------+--------+-------+-------+--------+
//! ```
//!
//! `count` is the number of links in the stack, and stays at its greatest value past that. `SIGNAL`
//! says that a signal that is no message arrived. The other three flags are the state:
//!
//! | flags | meaning | who leaves it |
//! |---|---|---|
//! | none | scheduled or running | the owner, by going to sleep or closing |
//! | `WOKEN` | the same, and a wake came since the turn began | the owner, at its next turn |
//! | `ASLEEP` | in no queue; any signal wakes it | a sender or waker; it must schedule the process |
//! | `ASLEEP`, `DEAF` | in no queue; waits for something else than messages, of which some may have arrived | a waker, or the sender of a signal that is no message |
//! | all four, and `LANES` | closed for ever | nobody |
//!
//! INVARIANT: whoever takes `ASLEEP` away holds the only right to schedule the process.
//!
//! # Lanes
//!
//! When the pushes that a take brings met each other too often, the owner installs lanes (`lanes`):
//! the swap that empties the stack leaves `LANES` and the number of a new era. From then on a
//! sender puts its link into its lane; if it found the lane empty, or has a signal, it *tells* the
//! receiver, by setting the lane's bit here, with the same consequences for a sleeper as a push. A
//! take swaps the bits out and then empties the lanes they name.
//!
//! Removing swaps the word back to an empty stack, then freezes the lanes and takes what is in them,
//! all in one take. So what is in the stack is older than anything in a lane when lanes are
//! installed, and later when they are removed: the order of each sender is kept (M2).
//!
//! INVARIANT: if an open lane holds something, its bit is set, or the sender that found it empty is
//! about to set it. One that finds the era over need not tell: the owner freezes the lanes in the
//! very take that ended the era, or in its close, and takes what is in them.
//!
//! # Orders
//!
//! Every change is a read-modify-write, so there is one order of changes. A push releases the
//! payload to the `take` that acquires it. Going to sleep releases the owner's state to the thread
//! that takes `ASLEEP` away, which acquires it and hands it on through the run queue. A wake
//! releases what happened before it to the `take` at the beginning of the next turn. Installing
//! releases the lanes to senders, who acquire the word before they follow the pointer.
//!
//! COST: one compare-and-swap per push, one swap per batch taken, one compare-and-swap to sleep; 16
//! bytes. With lanes: see there, and one compare-and-swap here per lane and batch.

mod aside;
mod word;

use std::ptr::{self, NonNull};

use word::{
    ASLEEP, CLOSED, COUNT_MAX, COUNT_SHIFT, DEAF, LINK, SIGNAL, WOKEN, arrival, count, era, flags,
    has_lanes, has_room, is_closed, is_lone, is_quiet, link,
};

use crate::chain::Chain;
use crate::lanes::{Lanes, Traffic};
use crate::link::{Class, Link};
use crate::sync::{AtomicPtr, Ordering};

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

/// What an owner finds that looks for a single message.
#[derive(Debug)]
pub enum Lone {
    /// It, which is taken.
    Link(NonNull<Link>),
    /// Nothing has come.
    Nothing,
    /// More than that, or something else: to be taken all at once.
    Others,
}

/// What was in the word when the owner emptied it.
#[derive(Debug)]
pub struct Taken {
    /// What arrived.
    pub arrived: Chain,
    /// Whether a wake came since the last time.
    pub woken: bool,
}

/// The word, and the lanes beside it once there have been any.
#[derive(Debug)]
pub struct Head {
    word: AtomicPtr<Link>,
    /// Null until lanes are first installed; stays for as long as the head.
    lanes: AtomicPtr<Lanes>,
}

/// Notes in a link that its push met another sender, if so. An owner that emptied the stack, or
/// changed the mode, is none.
///
/// # Safety
/// The caller owns the link.
unsafe fn note_contention(new: NonNull<Link>, now: *mut Link) {
    if !has_lanes(now) && !link(now).is_null() {
        // SAFETY: by the contract.
        unsafe { new.as_ref().mark_contended() };
    }
}

/// What a take found in the word, and what came with it.
#[inline(always)]
fn taken(word: *mut Link, arrived: Chain) -> Taken {
    debug_assert!(flags(word) & (ASLEEP | DEAF) == 0, "the owner takes while it sleeps");
    Taken { arrived, woken: flags(word) & WOKEN != 0 }
}

impl Head {
    /// A process that is about to be scheduled for the first time.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { word: AtomicPtr::new(ptr::null_mut()), lanes: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Adds a link. On [`Pushed::Closed`] the caller has it back. `sender` says who sends, always
    /// the same for one sender; it is asked only where it may matter.
    ///
    /// # Safety
    /// The caller owns the link, which is as [`Link::new`] makes it, and gives it away, except on
    /// [`Pushed::Closed`].
    #[inline]
    pub unsafe fn push(
        &self,
        new: NonNull<Link>,
        class: Class,
        sender: impl Fn() -> u32,
    ) -> Pushed {
        debug_assert_eq!(new.addr().get() & !LINK, 0, "an address beyond 48 bits");
        // SAFETY: by the contract.
        debug_assert!(unsafe { new.as_ref().next() }.is_null(), "a link that was sent before");
        let word = self.word.load(Ordering::Relaxed);
        // ORDER: release to `take` (the payload); acquire from `sleep` (the owner's state), which
        // matters only when this push wakes.
        let (order, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
        let exchange = |next| self.word.compare_exchange_weak(word, next, order, relaxed);
        // WHY apart from `push_once`: these are what most pushes find, and little is to be worked out.
        let exchanged = if word.addr() == ASLEEP {
            let signal = if class == Class::Signal { SIGNAL } else { 0 };
            let next = new.as_ptr().map_addr(|addr| addr | signal | 1 << COUNT_SHIFT);
            exchange(next).map(|_| Pushed::Schedule)
        } else if class == Class::Message && has_room(word) {
            debug_assert_ne!(flags(word) & (ASLEEP | DEAF), ASLEEP, "such a sleeper has no mail");
            // SAFETY: the link is the caller's until the exchange below succeeds.
            unsafe { new.as_ref().put_upon(link(word)) };
            let rest = word.addr().wrapping_add(1 << COUNT_SHIFT) & !LINK;
            exchange(new.as_ptr().map_addr(|addr| addr | rest)).map(|_| Pushed::Queued)
        } else {
            // SAFETY: by the contract.
            return unsafe { self.push_on(new, class, sender()) };
        };
        exchanged.unwrap_or_else(|now| {
            // SAFETY: by the contract; a push that failed has left the link alone.
            unsafe {
                note_contention(new, now);
                self.push_on(new, class, sender())
            }
        })
    }

    /// Tries to add a link to a stack that was `word`, read with acquire; gives back what it has become
    /// instead.
    ///
    /// # Safety
    /// As for `push`; on failure the caller has the link back.
    #[inline(always)]
    unsafe fn push_once(
        &self,
        word: *mut Link,
        new: NonNull<Link>,
        class: Class,
    ) -> Result<Pushed, *mut Link> {
        // SAFETY: the link is the caller's until the exchange below succeeds.
        unsafe { new.as_ref().set_next(link(word)) };
        let (flags, wakes) = arrival(word, class);
        let waiting = ((word.addr() >> COUNT_SHIFT) + 1).min(COUNT_MAX) << COUNT_SHIFT;
        let next = new.as_ptr().map_addr(|addr| addr | flags | waiting);
        // ORDER: release to `take` (the payload). What `sleep` released was acquired with the word.
        self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)?;
        Ok(if wakes { Pushed::Schedule } else { Pushed::Queued })
    }

    /// Adds a link where another sender was quicker, where there are lanes, or at the end.
    ///
    /// # Safety
    /// As for `push`.
    #[cold]
    #[inline(never)]
    unsafe fn push_on(&self, new: NonNull<Link>, class: Class, sender: u32) -> Pushed {
        loop {
            // ORDER: acquire from the installation (the lanes), and from `sleep`.
            let word = self.word.load(Ordering::Acquire);
            if is_closed(word) {
                return Pushed::Closed;
            }
            // SAFETY: by the contract; what failed has left the link alone.
            let pushed = unsafe {
                match has_lanes(word) {
                    true => self.push_aside(word, new, class, sender),
                    false => self
                        .push_once(word, new, class)
                        .inspect_err(|&now| note_contention(new, now))
                        .ok(),
                }
            };
            if let Some(pushed) = pushed {
                return pushed;
            }
        }
    }

    /// Wakes the process; `true` tells the caller to schedule it.
    #[must_use]
    #[inline]
    pub fn wake(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if is_closed(word) {
                return false;
            }
            let old = flags(word);
            let asleep = old & ASLEEP != 0;
            let woken = if asleep { 0 } else { WOKEN };
            let next = word.map_addr(|addr| (addr & !(ASLEEP | DEAF)) | woken);
            // WHY: a second wake writes the word again although nothing changes in it, because
            // what happened before *this* wake has to be released too.
            // ORDER: release to `take`; acquire from `sleep`, as in `push`.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return asleep,
                Err(now) => word = now,
            }
        }
    }

    /// Takes everything that arrived, and the wake with it. Only for the owner, awake.
    ///
    /// Counts what it finds, and installs or removes lanes accordingly.
    // WHY always: returned from a call, the chain would go through memory.
    #[inline(always)]
    pub fn take(&self, traffic: &mut Traffic) -> Taken {
        // ORDER: relaxed is enough to see that nothing came; what came is acquired by the swap.
        let word = self.word.load(Ordering::Relaxed);
        if is_quiet(word) {
            return Taken { arrived: Chain::empty(), woken: false };
        }
        if has_lanes(word) || traffic.wants_lanes() {
            let mut arrived = Chain::empty();
            let word = self.take_aside(traffic, &mut arrived);
            // WHY not `arrived` itself: the chain of an ordinary take then stays in registers.
            return taken(word, Chain { ..arrived });
        }
        // ORDER: acquire from `push` (the payloads) and from `wake`. Nothing to release: a sender
        // reads nothing of the owner's unless it takes ASLEEP away.
        let word = self.word.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the swap gave the stack to us.
        let arrived = unsafe { Chain::turn_round(link(word)) };
        traffic.stacked(&arrived);
        taken(word, arrived)
    }

    /// Takes what arrived if it is one message and nothing else: what most receives find that find
    /// anything. Only for the owner, awake.
    #[inline]
    pub fn take_lone(&self, traffic: &mut Traffic) -> Lone {
        let word = self.word.load(Ordering::Relaxed);
        if is_quiet(word) {
            return Lone::Nothing;
        }
        if !is_lone(word) || !traffic.is_calm() {
            return Lone::Others;
        }
        // ORDER: as the swap in `take`.
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if self.word.compare_exchange(word, ptr::null_mut(), acquire, relaxed).is_err() {
            return Lone::Others;
        }
        // SAFETY: a count of one is that of a link, which the exchange gave to us.
        unsafe {
            let lone = NonNull::new_unchecked(link(word));
            traffic.calm_lone(lone.as_ref().tags());
            Lone::Link(lone)
        }
    }

    /// Goes to sleep unless there is something to do. Only for the owner, awake.
    ///
    /// A deaf process sleeps on messages it has not looked at; a signal or a wake it has not seen
    /// keeps it awake like any other.
    #[inline]
    pub fn sleep(&self, deaf: bool) -> Slept {
        // ORDER: release to whoever takes ASLEEP away: everything the owner wrote in its turn. On
        // failure nothing is read through the word.
        let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
        let sleeper = ptr::without_provenance_mut(ASLEEP);
        // WHY first: it is how most turns end, and nothing is to be worked out.
        if !deaf && self.word.compare_exchange(ptr::null_mut(), sleeper, release, relaxed).is_ok() {
            return Slept::Asleep;
        }
        let asleep = if deaf { ASLEEP | DEAF } else { ASLEEP };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if flags(word) & (WOKEN | SIGNAL) != 0 || !deaf && !is_quiet(word) {
                return Slept::Again;
            }
            let next = word.map_addr(|addr| addr | asleep);
            match self.word.compare_exchange(word, next, release, relaxed) {
                Ok(_) => return Slept::Asleep,
                Err(now) => word = now,
            }
        }
    }

    /// Closes for ever and gives back what arrived. Only for the owner, awake.
    pub fn close(&self) -> Chain {
        // ORDER: acquire from `push` (the payloads); release to senders that find the process
        // closed and then read how it ended.
        let word = self.word.swap(ptr::without_provenance_mut(CLOSED), Ordering::AcqRel);
        self.last_of(word)
    }

    /// What arrived, in a process that nobody else refers to any more.
    pub fn rest(&self) -> Chain {
        // ORDER: relaxed: the pushes came before their senders gave up their references, and that
        // was acquired when they were found to be gone.
        self.last_of(self.word.load(Ordering::Relaxed))
    }

    /// What is in the stack or the lanes, of an owner that takes for the last time.
    fn last_of(&self, word: *mut Link) -> Chain {
        if has_lanes(word) {
            return self.known_lanes().freeze(era(word));
        }
        // SAFETY: the swap, or the end of all senders, gave the stack to us.
        unsafe { Chain::turn_round(link(word)) }
    }

    /// Whether the process has ended.
    pub fn is_closed(&self) -> bool {
        // ORDER: acquire from `close`: how it ended can be read afterwards.
        is_closed(self.word.load(Ordering::Acquire))
    }

    /// Whether the process sleeps, and whether it is deaf: a glance that may be old at once.
    pub fn asleep(&self) -> Option<bool> {
        let word = self.word.load(Ordering::Relaxed);
        let asleep = !is_closed(word) && flags(word) & ASLEEP != 0;
        asleep.then_some(flags(word) & DEAF != 0)
    }

    /// Links that arrived, of those in the stack at most 32767: a glance that may be old at once.
    pub fn count(&self) -> usize {
        // ORDER: acquire from the installation (the lanes).
        let word = self.word.load(Ordering::Acquire);
        match has_lanes(word) {
            false => count(word),
            true if is_closed(word) => 0,
            true => self.known_lanes().count(),
        }
    }

    /// Whether a signal that is no message arrived, or a wake, since the last `take`.
    #[inline]
    pub fn has_signals(&self) -> bool {
        flags(self.word.load(Ordering::Relaxed)) & (WOKEN | SIGNAL) != 0
    }

    /// Whether something arrived or woke the process since the last `take`.
    #[inline]
    pub fn has_news(&self) -> bool {
        !is_quiet(self.word.load(Ordering::Relaxed))
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        let lanes = self.lanes.load(Ordering::Relaxed);
        if !lanes.is_null() {
            // SAFETY: it came from a box, and nobody else is left who could follow the pointer.
            drop(unsafe { Box::from_raw(lanes) });
        }
    }
}
