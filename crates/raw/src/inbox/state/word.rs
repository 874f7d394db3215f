//! Bit layout and predicates of the inbox state word.
//!
//! The module documentation of `state` has the diagram.

use crate::inbox::header::{Class, Header};
use crate::inbox::shards::{LAST_EPOCH, MAX_SHARDS};

pub(super) const ASLEEP: usize = 0b001;
pub(super) const WOKEN: usize = 0b010;
pub(super) const DEAF: usize = 0b100;
pub(super) const SIGNAL: usize = 0b1000;
pub(super) const FLAGS: usize = 0b1111;
pub(super) const SHARDS: usize = 1 << 63;
// WHY with `SHARDS`: a push then recognises both by the sign bit.
pub(super) const CLOSED: usize = SHARDS | FLAGS;
pub(super) const COUNT_SHIFT: u32 = 48;
pub(super) const COUNT_MAX: usize = (SHARDS >> COUNT_SHIFT) - 1;
pub(super) const HEADER: usize = ((1 << COUNT_SHIFT) - 1) & !FLAGS;
pub(super) const SINGLE_MASK: usize = (!HEADER).rotate_left(usize::BITS - COUNT_SHIFT);
pub(super) const FIRST_SHARD_BIT: u32 = FLAGS.count_ones();
const _: () = assert!(
    LAST_EPOCH < COUNT_MAX && FIRST_SHARD_BIT as usize + MAX_SHARDS <= COUNT_SHIFT as usize
);

#[inline(always)]
pub(super) fn flags(word: *mut Header) -> usize {
    word.addr() & FLAGS
}

#[inline(always)]
pub(super) fn header(word: *mut Header) -> *mut Header {
    word.map_addr(|addr| addr & HEADER)
}

#[inline(always)]
pub(super) fn count(word: *mut Header) -> usize {
    (word.addr() & !SHARDS) >> COUNT_SHIFT
}

/// Returns the epoch of a sharded word.
#[inline(always)]
pub(super) fn epoch(word: *mut Header) -> usize {
    count(word)
}

/// Returns whether the inbox is sharded. Also `true` for a closed word.
#[inline(always)]
pub(super) fn has_shards(word: *mut Header) -> bool {
    word.addr() & SHARDS != 0
}

#[inline(always)]
pub(super) fn is_closed(word: *mut Header) -> bool {
    word.addr() == CLOSED
}

/// Returns whether the word has no flag, no header and no shard bit.
#[inline(always)]
pub(super) fn is_quiet(word: *mut Header) -> bool {
    word.addr() << (usize::BITS - COUNT_SHIFT) == 0
}

/// Returns whether the word is an open stack whose count can be incremented.
#[inline(always)]
pub(super) fn has_room(word: *mut Header) -> bool {
    // The bit above the count is `SHARDS`, also set in a closed word. No epoch has the greatest
    // number, so the addition cannot overflow there.
    word.addr().wrapping_add(1 << COUNT_SHIFT) & SHARDS == 0
}

/// Returns whether the word has no flag and exactly one header.
#[inline(always)]
pub(super) fn is_single(word: *mut Header) -> bool {
    // WHY the rotation: it makes count and flags adjacent, so the mask is a short immediate.
    word.addr().rotate_left(usize::BITS - COUNT_SHIFT) & SINGLE_MASK == 1
}

/// Returns the flags after a signal of that class has arrived, and whether the arrival wakes.
#[inline(always)]
pub(super) fn arrival(word: *mut Header, class: Class) -> (usize, bool) {
    let old = flags(word);
    let wakes = old & ASLEEP != 0 && (old & DEAF == 0 || class == Class::Signal);
    let news = if class == Class::Signal { SIGNAL } else { 0 };
    (if wakes { old & SIGNAL } else { old } | news, wakes)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;

    // Each predicate on the whole word agrees with the parts of the word.
    #[test]
    fn word_predicates_agree_with_its_parts() {
        for top in 0..1 << (usize::BITS - COUNT_SHIFT) {
            for (flags, header) in
                (0..=FLAGS).flat_map(|flags| [0, HEADER, 0x10].map(|header| (flags, header)))
            {
                let addr = top << COUNT_SHIFT | header | flags;
                let word = ptr::without_provenance_mut(addr);
                assert_eq!(is_quiet(word), header == 0 && flags == 0);
                assert_eq!(is_single(word), top == 1 && flags == 0);
                let room = !has_shards(word) && count(word) < COUNT_MAX;
                // No epoch has this number.
                assert!(has_room(word) == room || top == SHARDS >> COUNT_SHIFT | COUNT_MAX);
            }
        }
    }
}
