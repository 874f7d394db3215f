//! Open connections of the page, and the choice of one to close for a new one.
//!
//! A connection that has sent a request with the token is *authenticated*. At the limit, the connection without the
//! token whose last request is the oldest is closed for a new one; if all are authenticated, the new one is rejected.
//! So clients without the token cannot keep others out.
//!
//! INVARIANT: at most `limit` connections are open.
//!
//! COST: a lock and a pass over the connections when one is opened at the limit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The open connections.
pub(crate) struct Connections {
    limit: usize,
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    /// Number of requests and connections so far: the time by which activity is ordered.
    time: AtomicU64,
}

/// State of a connection, shared with the requests on it.
pub(crate) struct Connection {
    authenticated: AtomicBool,
    active_at: AtomicU64,
    gives_way: Notify,
}

/// An open connection, until it is dropped.
pub(crate) struct Opened {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, open: Mutex::default(), time: AtomicU64::new(0) }
    }

    /// Opens a connection, if necessary in place of another one. Returns `None` if all are authenticated.
    pub(crate) fn open(self: &Arc<Self>) -> Option<Opened> {
        let number = self.tick();
        let connection = Arc::new(Connection {
            authenticated: AtomicBool::new(false),
            active_at: AtomicU64::new(number),
            gives_way: Notify::new(),
        });
        let mut open = self.lock();
        if open.len() >= self.limit {
            let candidates = open.iter().filter(|(_, other)| !other.is_authenticated());
            let (&oldest, _) = candidates.min_by_key(|(_, other)| other.active_at())?;
            let closed = open.remove(&oldest)?;
            closed.gives_way.notify_one();
        }
        open.insert(number, Arc::clone(&connection));
        drop(open);
        Some(Opened { connections: Arc::clone(self), number, connection })
    }

    // ORDER: relaxed, here and below: the values publish no other data.
    fn tick(&self) -> u64 {
        self.time.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        // WHY: no code panics while the lock is held.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Records that a request on this connection had the token.
    pub(crate) fn authenticate(&self) {
        self.authenticated.store(true, Ordering::Relaxed);
    }

    /// Waits until the connection has to be closed for a new one.
    pub(crate) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }

    fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }

    fn active_at(&self) -> u64 {
        self.active_at.load(Ordering::Relaxed)
    }
}

impl Opened {
    /// Records that a request has arrived.
    pub(crate) fn touch(&self) {
        self.connection.active_at.store(self.connections.tick(), Ordering::Relaxed);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Connections;

    #[test]
    fn oldest_connection_without_the_token_gives_way_and_authenticated_ones_stay() {
        let connections = Arc::new(Connections::new(3));
        let open = || connections.open();
        let [first, second, third] = [open(), open(), open()].map(|opened| opened.expect("room"));
        first.connection.authenticate();
        second.touch();
        let is_open = |opened: &super::Opened| connections.lock().contains_key(&opened.number);
        let fourth = open().expect("the third gives way");
        assert!(is_open(&first) && is_open(&second) && !is_open(&third));
        let fifth = open().expect("the second gives way");
        assert!(!is_open(&second) && is_open(&fourth));
        for opened in [&fourth, &fifth] {
            opened.connection.authenticate();
        }
        assert!(open().is_none(), "all have the token");
        drop(fourth);
        assert!(open().is_some());
    }
}
