//! Bit layout and predicates of the inbox state word.
//!
//! The module documentation of `head` has the diagram.

use crate::lanes::{LAST_ERA, MOST};
use crate::link::{Class, Link};

pub(super) const ASLEEP: usize = 0b001;
pub(super) const WOKEN: usize = 0b010;
pub(super) const DEAF: usize = 0b100;
pub(super) const SIGNAL: usize = 0b1000;
pub(super) const FLAGS: usize = 0b1111;
pub(super) const LANES: usize = 1 << 63;
// WHY with LANES: a push then recognises both by the sign bit.
pub(super) const CLOSED: usize = LANES | FLAGS;
pub(super) const COUNT_SHIFT: u32 = 48;
pub(super) const COUNT_MAX: usize = (LANES >> COUNT_SHIFT) - 1;
pub(super) const LINK: usize = ((1 << COUNT_SHIFT) - 1) & !FLAGS;
pub(super) const LONE_MASK: usize = (!LINK).rotate_left(usize::BITS - COUNT_SHIFT);
pub(super) const FIRST_LANE: u32 = FLAGS.count_ones();
const _: () = assert!(LAST_ERA < COUNT_MAX && FIRST_LANE as usize + MOST <= COUNT_SHIFT as usize);

#[inline(always)]
pub(super) fn flags(word: *mut Link) -> usize {
    word.addr() & FLAGS
}

#[inline(always)]
pub(super) fn link(word: *mut Link) -> *mut Link {
    word.map_addr(|addr| addr & LINK)
}

#[inline(always)]
pub(super) fn count(word: *mut Link) -> usize {
    (word.addr() & !LANES) >> COUNT_SHIFT
}

/// Returns the epoch of a sharded word.
#[inline(always)]
pub(super) fn era(word: *mut Link) -> usize {
    count(word)
}

/// Returns whether the inbox is sharded. Also `true` for a closed word.
#[inline(always)]
pub(super) fn has_lanes(word: *mut Link) -> bool {
    word.addr() & LANES != 0
}

#[inline(always)]
pub(super) fn is_closed(word: *mut Link) -> bool {
    word.addr() == CLOSED
}

/// Returns whether the word has no flag, no header and no shard bit.
#[inline(always)]
pub(super) fn is_quiet(word: *mut Link) -> bool {
    word.addr() << (usize::BITS - COUNT_SHIFT) == 0
}

/// Returns whether the word is an open stack whose count can be incremented.
#[inline(always)]
pub(super) fn has_room(word: *mut Link) -> bool {
    // The bit above the count is `LANES`, also set in a closed word. No epoch has the greatest
    // number, so the addition cannot overflow there.
    word.addr().wrapping_add(1 << COUNT_SHIFT) & LANES == 0
}

/// Returns whether the word has no flag and exactly one header.
#[inline(always)]
pub(super) fn is_lone(word: *mut Link) -> bool {
    // WHY the rotation: it makes count and flags adjacent, so the mask is a short immediate.
    word.addr().rotate_left(usize::BITS - COUNT_SHIFT) & LONE_MASK == 1
}

/// Returns the flags after a signal of that class has arrived, and whether the arrival wakes.
#[inline(always)]
pub(super) fn arrival(word: *mut Link, class: Class) -> (usize, bool) {
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
            for (flags, link) in
                (0..=FLAGS).flat_map(|flags| [0, LINK, 0x10].map(|link| (flags, link)))
            {
                let addr = top << COUNT_SHIFT | link | flags;
                let word = ptr::without_provenance_mut(addr);
                assert_eq!(is_quiet(word), link == 0 && flags == 0);
                assert_eq!(is_lone(word), top == 1 && flags == 0);
                let room = !has_lanes(word) && count(word) < COUNT_MAX;
                // No epoch has this number.
                assert!(has_room(word) == room || top == LANES >> COUNT_SHIFT | COUNT_MAX);
            }
        }
    }
}
