//! Which children the end of one concerns.
//!
//! Pure values. Children are known by their [`Key`], and keys are in the order in which the children
//! were first started, so a strategy is a range of keys (G2).

use std::ops::RangeInclusive;

/// A child's place in the order of starting. A child that is restarted keeps its key; no key is
/// used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) u64);

/// Every child there may be.
pub(crate) const ALL: RangeInclusive<Key> = Key(0)..=Key(u64::MAX);

/// OTP's restart strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Only the child that ended is restarted.
    OneForOne,
    /// All others are stopped, then all are started.
    OneForAll,
    /// Those that were started after it are stopped, then it and they are started.
    RestForOne,
    /// As one for one, for children that come and go, are all of one kind and have no ids.
    SimpleOneForOne,
}

impl Strategy {
    /// The children that are stopped, from last to first, and started, from first to last, when
    /// that one is to be restarted.
    pub(crate) fn reach(self, ended: Key) -> RangeInclusive<Key> {
        match self {
            Self::OneForOne | Self::SimpleOneForOne => ended..=ended,
            Self::OneForAll => ALL,
            Self::RestForOne => ended..=*ALL.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Strategy};

    // G2: one for one, one for all, rest for one
    #[test]
    fn a_strategy_reaches_the_children_it_is_named_for() {
        let reached = |strategy: Strategy| -> Vec<u64> {
            let reach = strategy.reach(Key(2));
            (0..5).filter(|key| reach.contains(&Key(*key))).collect()
        };
        assert_eq!(reached(Strategy::OneForOne), [2]);
        assert_eq!(reached(Strategy::SimpleOneForOne), [2]);
        assert_eq!(reached(Strategy::OneForAll), [0, 1, 2, 3, 4]);
        assert_eq!(reached(Strategy::RestForOne), [2, 3, 4]);
    }
}
