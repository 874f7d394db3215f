//! Inbox shards: several stacks on separate cache lines, used when the receiver's state
//! word has become a bottleneck.
//!
//! `state` decides when shards are in use and makes every call here. Any thread that found the
//! inbox sharded may `push`; only the receiver may `take` and `freeze`. Only `new` allocates.
//!
//! A counter with the shards holds what is [carried](crate::inbox::carry) from the counts of the
//! stack and of the shards.
//!
//! # Protocol
//!
//! A sender always uses the same shard, so its own signals stay in order. A shard is a word laid
//! out like the stack of the process:
//!
//! | word | meaning |
//! |---|---|
//! | headers and their number | open, signals queued |
//! | null | open, empty |
//! | `FROZEN` and an epoch | closed to senders that observed this epoch or an earlier one |
//!
//! Each installation begins an *epoch*, whose number is in the inbox state word. Removal
//! freezes every shard with the epoch that ends. The first push of a sender of a later epoch opens
//! its shard. A sender that still has the old epoch finds its shard frozen and rereads the state
//! word. So installation does not touch the shards, and no sender can push into a shard while the
//! stack is in use.
//!
//! INVARIANT: a shard is opened only for the epoch that the opening thread observed, and frozen
//! only after that epoch has ended in the state word.
//!
//! COST: 128 bytes per shard, four shards per core, at most 32; one compare-and-swap per push, one
//! swap per shard taken.

use std::ptr::{self, NonNull};

use crate::inbox::batch::Batch;
use crate::inbox::carry::{add_one, carried};
use crate::inbox::header::{CONTENDED, Header};
use crate::inbox::state::word::{COUNT_SHIFT, header};
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

const FROZEN: usize = 1;
const COUNT_MAX: usize = u16::MAX as usize;

/// Contention estimate by which the receiver installs and removes shards.
///
/// A single counter. With a stack it rises with each contended push and falls with each uncontended
/// one. With shards it rises with the signals taken and falls with each take.
#[derive(Debug)]
pub struct Contention(u16);

/// Weight of a contended push relative to an uncontended one.
const WEIGHT: usize = 2;
/// Shards are installed when the counter reaches this value.
/// WHY 50: OTP uses the same figure. A single collision does not reach it; a burst of some hundred
/// messages does.
const INSTALL_THRESHOLD: usize = if cfg!(shuttle) { 2 } else { 50 };
/// Signals that a take must bring to justify shards.
/// WHY 2: a message alone in its shard costs two compare-and-swaps, in the stack one.
const PROFITABLE_TAKE: usize = 2;
/// Shards are removed after this many takes that brought one signal each.
/// WHY 4096: OTP checks every 8192 operations. A receiver without contention gets there in a
/// fraction of a millisecond.
const UNPROFITABLE_TAKES: usize = if cfg!(shuttle) { 2 } else { 4096 };

impl Contention {
    /// Creates an estimate without contention.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Creates an estimate that asks for shards.
    #[cfg(any(test, loom))]
    pub fn crowded() -> Self {
        Self(UNPROFITABLE_TAKES as u16)
    }

    #[cold]
    fn change(&mut self, up: usize, down: usize) {
        self.0 = (usize::from(self.0) + up).saturating_sub(down).min(UNPROFITABLE_TAKES) as u16;
    }

    /// Counts a batch taken from the stack.
    #[inline]
    pub(crate) fn count_stacked(&mut self, batch: &Batch) {
        // WHY the condition: it is false in every take of an uncontended receiver.
        if self.0 != 0 || batch.contended != 0 {
            self.change(batch.contended * WEIGHT, batch.len - batch.contended);
        }
    }

