//! Order of connections by the time for which they have been idle. Pure.
//!
//! A [ranked](IdleOrder::ranked) order has connections without a session first, then those with one.
//! A connection on which no message has started comes last for [`GRACE`]: otherwise new connections
//! would close each other before their clients have sent anything, where all others have sessions.
//! If more than an eighth of all connections is new in this way, those with a session come last: many
//! new connections must not close them.
//!
//! Connections update their [`Idle`] state without this table, so a key may be out of date: it is a
//! lower bound of the time of the last message. [`longest_idle`](IdleOrder::longest_idle) corrects
//! the keys that it meets.
//!
//! INVARIANT: `order` and `keys` hold the same connections; `new` is how many of their keys have the
//! rank [`Rank::New`].
//!
//! COST: a lookup in an ordered map per connection, and one for each key that is corrected: each
//! was made outdated by activity of its connection, so a search costs no more than the activity
//! since the last one, and examines at most [`BUSY`] busy connections. If it meets that many, the
//! next search continues behind them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::idle::{Idle, Rank};

/// How long a connection counts as new at most, in nanoseconds.
const GRACE: u64 = Duration::from_secs(1).as_nanos() as u64;
/// Maximum number of busy connections examined in a search.
const BUSY: usize = 256;

/// Order of connections.
#[derive(Debug, Default)]
pub(crate) struct IdleOrder {
    order: BTreeMap<Key, Arc<Idle>>,
    keys: HashMap<u64, Key>,
    new: usize,
    ranked: bool,
}

/// Rank of the connection, time of its last message, and its number.
type Key = (Rank, u64, u64);

impl IdleOrder {
    /// Returns an empty order by rank and time.
    pub(crate) fn ranked() -> Self {
        Self { ranked: true, ..Self::default() }
    }

    /// Returns the number of connections.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds a connection.
    pub(crate) fn insert(&mut self, number: u64, now: u64, idle: Arc<Idle>) {
        let key = (self.rank_of(&idle), now, number);
        self.new += usize::from(key.0 == Rank::New);
        self.keys.insert(number, key);
        self.order.insert(key, idle);
    }

