//! Memory layout of a process: one allocation.
//!
//! ```text
//! Cell ─┬─ Front ─┬─ Base         state word, counts; no types needed
//!       │         ├─ shared       W::Shared; any thread reads it, also after the end
//!       │         └─ local        W::Local; private state
//!       ├─ bound                  `()`, or the bound of the mailbox
//!       └─ code                   start or future, accessed by `turn` only; after the end W::ExitStatus
//! ```
//!
//! A cell points to its node core, whose table points to cells and whose host gets the right to run
//! them. So the types of the node core and of that right are defined here too.
//!
//! # Access rules
//!
//! 1. `inbox`, `refs`, the counters and `bound`: any thread that holds a reference.
//! 2. The exit status: the last turn writes it once, in the place of the code, before the inbox
//!    closes; a thread that has found the inbox closed may read it.
//! 3. `stage`, `contention`, `local` and the save queue in the inbox's extension: only the thread
//!    that runs the process's turn (`context::is_running`).
//! 4. The code: only `Runnable::run`, which is exclusive because there is one right to schedule.
//! 5. `node`: valid until the process has left the table; see `node_core`.
//!
//! # References
//!
//! The table holds [`TABLE_REFERENCES`] while the process lives. The process's own handle, each address
//! and each waker hold one. Dropping the last reference frees the memory; `deferred_rc` counts
//! them. The handle is usually dropped in a turn of its process, which outlives that turn: the
//! `HANDLE_DROPPED` bit then records this, and the reference is released together with the table's.
//! The right to schedule (`Runnable`) needs no reference, because only running it can end the
//! process.

use std::any::TypeId;
use std::cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Context;

use crate::RuntimeTypes;
use crate::inbox::batch::Batch;
use crate::inbox::bound::Bound;
use crate::inbox::header::Header;
use crate::inbox::shards::Contention;
use crate::inbox::state::State;
use crate::memory::pool::Block;
use crate::process::code::{Contents, Stage};
use crate::process::deferred_rc;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, UnsafeCell};
use crate::table::entry::{Item, TABLE_REFERENCES};
use crate::table::{Slot, Table};

/// Functions and constants that depend on the types of a process.
pub(crate) struct VTable {
    /// Polls the body. The caller is in the process's turn.
    pub(crate) poll: unsafe extern "C" fn(NonNull<Base>, &mut Context<'_>) -> Polled,
    /// Drops the contents of an ended process's inbox and calls [`RuntimeTypes::closed`].
    pub(crate) wind_up: unsafe extern "C" fn(NonNull<Base>, &Batch),
    /// Frees the cell. The caller released the last reference.
    pub(crate) free: unsafe fn(NonNull<Base>),
    pub(crate) block: Block,
    /// Calls [`RuntimeTypes::sent`] for a signal that a traced process is about to send to this
    /// process.
    pub(crate) sent: unsafe fn(NonNull<Base>, NonNull<Header>),
    /// Drops a message for the process that it does not receive. Does not unwind.
    pub(crate) discard: unsafe fn(NonNull<Header>),
    pub(crate) message: fn() -> TypeId,
    /// Type id of the type family `W`.
    pub(crate) family: fn() -> TypeId,
    pub(crate) message_name: fn() -> &'static str,
    pub(crate) body_name: fn() -> &'static str,
    /// Whether a turn may block the thread.
    pub(crate) blocking: bool,
    /// Offset of the [`Bound`] in the cell; 0 if the mailbox has no bound.
    pub(crate) bound_offset: usize,
    /// Offset of the [`Contents`] in the cell.
    pub(crate) code_offset: usize,
    pub(crate) bytes: usize,
    /// Size in bytes of a message with its envelope.
    pub(crate) envelope: usize,
}

/// Result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Polled {
    Pending,
    Ended,
}

