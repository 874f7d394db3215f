//! Connection limits: in total and per address.
//!
//! An acceptor acquires a [`Slot`] before it accepts, so no connection is accepted at the limit,
//! and converts it into a [`Permit`] for the address of the client. The connection process holds
//! the permit; dropping it, however the process ends, frees the slot. At the limit, an acceptor
//! with a client in the accept queue has the connection that has been idle longest
//! [give way](Permits::make_room).
//!
//! INVARIANT: there are never more permits than the limit, nor more for an address than its limit.
//!
//! COST: a lock, held for a lookup, three times per connection.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::{Exit, Pid};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::close_reason::CloseReason;
use crate::connection::counters::Counters;
use crate::connection::idle::{Idle, nanoseconds};
use crate::connection::idle_order::IdleOrder;
use crate::connection::limits::Limits;
use crate::connection::timeout::now;

/// Connection slots and connections per address.
#[derive(Debug)]
pub(crate) struct Permits {
    slots: Arc<Semaphore>,
    connections: usize,
    per_address: usize,
    open: Mutex<Open>,
    counters: Arc<Counters>,
}

/// Open connections.
#[derive(Debug, Default)]
struct Open {
    addresses: HashMap<IpAddr, usize>,
    idle: IdleOrder,
    /// Number of the next connection.
    next: u64,
}

/// Reserved connection slot.
#[derive(Debug)]
pub(crate) struct Slot(OwnedSemaphorePermit);

/// Permit of an open connection.
#[derive(Debug)]
pub(crate) struct Permit {
    _slot: OwnedSemaphorePermit,
    address: IpAddr,
    number: u64,
    permits: Arc<Permits>,
}

impl Permits {
    pub(crate) fn new(limits: &Limits, counters: Arc<Counters>) -> Self {
        let connections = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            slots: Arc::new(Semaphore::new(connections)),
            connections,
            per_address: limits.per_address,
            open: Mutex::new(Open { idle: IdleOrder::ranked(), ..Open::default() }),
            counters,
        }
    }

    /// Waits for a free connection slot.
    ///
    /// *Cancellation*: dropping the future leaves the wait list.
    pub(crate) async fn acquire_slot(&self) -> Slot {
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        // WHY: the semaphore is never closed.
        Slot(slot.expect("it is open"))
    }

    /// Asks the connection that has been idle longest to end, if the limit is reached and one is
    /// idle. The caller has a new connection to accept.
    pub(crate) fn make_room(&self) {
        let idle = {
            let mut open = self.open();
            // WHY registered ones: a connection whose process has not started yet cannot be asked, and
            // one with a session must not give way in its place.
            if open.idle.len() < self.connections {
                return;
            }
            let now = nanoseconds(now());
            open.idle.longest_idle(now, now)
        };
        if let Some(idle) = idle {
            idle.end(CloseReason::GaveWay);
        }
    }

    /// Converts a slot into a permit. Returns the slot if the address has reached its limit.
    pub(crate) fn admit(self: &Arc<Self>, slot: Slot, address: IpAddr) -> Result<Permit, Slot> {
        let address = network(address);
        let mut open = self.open();
        let here = open.addresses.get(&address).copied().unwrap_or(0);
        if here >= self.per_address {
            drop(open);
            self.counters.over_address.add(1);
            return Err(slot);
        }
        open.addresses.insert(address, here + 1);
        open.next += 1;
        let number = open.next;
        drop(open);
        self.counters.opened.add(1);
        Ok(Permit { _slot: slot.0, address, number, permits: Arc::clone(self) })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // WHY: no code panics while the lock is held.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Registers the process of the connection, which may be asked to give way from now on.
    pub(crate) fn register(&self, process: Pid<Exit>) -> Arc<Idle> {
        let idle = Arc::new(Idle::new(process));
        let now = nanoseconds(now());
        self.permits.open().idle.insert(self.number, now, Arc::clone(&idle));
        idle
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.permits.open();
        open.idle.remove(self.number);
        if let Some(here) = open.addresses.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                open.addresses.remove(&self.address);
            }
        }
        drop(open);
        self.permits.counters.closed.add(1);
    }
}

/// Returns the address that is limited: one client of IPv6 has a whole /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::{Counters, Limits, Permits, Slot, network};

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

    fn permits(connections: usize, per_address: usize) -> (Arc<Permits>, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        let limits = Limits { connections, per_address, ..Limits::default() };
        (Arc::new(Permits::new(&limits, Arc::clone(&counters))), counters)
    }

    fn try_slot(permits: &Permits) -> Option<Slot> {
        let slot = pin!(permits.acquire_slot());
        match slot.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    #[test]
    fn no_slot_is_free_at_the_limit_until_a_connection_closes() {
        let (permits, counters) = permits(2, 9);
        let mut inside: Vec<_> = (0..2)
            .map(|_| {
                permits.admit(try_slot(&permits).expect("a slot is free"), HERE).expect("admitted")
            })
            .collect();
        assert!(try_slot(&permits).is_none());
        inside.pop();
        assert!(try_slot(&permits).is_some());
        let counts = counters.read();
        assert_eq!((counts.connections, counts.connections_ever), (1, 2));
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::"));
        assert_ne!(of("2001:db8:1:2::"), of("2001:db8:1:3::"));
        assert_eq!(of("::ffff:127.0.0.1"), HERE);
        assert_ne!(of("127.0.0.2"), HERE);
    }

    #[test]
    fn address_over_its_limit_returns_the_slot_for_other_addresses() {
        let (permits, counters) = permits(3, 1);
        let one =
            permits.admit(try_slot(&permits).expect("a slot is free"), HERE).expect("admitted");
        let refused = permits.admit(try_slot(&permits).expect("a slot is free"), HERE);
        let slot = refused.expect_err("its address has one");
        let other = permits.admit(slot, THERE).expect("admitted");
        assert_eq!((counters.read().over_address, counters.read().connections), (1, 2));
        drop((one, other));
        assert!(permits.open().addresses.is_empty(), "an address that left is forgotten");
        assert_eq!(counters.read().connections, 0);
    }
}