    /// Removes a connection, if it is there.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Arc<Idle>> {
        let key = self.keys.remove(&number)?;
        self.new -= usize::from(key.0 == Rank::New);
        self.order.remove(&key)
    }

    /// Returns the connection that has been idle longest, at least since `before`, and orders it as
    /// if it had been active now. Returns `None` if no connection qualifies.
    pub(crate) fn longest_idle(&mut self, before: u64, now: u64) -> Option<Arc<Idle>> {
        while let Some((&key, idle)) = self.first_of(Rank::New, now.saturating_sub(GRACE)) {
            idle.is_not_new();
            self.reorder(key.2, key.1);
        }
        let mut busy = 0;
        while busy < BUSY {
            let ranks = if self.new > (self.keys.len() / 8).max(1) {
                [Rank::NoSession, Rank::New, Rank::Session]
            } else {
                [Rank::NoSession, Rank::Session, Rank::New]
            };
            // WHY from the first rank each time: a corrected key may have moved to an earlier one.
            let (&key, idle) = ranks.into_iter().find_map(|rank| self.first_of(rank, before))?;
            // WHY at most now: a connection without a session that was active after the search began
            // still comes before one with a session.
            let (since, idle) = (idle.since().map(|since| since.min(now)), Arc::clone(idle));
            let is_idle = self.rank_of(&idle) == key.0 && since.is_some_and(|since| since <= key.1);
            if is_idle {
                self.reorder(key.2, now);
                return Some(idle);
            }
            busy += usize::from(since.is_none());
            // WHY later than now: this search must not meet a busy connection again.
            self.reorder(key.2, since.unwrap_or(now + 1));
        }
        None
    }

    fn rank_of(&self, idle: &Idle) -> Rank {
        if self.ranked { idle.rank() } else { Rank::NoSession }
    }

    /// Returns the first connection of this rank, if its key is not later than `before`.
    fn first_of(&self, rank: Rank, before: u64) -> Option<(&Key, &Arc<Idle>)> {
        let first = self.order.range((rank, 0, 0)..).next();
        first.filter(|(key, _)| key.0 == rank && key.1 <= before)
    }

    /// Orders a connection by its present rank and this time.
    fn reorder(&mut self, number: u64, time: u64) {
        if let Some(idle) = self.remove(number) {
            self.insert(number, time, idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use purlin::{Exit, Node, Process};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Connections that stand for those of a server, in an order.
    struct Connections {
        node: Node,
        all: Vec<Arc<Idle>>,
        order: IdleOrder,
    }

    impl Connections {
        fn new() -> Self {
            let node = Node::builder().workers(1).build().expect("a node starts");
            Self { node, all: Vec::new(), order: IdleOrder::ranked() }
        }

        /// Adds connections that are accepted now.
        fn accept(&mut self, count: usize, now: u64) {
            for _ in 0..count {
                let process =
                    self.node.spawn(async |mut me: Process<Exit>| drop(me.receive().await));
                let idle = Arc::new(Idle::new(process));
                self.order.insert(self.all.len() as u64, now, Arc::clone(&idle));
                self.all.push(idle);
            }
        }

        /// Publishes that a connection waits, and that its last message is of this time.
        fn waits(&self, which: usize, since: u64) {
            self.all[which].is_not_new();
            self.all[which].waits(Duration::from_nanos(since));
        }

        fn next(&mut self, now: u64) -> Option<usize> {
            let found = self.order.longest_idle(now, now)?;
            self.all.iter().position(|idle| Arc::ptr_eq(idle, &found))
        }
    }

    impl Drop for Connections {
        fn drop(&mut self) {
            self.node.stop_blocking();
        }
    }

    #[test]
    fn longest_idle_connection_is_found_without_a_session_first() {
        let mut connections = Connections::new();
        connections.accept(4, 0);
        assert_eq!(connections.next(SECOND), None, "all are busy");
        connections.waits(1, 3 * SECOND / 2 + 2);
        connections.waits(2, 3 * SECOND / 2 + 1);
        connections.waits(3, 2);
        connections.all[3].has_session();
        let found = [2, 3, 4].map(|at| connections.next(at * SECOND));
        assert_eq!(found, [Some(2), Some(1), Some(2)], "the first has not reacted yet");
        connections.waits(2, 5 * SECOND);
        connections.all[1].works();
        assert_eq!(connections.next(6 * SECOND), Some(2));
        connections.order.remove(2);
        assert_eq!(connections.next(7 * SECOND), Some(3), "one with a session is idle");
        connections.order.remove(3);
        assert_eq!(connections.next(8 * SECOND), None);
        assert_eq!((connections.order.order.len(), connections.order.keys.len()), (2, 2));
    }

    #[test]
    fn search_continues_behind_the_busy_connections_of_the_last_one() {
        let mut connections = Connections::new();
        connections.accept(BUSY + 1, 0);
        connections.waits(BUSY, 0);
        assert_eq!(connections.next(SECOND), None);
        assert_eq!(connections.next(2 * SECOND), Some(BUSY));
    }

    #[test]
    fn connections_whose_rank_is_corrected_come_before_one_with_a_session() {
        let mut connections = Connections::new();
        connections.accept(4, 0);
        connections.waits(0, 1);
        connections.all[0].has_session();
        // They were new when they were accepted, and have sent a message since.
        for which in 1..4 {
            connections.waits(which, 2 + which as u64);
        }
        let found = [10, 11, 12].map(|at| connections.next(at));
        assert_eq!(found, [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn connection_that_was_active_after_the_search_began_comes_before_one_with_a_session() {
        let mut connections = Connections::new();
        connections.accept(2, 0);
        connections.waits(0, 1);
        connections.all[0].has_session();
        connections.waits(1, 11);
        assert_eq!(connections.next(10), Some(1));
    }

    #[test]
    fn order_without_ranks_is_by_time_only() {
        let mut connections = Connections::new();
        connections.order = IdleOrder::default();
        connections.accept(2, 0);
        connections.waits(0, 1);
        connections.all[0].has_session();
        connections.waits(1, 2);
        assert_eq!(connections.next(SECOND), Some(0));
    }

    #[test]
    fn new_connection_stays_where_all_others_have_sessions_unless_many_are_new() {
        let mut connections = Connections::new();
        connections.accept(16, 0);
        for which in 0..16 {
            connections.waits(which, SECOND + which as u64);
            connections.all[which].has_session();
        }
        let now = 10 * SECOND;
        connections.accept(1, now);
        connections.all[16].waits(Duration::from_nanos(now));
        assert_eq!(connections.next(now + 1), Some(0));
        assert_eq!(connections.next(now + GRACE), Some(16), "it has sent nothing for a second");
        connections.order.remove(16);
        let now = 20 * SECOND;
        connections.accept(3, now);
        for which in 17..20 {
            connections.all[which].waits(Duration::from_nanos(now));
        }
        assert_eq!(connections.next(now + 1), Some(17), "many are new");
        connections.order.remove(17);
        assert_eq!(connections.next(now + 2), Some(1));
    }
}
