//! Connection limits: in total and per address.
//!
//! An acceptor acquires a [`Slot`] before it accepts, so no connection is accepted at the limit,
//! and converts it into a [`Permit`] for the address of the client. The connection process holds
//! the permit; dropping it, however the process ends, frees the slot.
//!
//! INVARIANT: there are never more permits than the limit, nor more for an address than its limit.
//!
//! COST: a lock, held for a lookup, twice per connection.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::counters::Counters;
use crate::connection::limits::Limits;

/// Connection slots and connections per address.
#[derive(Debug)]
pub(crate) struct Permits {
    all: Arc<Semaphore>,
    per_address: usize,
    addresses: Mutex<HashMap<IpAddr, usize>>,
    counters: Arc<Counters>,
}

/// Reserved connection slot.
#[derive(Debug)]
pub(crate) struct Slot(OwnedSemaphorePermit);

/// Permit of an open connection.
#[derive(Debug)]
pub(crate) struct Permit {
    _room: OwnedSemaphorePermit,
    address: IpAddr,
    permits: Arc<Permits>,
}

impl Permits {
    pub(crate) fn new(limits: &Limits, counters: Arc<Counters>) -> Self {
        let connections = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(connections)),
            per_address: limits.per_address,
            addresses: Mutex::default(),
            counters,
        }
    }

    /// Waits for a free connection slot.
    ///
    /// *Cancellation*: dropping the future leaves the wait list.
    pub(crate) async fn acquire_slot(&self) -> Slot {
        let room = Arc::clone(&self.all).acquire_owned().await;
        // WHY: the semaphore is never closed.
        Slot(room.expect("it is open"))
    }

    /// Converts a slot into a permit. Returns the slot if the address has reached its limit.
    pub(crate) fn admit(self: &Arc<Self>, room: Slot, address: IpAddr) -> Result<Permit, Slot> {
        let mut addresses = self.addresses();
        let here = addresses.get(&address).copied().unwrap_or(0);
        if here >= self.per_address {
            drop(addresses);
            self.counters.over_address.add(1);
            return Err(room);
        }
        addresses.insert(address, here + 1);
        drop(addresses);
        self.counters.opened.add(1);
        Ok(Permit { _room: room.0, address, permits: Arc::clone(self) })
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // WHY: no code panics while the lock is held.
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut addresses = self.permits.addresses();
        if let Some(here) = addresses.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                addresses.remove(&self.address);
            }
        }
        drop(addresses);
        self.permits.counters.closed.add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::{Counters, Limits, Permits, Slot};

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

    fn permits(connections: usize, per_address: usize) -> (Arc<Permits>, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        let limits = Limits { connections, per_address, ..Limits::default() };
        (Arc::new(Permits::new(&limits, Arc::clone(&counters))), counters)
    }

    fn room(permits: &Permits) -> Option<Slot> {
        let room = pin!(permits.acquire_slot());
        match room.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(room) => Some(room),
            Poll::Pending => None,
        }
    }

    #[test]
    fn no_slot_is_free_at_the_limit_until_a_connection_closes() {
        let (permits, counters) = permits(2, 9);
        let mut inside: Vec<_> = (0..2)
            .map(|_| permits.admit(room(&permits).expect("there is room"), HERE).expect("admitted"))
            .collect();
        assert!(room(&permits).is_none());
        inside.pop();
        assert!(room(&permits).is_some());
        let counts = counters.read();
        assert_eq!((counts.connections, counts.connections_ever), (1, 2));
    }

    #[test]
    fn address_over_its_limit_returns_the_slot_for_other_addresses() {
        let (permits, counters) = permits(3, 1);
        let one = permits.admit(room(&permits).expect("there is room"), HERE).expect("admitted");
        let refused = permits.admit(room(&permits).expect("there is room"), HERE);
        let room_again = refused.expect_err("its address has one");
        let other = permits.admit(room_again, THERE).expect("admitted");
        assert_eq!((counters.read().over_address, counters.read().connections), (1, 2));
        drop((one, other));
        assert!(permits.addresses().is_empty(), "an address that left is forgotten");
        assert_eq!(counters.read().connections, 0);
    }
}