/// A turn, or the end of the process, is in progress.
pub(crate) const RUNNING: u8 = 0b001;
/// The turn asked that messages wake the process.
pub(crate) const LISTENING: u8 = 0b010;
/// The turn asked for another turn.
pub(crate) const RESCHEDULE: u8 = 0b100;
/// `W::Local` holds private state.
pub(crate) const HAS_LOCAL: u8 = 0b1000;
/// The process's own handle was dropped in one of its turns; its reference is still counted.
pub(crate) const HANDLE_DROPPED: u8 = 0b1_0000;
/// The process's turns are traced.
pub(crate) const TRACED: u8 = 0b10_0000;
/// A turn must consult `W::Local`.
pub(crate) const LOCAL_AFFECTS_TURN: u8 = 0b100_0000;
/// The turn has used up its budget with receives: the process is *behind* its senders.
pub(crate) const BEHIND: u8 = 0b1000_0000;
/// Flags that persist from turn to turn.
const PERSISTENT: u8 = HAS_LOCAL | HANDLE_DROPPED | TRACED | LOCAL_AFFECTS_TURN;

/// Part of a cell that depends on no type.
#[repr(C)]
pub(crate) struct Base {
    pub(crate) inbox: State,
    pub(crate) refs: AtomicU32,
    /// [`RUNNING`], [`LISTENING`], [`RESCHEDULE`], [`BEHIND`], [`HAS_LOCAL`], [`HANDLE_DROPPED`],
    /// [`TRACED`] and [`LOCAL_AFFECTS_TURN`].
    pub(crate) turn: AtomicU8,
    /// What the place of the code holds.
    pub(crate) stage: UnsafeCell<Stage>,
    pub(crate) contention: UnsafeCell<Contention>,
    pub(crate) vtable: &'static VTable,
    pub(crate) node: NonNull<NodeCoreBase>,
    pub(crate) slot: Slot,
    /// Messages received. This and the counters below are written by the running turn only.
    pub(crate) received: AtomicU64,
    /// Messages and signals sent in completed turns.
    pub(crate) sent: AtomicU64,
    /// Polls, sends, and budget spent.
    pub(crate) reductions: AtomicU64,
}

/// Part of a cell that depends only on the type family.
#[repr(C)]
pub(crate) struct Front<W: RuntimeTypes> {
    pub(crate) base: Base,
    pub(crate) shared: W::Shared,
    pub(crate) local: UnsafeCell<cell::Cell<W::Local>>,
}

/// A whole process.
#[repr(C)]
pub(crate) struct Cell<W: RuntimeTypes, M, E, B, F> {
    pub(crate) front: Front<W>,
    pub(crate) bound: E,
    pub(crate) code: Contents<B, F, W::ExitStatus>,
    pub(crate) message: PhantomData<fn(M)>,
}

/// Part of a node core that depends on no type.
pub(crate) struct NodeCoreBase {
    pub(crate) handles: AtomicUsize,
    pub(crate) host: Box<dyn Host>,
    pub(crate) free: unsafe fn(NonNull<NodeCoreBase>),
    pub(crate) table: Table<Base>,
}

/// Scheduler of a node core's processes.
pub trait Host: Send + Sync + 'static {
    /// Queues a process if this thread is one of the host's workers. Otherwise returns it.
    fn schedule_local(&self, runnable: Runnable) -> Result<(), Runnable>;

    /// Queues a process. Called on any thread.
    fn schedule_remote(&self, runnable: Runnable);
}

/// Right and duty to run a process. A process whose `Runnable` is dropped never runs again.
#[must_use]
#[derive(Debug)]
pub struct Runnable(pub(super) NonNull<Base>);

// SAFETY: any thread may run a cell, and `Runnable` is the exclusive right to do so.
unsafe impl Send for Runnable {}

impl Runnable {
    /// # Safety
    /// The caller holds the right to schedule: it has cleared `ASLEEP`, or the process is new, or
    /// its turn has just ended with a request to run again.
    #[inline]
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self(base)
    }
}

// SAFETY: a cell is freed with its last reference, and lies in a block of the pool, which checks the
// address. `Base::new` counts the table's references.
unsafe impl Item for Base {
    fn slot(&self) -> Slot {
        self.slot
    }

    unsafe fn release(base: NonNull<Self>) {
        // SAFETY: by the contract.
        unsafe { deferred_rc::count_down(base, 1) };
    }
}

