//! Length of a stack whose word has too few bits for it.
//!
//! If the count in the word is at its maximum, a push carries [`PORTION`] of it to a counter with the
//! shards. Most pushes do not access that counter. The length is the sum of both, and wrong by one
//! portion while a sender is between its push and its addition.

/// Part of a full count that is carried.
/// WHY 64: a sender that is preempted leaves the length wrong by 0.2 percent at most, and the push
/// that carries, 25 instructions longer, is one of 64. An addition for every push cost `fork-join` 5
/// of 55 ns.
pub(super) const PORTION: usize = if cfg!(loom) { 2 } else { 64 };

/// Returns the count of a word after another push, and what the push carries.
#[inline(always)]
pub(super) const fn add_one(count: usize, max: usize) -> (usize, usize) {
    if count < max { (count + 1, 0) } else { (max + 1 - PORTION, PORTION) }
}

/// Returns the sum of what the pushes onto a stack have carried.
pub(super) const fn carried(len: usize, max: usize) -> usize {
    len.saturating_sub(max).next_multiple_of(PORTION)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_count_and_what_is_carried_make_up_the_length() {
        for max in [PORTION + 1, 100, 32_767] {
            let (mut count, mut sum) = (0, 0);
            for len in 0..5 * max {
                assert_eq!((count + sum, sum), (len, carried(len, max)));
                assert!(len < 2 || count > 1, "only a single header has the count of one");
                let (next, more) = add_one(count, max);
                assert!(next <= max);
                (count, sum) = (next, sum + more);
            }
        }
    }
}