    /// Returns whether the estimate is zero. With shards, the receiver then removes them.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.0 == 0
    }

    /// Counts a single message with these tags, taken from the stack while the estimate is zero.
    #[inline]
    pub(crate) fn count_single(&mut self, tags: usize) {
        if tags & CONTENDED != 0 {
            self.change(WEIGHT, 0);
        }
    }

    /// Counts a batch taken from the shards.
    pub(crate) fn count_sharded(&mut self, batch: &Batch) {
        self.change(batch.len, PROFITABLE_TAKE);
    }

    #[inline]
    pub(crate) fn wants_shards(&self) -> bool {
        usize::from(self.0) >= INSTALL_THRESHOLD
    }

    pub(crate) fn installed(&mut self) {
        self.0 = UNPROFITABLE_TAKES as u16;
    }
}

/// What a sender found in its shard.
pub enum ShardState {
    /// Nothing: the sender must announce the shard.
    Empty,
    /// Signals of other senders, which have announced the shard or are about to.
    Others,
    /// A frozen shard: the epoch has ended.
    Frozen,
}

/// A shard, padded to its cache line and the adjacent one that the hardware prefetches.
#[repr(align(128))]
struct Shard(AtomicPtr<Header>);

/// All shards of one process.
pub struct Shards {
    shards: Box<[Shard]>,
    /// Carried from the counts of the words, as a signed number: the receiver may subtract before a
    /// sender adds.
    carried: AtomicU64,
}

fn frozen(epoch: usize) -> *mut Header {
    ptr::without_provenance_mut(epoch << COUNT_SHIFT | FROZEN)
}

fn top(word: *mut Header) -> usize {
    word.addr() >> COUNT_SHIFT
}

fn is_frozen(word: *mut Header) -> bool {
    word.addr() & FROZEN != 0
}

/// Number of shards: four per core, so that senders running at the same time seldom share one.
#[cfg(not(any(loom, shuttle)))]
fn shard_count() -> usize {
    static CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    // WHY: asking the operating system takes microseconds; simulated machines differ.
    let cores = if cfg!(purlin_cores) {
        crate::sync::core_count()
    } else {
        *CORES.get_or_init(crate::sync::core_count)
    };
    (4 * cores).next_power_of_two().min(crate::inbox::state::word::MAX_SHARDS)
}

#[cfg(any(loom, shuttle))]
fn shard_count() -> usize {
    2
}

impl Shards {
    /// Creates shards that are frozen as of before the first epoch.
    pub fn new() -> Self {
        let shards = (0..shard_count()).map(|_| Shard(AtomicPtr::new(frozen(0)))).collect();
        Self { shards, carried: AtomicU64::new(0) }
    }

    /// Adds what a push carries.
    #[cold]
    pub(crate) fn add_carried(&self, signals: usize) {
        // ORDER: relaxed, here and below: a counter that orders nothing.
        self.carried.fetch_add(signals as u64, Ordering::Relaxed);
    }

    /// Subtracts what the pushes of a stack that was taken have carried.
    #[cold]
    pub(crate) fn remove_carried(&self, signals: usize) {
        self.carried.fetch_sub(signals as u64, Ordering::Relaxed);
    }

    /// Returns the number of queued signals that the counts of the words do not include. The result
    /// may be stale.
    pub(crate) fn carried(&self) -> usize {
        let signals = self.carried.load(Ordering::Relaxed).cast_signed();
        usize::try_from(signals).unwrap_or(0)
    }

    /// Returns the shard of a sender.
    pub(crate) fn shard_of(&self, sender: u32) -> usize {
        sender as usize & (self.shards.len() - 1)
    }

    /// Returns the last epoch that has ended, if the shards are frozen.
    pub(crate) fn last_epoch(&self) -> usize {
        top(self.shards[0].0.load(Ordering::Relaxed))
    }