// An idle process of 128 bytes depends on it, see `docs/internals/process.md`.
#[cfg(not(any(loom, purlin_cores, shuttle)))]
const _: () = assert!(size_of::<Base>() == 72);

impl Base {
    /// Creates the base of a new cell. Counts the references of the table, and one each for the owner
    /// and the address that spawning returns.
    pub(crate) fn new(
        vtable: &'static VTable,
        node_core: NonNull<NodeCoreBase>,
        slot: Slot,
    ) -> Self {
        Self {
            inbox: State::new(),
            refs: AtomicU32::new(TABLE_REFERENCES + 2),
            turn: AtomicU8::new(0),
            stage: UnsafeCell::new(Stage::Start),
            contention: UnsafeCell::new(Contention::new()),
            vtable,
            node: node_core,
            slot,
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            reductions: AtomicU64::new(0),
        }
    }

    /// Sets a request flag of the running turn.
    #[inline]
    pub(crate) fn set_flag(&self, what: u8) {
        // ORDER: relaxed, as in all accesses to `turn` that say nothing else: only the thread in
        // the turn acts on the value; others read it for statistics.
        self.turn.store(self.turn.load(Ordering::Relaxed) | what, Ordering::Relaxed);
    }

    /// Returns the number of queued messages. The result may be stale.
    #[inline]
    pub(crate) fn mailbox_len(&self) -> usize {
        self.inbox.saved() as usize + self.inbox.count()
    }

    /// Starts or ends a turn: clears the requests of the previous one. Returns the flags that
    /// persist.
    #[inline]
    pub(crate) fn set_running(&self, running: u8) -> u8 {
        let stays = self.turn.load(Ordering::Relaxed) & PERSISTENT;
        self.turn.store(stays | running, Ordering::Relaxed);
        stays
    }

    /// Replaces those of the persistent flags that are in `mask`. Only in the process's turn, or
    /// before its first one.
    #[inline]
    pub(crate) fn set_persistent(&self, mask: u8, flags: u8) {
        let others = self.turn.load(Ordering::Relaxed) & !mask;
        self.turn.store(others | flags, Ordering::Relaxed);
    }

    /// Sets the flags that describe the private state.
    #[inline]
    pub(crate) fn describe_local<W: RuntimeTypes>(&self, local: &W::Local) {
        let flag = |on: bool, flag: u8| if on { flag } else { 0 };
        let flags =
            flag(W::has_state(local), HAS_LOCAL) | flag(W::affects_turn(local), LOCAL_AFFECTS_TURN);
        self.set_persistent(HAS_LOCAL | LOCAL_AFFECTS_TURN, flags);
    }
}

/// Returns the place of the exit status, which the last turn has initialised if the inbox is closed.
///
/// # Safety
/// `base` is the start of a whole cell of this type family, to which the caller holds a reference.
#[inline]
pub(crate) unsafe fn exit_status<W: RuntimeTypes>(
    base: NonNull<Base>,
) -> NonNull<UnsafeCell<W::ExitStatus>> {
    // SAFETY: by the contract; all fields of a `Contents` lie at its beginning.
    unsafe { base.byte_add(base.as_ref().vtable.code_offset).cast() }
}

/// Returns the bound of the process's mailbox, if it has one.
///
/// # Safety
/// `base` is the start of a whole cell, to which the caller holds a reference during `'a`.
#[inline]
pub(crate) unsafe fn bound<'a>(base: NonNull<Base>) -> Option<&'a Bound> {
    // SAFETY: by the contract; a non-zero offset in the vtable is that of an initialised `Bound`.
    unsafe {
        let offset = base.as_ref().vtable.bound_offset;
        (offset != 0).then(|| base.byte_add(offset).cast::<Bound>().as_ref())
    }
}

/// Adds to a counter that only the running turn writes.
#[inline]
pub(crate) fn count(counter: &AtomicU64, more: u64) {
    // ORDER: relaxed: read for statistics only. A single writer needs no read-modify-write.
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}
