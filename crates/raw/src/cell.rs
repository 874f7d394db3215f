//! The one allocation that is a process.
//!
//! ```text
//! Cell ─┬─ Front ─┬─ Base     word, counts, owner's FIFO     known to everybody, type-free
//!       │         ├─ shared   W::Shared                      read by anyone, also after the end
//!       │         ├─ last     W::Last                        how it ended, once it has
//!       │         └─ local    W::Local                       the process's own
//!       ├─ edge                                              nothing, or the bound of the mailbox
//!       └─ body                                              the code: only `run` touches it
//! ```
//!
//! # Who may touch what
//!
//! 1. `head`, `refs`, the counters and the edge: any thread that holds a reference.
//! 2. `last`: the last turn writes it, once, before the inbox closes; any thread that has found the
//!    inbox closed reads it.
//! 3. `fifo`, `traffic` and `local`: the thread that runs the process's turn, and it alone
//!    (`current::is_running` says whether this thread does).
//! 4. `body`: `run`, which exists once at a time because there is one right to schedule.
//! 5. `realm`: as long as the process has not left the table; see `realm`.
//!
//! # References
//!
//! The table holds one reference while the process lives; the process's own handle, every address
//! and every waker hold one each. The last one gone frees the memory; `credit` counts them. The handle
//! is as a rule dropped in a turn of its process, which outlives that turn: a bit then says so, and
//! its reference is given up with the table's. The right to schedule (`Runnable`) needs none: only
//! running it can end the process.

use std::any::TypeId;
use std::cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Context;

use crate::World;
use crate::chain::Chain;
use crate::edge::Edge;
use crate::fifo::Fifo;
use crate::head::Head;
use crate::lanes::Traffic;
use crate::link::Link;
use crate::pool::Block;
use crate::realm::RealmBase;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering, UnsafeCell};
use crate::table::Slot;

/// What a process does that depends on its types.
pub(crate) struct VTable {
    /// Polls the body. The caller is in the process's turn.
    pub(crate) poll: unsafe extern "C" fn(NonNull<Base>, &mut Context<'_>) -> Polled,
    /// Drops what waited in the inbox of a process that has ended, and tells the world.
    pub(crate) wind_up: unsafe extern "C" fn(NonNull<Base>, &Chain),
    /// Frees the cell. The caller dropped the last reference.
    pub(crate) free: unsafe fn(NonNull<Base>),
    pub(crate) block: Block,
    /// Shows the world what a process that is traced is about to send to this one.
    pub(crate) sent: unsafe fn(NonNull<Base>, NonNull<Link>),
    /// Drops a message that was sealed for the process and not sent.
    pub(crate) discard: unsafe fn(NonNull<Link>),
    pub(crate) message: fn() -> TypeId,
    /// The type of the world.
    pub(crate) world: fn() -> TypeId,
    pub(crate) message_name: fn() -> &'static str,
    pub(crate) body_name: fn() -> &'static str,
    /// A turn may block the thread.
    pub(crate) blocking: bool,
    /// Where in the cell the [`Edge`] is; 0: the mailbox has no bound.
    pub(crate) edge: usize,
    pub(crate) bytes: usize,
    /// Bytes of a message with its envelope.
    pub(crate) envelope: usize,
}

/// What became of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Polled {
    Pending,
    Ended,
}

/// A turn is under way, or the end.
pub(crate) const RUNNING: u8 = 0b001;
/// The turn asked to be woken by messages.
pub(crate) const LISTENING: u8 = 0b010;
/// The turn asked to run again at once.
pub(crate) const AGAIN: u8 = 0b100;
/// There is something in `W::Local`.
pub(crate) const KEPT: u8 = 0b1000;
/// The process's own handle was dropped in one of its turns, and its reference is still counted.
pub(crate) const LET_GO: u8 = 0b1_0000;
/// Its turns are traced.
pub(crate) const TRACED: u8 = 0b10_0000;

/// The part that needs no type.
#[repr(C)]
pub(crate) struct Base {
    pub(crate) head: Head,
    pub(crate) refs: AtomicU32,
    /// Messages in the FIFO. This and all counters below are written by the running turn alone.
    pub(crate) waiting: AtomicU32,
    pub(crate) vtable: &'static VTable,
    pub(crate) realm: NonNull<RealmBase>,
    pub(crate) slot: Slot,
    pub(crate) fifo: UnsafeCell<Fifo>,
    pub(crate) traffic: UnsafeCell<Traffic>,
    /// [`RUNNING`], [`LISTENING`], [`AGAIN`], [`KEPT`], [`LET_GO`] and [`TRACED`].
    pub(crate) turn: AtomicU8,
    /// WHY: the compiler then clears whole words, which the first turn can read without waiting.
    rest_of_the_word: u8,
    /// The place in the table, and one, of the process whose answer it waits for; 0: of none. What was
    /// written last may be old where the process does not wait.
    pub(crate) waits_for: AtomicU32,
    /// Messages received.
    pub(crate) received: AtomicU64,
    /// Messages and signals sent in turns that are over.
    pub(crate) sent: AtomicU64,
    /// Polls, sends, and budget spent.
    pub(crate) reductions: AtomicU64,
}

