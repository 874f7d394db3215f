//! Order of connections by the time for which they have been idle. Pure.
//!
//! Connections update their [`Idle`] state without this table, so a key may be out of date: it is a
//! lower bound of the time of the last message. [`longest_idle`](IdleOrder::longest_idle) corrects
//! the keys that it meets.
//!
//! INVARIANT: `order` and `keys` hold the same connections.
//!
//! COST: a lookup in an ordered map per connection, and one for each key that is corrected: each
//! was made outdated by activity of its connection, so a search costs no more than the activity
//! since the last one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::idle::Idle;

/// Order of connections. Connections without a session come first.
#[derive(Debug, Default)]
pub(crate) struct IdleOrder {
    order: BTreeMap<Key, Arc<Idle>>,
    keys: HashMap<u64, Key>,
}

/// Whether the connection has a session, time of its last message, and its number.
type Key = (bool, u64, u64);

impl IdleOrder {
    /// Adds a connection.
    pub(crate) fn insert(&mut self, number: u64, now: u64, idle: Arc<Idle>) {
        let key = (false, now, number);
        self.keys.insert(number, key);
        self.order.insert(key, idle);
    }

    /// Removes a connection, if it is there.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(key) = self.keys.remove(&number) {
            self.order.remove(&key);
        }
    }

    /// Returns the connection that has been idle longest, at least since `before`, and orders it as
    /// if it had been active now. Returns `None` if no connection qualifies.
    pub(crate) fn longest_idle(&mut self, before: u64, now: u64) -> Option<Arc<Idle>> {
        [false, true].into_iter().find_map(|session| self.longest_idle_of(session, before, now))
    }

    fn longest_idle_of(&mut self, session: bool, before: u64, now: u64) -> Option<Arc<Idle>> {
        loop {
            let first = self.order.range((session, 0, 0)..).next();
            let (&key, idle) = first.filter(|(key, _)| key.0 == session && key.1 <= before)?;
            let found = Arc::clone(idle);
            let (has_session, since) = found.read();
            let idle = since.is_some_and(|since| since <= key.1) && has_session == session;
            // WHY the end: the key of a busy connection is the time of the search that met it.
            if !idle && key.1 >= now && has_session == session {
                return None;
            }
            self.remove(key.2);
            let seen = if idle { now } else { since.unwrap_or(now) };
            let key = (has_session, seen, key.2);
            self.keys.insert(key.2, key);
            self.order.insert(key, Arc::clone(&found));
            if idle {
                return Some(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin::{Exit, Node, Process};

    use super::*;

    #[test]
    fn longest_idle_connection_is_found_without_a_session_first() {
        let node = Node::builder().workers(1).build().expect("a node starts");
        let mut order = IdleOrder::default();
        let all: Vec<_> = (0..4)
            .map(|number| {
                let process = node.spawn(async |mut me: Process<Exit>| drop(me.receive().await));
                let idle = Arc::new(Idle::new(process));
                order.insert(number, 0, Arc::clone(&idle));
                idle
            })
            .collect();
        let at = Duration::from_nanos;
        let mut next = |now| {
            let found = order.longest_idle(now, now)?;
            all.iter().position(|idle| Arc::ptr_eq(idle, &found))
        };
        assert_eq!(next(10), None, "all are busy");
        all[1].waits(at(12));
        all[2].waits(at(11));
        all[3].waits(at(2));
        all[3].has_session();
        assert_eq!((next(20), next(20), next(20)), (Some(2), Some(1), Some(3)));
        all[2].waits(at(25));
        all[1].works();
        assert_eq!((next(30), next(31)), (Some(2), Some(2)), "it has not reacted yet");
        order.remove(2);
        let found = order.longest_idle(32, 32).expect("one with a session is idle");
        assert!(Arc::ptr_eq(&found, &all[3]));
        order.remove(3);
        assert!(order.longest_idle(40, 40).is_none());
        assert_eq!((order.order.len(), order.keys.len()), (2, 2));
        node.stop_blocking();
    }
}
