//! Restart strategies: which children are restarted when one ends.
//!
//! Pure values. A child is identified by its [`Key`]. Keys ascend in the order in which the
//! children were first started, so the children that a strategy affects form a range of keys (G2).

use std::ops::RangeInclusive;

/// Position of a child in the start order. A restarted child keeps its key; keys are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) u64);

/// Range of all keys.
pub(crate) const ALL: RangeInclusive<Key> = Key(0)..=Key(u64::MAX);

/// OTP's restart strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Restarts only the child that ended.
    OneForOne,
    /// Stops all other children, then starts all.
    OneForAll,
    /// Stops the children started after the one that ended, then starts it and them.
    RestForOne,
    /// Like `OneForOne`, for children that are started dynamically from one template and have no
    /// ids.
    SimpleOneForOne,
}

impl Strategy {
    /// Returns the range of children that are stopped, in reverse order, and started, in order,
    /// when the child with key `ended` is restarted.
    pub(crate) fn reach(self, ended: Key) -> RangeInclusive<Key> {
        match self {
            Self::OneForOne | Self::SimpleOneForOne => ended..=ended,
            Self::OneForAll => ALL,
            Self::RestForOne => ended..=*ALL.end(),
        }
    }

    /// Returns whether the restart of a child stops other children.
    pub(crate) fn stops_others(self) -> bool {
        matches!(self, Self::OneForAll | Self::RestForOne)
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Strategy};

    // G2: one for one, one for all, rest for one
    #[test]
    fn strategy_selects_the_children_to_restart() {
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