/// The part that needs only the world's types.
#[repr(C)]
pub(crate) struct Front<W: World> {
    pub(crate) base: Base,
    pub(crate) shared: W::Shared,
    /// Written in the last turn, before the inbox closes; read by those who found it closed.
    pub(crate) last: UnsafeCell<W::Last>,
    pub(crate) local: UnsafeCell<cell::Cell<W::Local>>,
}

/// All of it.
#[repr(C)]
pub(crate) struct Cell<W: World, M, E, B> {
    pub(crate) front: Front<W>,
    pub(crate) edge: E,
    pub(crate) body: UnsafeCell<B>,
    pub(crate) message: PhantomData<fn(M)>,
}

impl Base {
    /// The base of a new cell, with one reference for each of the table, the owner and the
    /// address that spawning returns.
    pub(crate) fn new(vtable: &'static VTable, realm: NonNull<RealmBase>, slot: Slot) -> Self {
        Self {
            head: Head::new(),
            refs: AtomicU32::new(3),
            waiting: AtomicU32::new(0),
            vtable,
            realm,
            slot,
            fifo: UnsafeCell::new(Fifo::new()),
            traffic: UnsafeCell::new(Traffic::new()),
            turn: AtomicU8::new(0),
            rest_of_the_word: 0,
            waits_for: AtomicU32::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            reductions: AtomicU64::new(0),
        }
    }
}

impl Base {
    /// The running turn asks for something.
    #[inline]
    pub(crate) fn ask(&self, what: u8) {
        // ORDER: relaxed, here and wherever `turn` is used: the thread that wrote it reads it back;
        // to others it is something to look at.
        self.turn.store(self.turn.load(Ordering::Relaxed) | what, Ordering::Relaxed);
    }

    /// Messages that wait; past 32767 of those still in transit are not all counted.
    #[inline]
    pub(crate) fn mailbox(&self) -> usize {
        self.waiting.load(Ordering::Relaxed) as usize + self.head.count()
    }

    /// So many messages have come into the FIFO.
    #[inline]
    pub(crate) fn came(&self, more: usize) {
        // WHY not saturating: four thousand million envelopes do not fit into any memory.
        let waiting = self.waiting.load(Ordering::Relaxed).wrapping_add(more as u32);
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    /// A message has left the FIFO.
    #[inline]
    pub(crate) fn left(&self) {
        self.waiting.store(self.waiting.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
    }

    /// A turn begins, or has ended: what it asked for is over. What is true of it still comes back.
    #[inline]
    pub(crate) fn set_running(&self, running: u8) -> u8 {
        let stays = self.turn.load(Ordering::Relaxed) & (KEPT | LET_GO | TRACED);
        self.turn.store(stays | running, Ordering::Relaxed);
        stays
    }

    /// Has its turns traced from the next on, or no longer. Only in its turn.
    pub(crate) fn trace(&self, on: bool) {
        let others = self.turn.load(Ordering::Relaxed) & !TRACED;
        self.turn.store(others | if on { TRACED } else { 0 }, Ordering::Relaxed);
    }

    /// Whether there is something in `W::Local`.
    #[inline]
    pub(crate) fn keeps(&self, something: bool) {
        let others = self.turn.load(Ordering::Relaxed) & !KEPT;
        self.turn.store(others | if something { KEPT } else { 0 }, Ordering::Relaxed);
    }
}

/// The edge of the process's mailbox, if that has a bound.
///
/// # Safety
/// `base` begins a whole cell, which the caller keeps meanwhile.
#[inline]
pub(crate) unsafe fn edge<'a>(base: NonNull<Base>) -> Option<&'a Edge> {
    // SAFETY: by the contract; where the vtable says that there is an edge there is one.
    unsafe {
        let place = base.as_ref().vtable.edge;
        (place != 0).then(|| base.byte_add(place).cast::<Edge>().as_ref())
    }
}

/// Adds to a counter that only the running turn writes.
#[inline]
pub(crate) fn count(counter: &AtomicU64, more: u64) {
    // ORDER: relaxed: it is only looked at; one writer, so no read-modify-write is needed.
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
