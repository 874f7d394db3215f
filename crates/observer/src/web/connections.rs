//! Open connections of the page, and the choice of one to close for a new one.
//!
//! A connection that has sent a request with the token is *authenticated*. At the limit, one without the token is closed
//! for a new one: of those of the address with the most of them, the one whose last request is the oldest. If all are
//! authenticated, the new one is rejected. So clients without the token cannot close an authenticated connection, and
//! one that opens many closes its own and not those that other addresses are about to authenticate.
//!
//! INVARIANT: at most `limit` connections are open.
//!
//! COST: a lock and a pass over the connections when one is opened at the limit.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
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
    /// Network of the client.
    origin: IpAddr,
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
    pub(crate) fn open(self: &Arc<Self>, peer: IpAddr) -> Option<Opened> {
        let number = self.tick();
        let connection = Arc::new(Connection {
            origin: origin(peer),
            authenticated: AtomicBool::new(false),
            active_at: AtomicU64::new(number),
            gives_way: Notify::new(),
        });
        let mut open = self.lock();
        if open.len() >= self.limit {
            let dispensable = most_dispensable(&open)?;
            let closed = open.remove(&dispensable)?;
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

/// Returns the connection to close for a new one.
fn most_dispensable(open: &HashMap<u64, Arc<Connection>>) -> Option<u64> {
    // WHY read once: a connection can be authenticated meanwhile.
    let candidates = open.iter().filter(|(_, connection)| !connection.is_authenticated());
    let candidates: Vec<_> = candidates.collect();
    let mut of_origin: HashMap<_, usize> = HashMap::new();
    for (_, connection) in &candidates {
        *of_origin.entry(connection.origin).or_default() += 1;
    }
    let most = candidates.into_iter().max_by_key(|(_, connection)| {
        (of_origin.get(&connection.origin).copied(), Reverse(connection.active_at()))
    });
    most.map(|(&number, _)| number)
}

/// Returns the address, and of an IPv6 address its /64 network, of which one client usually has all addresses.
fn origin(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
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
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    use super::{Connections, origin};

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn connections_of_the_address_with_most_of_them_give_way_first() {
        let connections = Arc::new(Connections::new(4));
        let client = connections.open(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))).expect("room");
        let many: Vec<_> =
            (0..20).map(|_| connections.open(PEER).expect("one gives way")).collect();
        let is_open = |opened: &super::Opened| connections.lock().contains_key(&opened.number);
        assert!(is_open(&client), "it is the oldest, of another address");
        assert_eq!(many.iter().map(is_open).filter(|open| *open).count(), 3);
    }

    #[test]
    fn a_client_is_known_by_its_address_or_its_ipv6_network() {
        let [one, other, mapped, far] =
            ["2001:db8::1", "2001:db8::2", "::ffff:127.0.0.1", "2001:db8:0:1::1"]
                .map(|text| origin(text.parse().expect("an address")));
        assert_eq!((one, mapped), (other, PEER));
        assert_ne!(one, far);
    }

    #[test]
    fn oldest_connection_without_the_token_gives_way_and_authenticated_ones_stay() {
        let connections = Arc::new(Connections::new(3));
        let open = || connections.open(PEER);
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
