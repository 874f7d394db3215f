//! Bit layout and predicates of the inbox state word.
//!
//! The module documentation of `state` has the diagram.

use crate::inbox::header::{Class, Header};
use crate::memory::pool;

pub(in crate::inbox) const ASLEEP: usize = 0b001;
pub(in crate::inbox) const WOKEN: usize = 0b010;
pub(in crate::inbox) const DEAF: usize = 0b100;
pub(in crate::inbox) const SIGNAL: usize = 0b1000;
pub(in crate::inbox) const FLAGS: usize = 0b1111;
pub(in crate::inbox) const SHARDS: usize = 1 << 63;
// WHY with `SHARDS`: a push then recognises both by the sign bit.
pub(in crate::inbox) const CLOSED: usize = SHARDS | FLAGS;
pub(in crate::inbox) const COUNT_SHIFT: u32 = pool::ADDRESS_BITS;
pub(in crate::inbox) const COUNT_MAX: usize = (SHARDS >> COUNT_SHIFT) - 1;
pub(in crate::inbox) const HEADER: usize = ((1 << COUNT_SHIFT) - 1) & !FLAGS;
pub(in crate::inbox) const SINGLE_MASK: usize = (!HEADER).rotate_left(usize::BITS - COUNT_SHIFT);
pub(in crate::inbox) const FIRST_SHARD_BIT: u32 = FLAGS.count_ones();
/// Maximum number of shards: the state word has one bit for each.
pub(in crate::inbox) const MAX_SHARDS: usize = 32;
/// The last epoch.
/// WHY a last one: an inbox that has changed its mode this often keeps its shards, so that no epoch
/// number is reused.
pub(in crate::inbox) const LAST_EPOCH: usize = (1 << 15) - 2;

const _: () = assert!(
    LAST_EPOCH < COUNT_MAX && FIRST_SHARD_BIT as usize + MAX_SHARDS <= COUNT_SHIFT as usize
);

#[inline(always)]
pub(in crate::inbox) fn flags(word: *mut Header) -> usize {
    word.addr() & FLAGS
}

#[inline(always)]
pub(in crate::inbox) fn header(word: *mut Header) -> *mut Header {
    word.map_addr(|addr| addr & HEADER)
}

#[inline(always)]
pub(in crate::inbox) fn count(word: *mut Header) -> usize {
    (word.addr() & !SHARDS) >> COUNT_SHIFT
}

/// Returns the epoch of a sharded word.
#[inline(always)]
pub(in crate::inbox) fn epoch(word: *mut Header) -> usize {
    count(word)
}

/// Returns whether the inbox is sharded. Also `true` for a closed word.
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