    /// Pushes a signal, for a sender that read `epoch` in the state word.
    ///
    /// # Safety
    /// The caller owns the header and gives it away, except if the shard is frozen.
    pub unsafe fn push(&self, shard: usize, new: NonNull<Header>, epoch: usize) -> ShardState {
        let shard = &self.shards[shard].0;
        // ORDER: acquire from `freeze`: the sender then observes the end of the epoch in the state
        // word. An open shard needs no acquire here.
        let mut word = shard.load(Ordering::Acquire);
        loop {
            if is_frozen(word) && top(word) >= epoch {
                return ShardState::Frozen;
            }
            let (before, count) =
                if is_frozen(word) { (0, 0) } else { (header(word).addr(), top(word)) };
            let (count, carried) = add_one(count, COUNT_MAX);
            // SAFETY: the header is the caller's until the exchange below succeeds.
            unsafe { new.as_ref().set_next(header(word)) };
            let next = new.as_ptr().map_addr(|addr| addr | count << COUNT_SHIFT);
            // ORDER: release to `take` and `freeze` (the payload), and to later pushes. Acquire
            // from earlier pushes and takes: a sender that pushes into a shard opened by another
            // thread observes the epoch of that thread. Relaxed on failure: a sender that finds the
            // shard frozen starts again with an acquire load.
            match shard.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if before == 0 => return ShardState::Empty,
                Ok(_) => {
                    if carried > 0 {
                        self.add_carried(carried);
                    }
                    return ShardState::Others;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Takes the contents of the shards in `marked`.
    ///
    /// # Safety
    /// The caller is the receiver, and an epoch is in progress.
    pub unsafe fn take(&self, marked: u32) -> Batch {
        let mut batch = Batch::empty();
        let mut rest = marked;
        while rest != 0 {
            // ORDER: acquire from `push` (the payloads). Release to a push that finds the shard
            // empty: if a late announcement marked a frozen shard, this swap opens it, and a sender
            // that pushes into it must observe this epoch.
            let shard = &self.shards[rest.trailing_zeros() as usize].0;
            let word = shard.swap(ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: the swap transferred the stack to this thread.
            unsafe { self.append(&mut batch, word) };
            rest &= rest - 1;
        }
        batch
    }

    /// Freezes all shards and takes their contents.
    ///
    /// # Safety
    /// The caller is the receiver, and the state word says that the epoch has ended.
    pub unsafe fn freeze(&self, epoch: usize) -> Batch {
        let mut batch = Batch::empty();
        for shard in &self.shards {
            // ORDER: acquire from `push` (the payloads). Release to a push that finds the shard
            // frozen: the changed state word.
            let word = shard.0.swap(frozen(epoch), Ordering::AcqRel);
            // SAFETY: the swap transferred the stack to this thread.
            unsafe { self.append(&mut batch, word) };
        }
        batch
    }

    /// Appends the contents of a shard, whose word was `word`.
    ///
    /// # Safety
    /// The caller owns both.
    unsafe fn append(&self, batch: &mut Batch, word: *mut Header) {
        // SAFETY: by the contract.
        let taken = unsafe { Batch::reverse(header(word)) };
        if taken.len > COUNT_MAX {
            self.remove_carried(carried(taken.len, COUNT_MAX));
        }
        // SAFETY: by the contract.
        unsafe { batch.append(taken) };
    }

    /// Returns the number of signals in all shards. The result may be stale.
    pub(crate) fn count(&self) -> usize {
        let words = self.shards.iter().map(|shard| shard.0.load(Ordering::Relaxed));
        words.filter(|&word| !is_frozen(word)).map(top).sum::<usize>() + self.carried()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn batch(len: usize, contended: usize) -> Batch {
        Batch { len, contended, ..Batch::empty() }
    }

    #[test]
    fn contention_asks_for_shards_and_occasional_collisions_do_not() {
        let mut contention = Contention::new();
        (0..1000).for_each(|_| contention.count_stacked(&batch(100, 20)));
        assert!(!contention.wants_shards(), "one push in five met another sender");
        contention.count_stacked(&batch(100, 60));
        assert!(contention.wants_shards());
    }

    #[test]
    fn shards_with_one_signal_per_take_are_removed_and_fuller_ones_are_kept() {
        let mut contention = Contention::new();
        contention.installed();
        (0..1_000_000).for_each(|_| contention.count_sharded(&batch(2, 0)));
        assert!(!contention.is_calm());
        (0..UNPROFITABLE_TAKES).for_each(|_| contention.count_sharded(&batch(1, 0)));
        assert!(contention.is_calm());
    }
}
