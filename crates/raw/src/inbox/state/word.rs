//! Bit layout and predicates of the inbox state word: a pointer whose unused bits hold the state of a
//! process.
//!
//! | bits | in an inbox with one stack | in a sharded inbox |
//! |---|---|---|
//! | 63 | 0 | `SHARDS` |
//! | 62 to 48 | number of headers in the stack | epoch: number of this installation of shards |
//! | 47 to 4 | pointer to the newest header, or null | one bit for each shard, set if it is not empty |
//! | 3 to 0 | `SIGNAL`, `DEAF`, `WOKEN`, `ASLEEP` | the same |
//!
//! A *header* is the link of a queued message or signal. *Shards* are several stacks, used while many
//! senders contend for the word. The transitions are in `state`.

use crate::inbox::header::{Class, Header};
use crate::memory::pool;

/// The process is in no run queue.
pub(in crate::inbox) const ASLEEP: usize = 0b001;
/// The process was woken since its turn began.
pub(in crate::inbox) const WOKEN: usize = 0b010;
/// The process sleeps and messages do not wake it.
pub(in crate::inbox) const DEAF: usize = 0b100;
/// A signal that is not a message has arrived.
pub(in crate::inbox) const SIGNAL: usize = 0b1000;
pub(in crate::inbox) const FLAGS: usize = 0b1111;
/// The inbox is sharded.
pub(in crate::inbox) const SHARDS: usize = 1 << 63;
/// The word of a process that has ended.
///
/// WHY with `SHARDS`: a push then recognises both by the sign bit.
pub(in crate::inbox) const CLOSED: usize = SHARDS | FLAGS;
/// Lowest bit of the count, or of the epoch.
pub(in crate::inbox) const COUNT_SHIFT: u32 = pool::ADDRESS_BITS;
/// Greatest count; a longer stack [carries](crate::inbox::carry) the rest.
pub(in crate::inbox) const COUNT_MAX: usize =
    if cfg!(loom) { 3 } else { (SHARDS >> COUNT_SHIFT) - 1 };
/// Bits of the pointer.
pub(in crate::inbox) const HEADER: usize = ((1 << COUNT_SHIFT) - 1) & !FLAGS;
/// All bits but those of the pointer, rotated as in [`is_single`].
pub(in crate::inbox) const SINGLE_MASK: usize = (!HEADER).rotate_left(usize::BITS - COUNT_SHIFT);
/// Bit of the first shard; the others follow.
pub(in crate::inbox) const FIRST_SHARD_BIT: u32 = FLAGS.count_ones();
/// Maximum number of shards: the state word has one bit for each.
pub(in crate::inbox) const MAX_SHARDS: usize = 32;
/// The last epoch.
/// WHY a last one: an inbox that has changed its mode this often keeps its shards, so that no epoch
/// number is reused.
pub(in crate::inbox) const LAST_EPOCH: usize = (1 << 15) - 2;

const _: () = assert!(
    LAST_EPOCH + 1 < SHARDS >> COUNT_SHIFT
        && FIRST_SHARD_BIT as usize + MAX_SHARDS <= COUNT_SHIFT as usize
);

/// Returns the four flags.
#[inline(always)]
pub(in crate::inbox) fn flags(word: *mut Header) -> usize {
    word.addr() & FLAGS
}

/// Returns the newest header of a stack, or null.
#[inline(always)]
pub(in crate::inbox) fn header(word: *mut Header) -> *mut Header {
    word.map_addr(|addr| addr & HEADER)
}

/// Returns the number of headers in a stack without what was carried.
#[inline(always)]
pub(in crate::inbox) fn count(word: *mut Header) -> usize {
    (word.addr() & !SHARDS) >> COUNT_SHIFT
}

/// Returns the epoch of a sharded word.
#[inline(always)]
pub(in crate::inbox) fn epoch(word: *mut Header) -> usize {
    count(word)
}

/// Returns whether the inbox is sharded; also `true` for a closed word.
#[inline(always)]
pub(in crate::inbox) fn has_shards(word: *mut Header) -> bool {
    word.addr() & SHARDS != 0
}

#[inline(always)]
pub(in crate::inbox) fn is_closed(word: *mut Header) -> bool {
    word.addr() == CLOSED
}

/// Returns whether the word has no flag, no header and no shard bit.
#[inline(always)]
pub(in crate::inbox) fn is_quiet(word: *mut Header) -> bool {
    word.addr() << (usize::BITS - COUNT_SHIFT) == 0
}

/// Returns whether the word is an open stack whose count can be incremented.
#[inline(always)]
pub(in crate::inbox) fn has_room(word: *mut Header) -> bool {
    if cfg!(loom) {
        return !has_shards(word) && count(word) < COUNT_MAX;
    }
    // The bit above the count is `SHARDS`, also set in a closed word. No epoch has the greatest
    // number, so the addition cannot overflow there.
    word.addr().wrapping_add(1 << COUNT_SHIFT) & SHARDS == 0
}

/// Returns whether the word has no flag and exactly one header.
#[inline(always)]
pub(in crate::inbox) fn is_single(word: *mut Header) -> bool {
    // WHY the rotation: it makes count and flags adjacent, so the mask is a short immediate.
    word.addr().rotate_left(usize::BITS - COUNT_SHIFT) & SINGLE_MASK == 1
}

/// Returns the flags after a signal of that class has arrived, and whether the arrival wakes.
#[inline(always)]
pub(in crate::inbox) fn arrival(word: *mut Header, class: Class) -> (usize, bool) {
    let old = flags(word);
    let wakes = old & ASLEEP != 0 && (old & DEAF == 0 || class == Class::Signal);
    let news = if class == Class::Signal { SIGNAL } else { 0 };
    (if wakes { old & SIGNAL } else { old } | news, wakes)
}
