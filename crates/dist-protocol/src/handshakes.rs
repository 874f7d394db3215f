//! Table of incoming handshakes in progress, or of requests to an epmd: bounded overall and per address.
//!
//! A new connection is always accepted. If there are too many, it takes the place of another one: of the oldest whose
//! peer has not sent a valid name, or of the oldest if all have. So silent connections keep no node out, and those of
//! one address affect no other address. Addresses of IPv6 count by their network of 64 bits.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use tokio::task::{AbortHandle, JoinSet};
use tracing::warn;

use crate::name::NodeName;

/// Maximum number of concurrent handshakes.
const MAX_HANDSHAKES: usize = 512;

/// Maximum number of concurrent handshakes with one address.
const MAX_PER_ADDRESS: usize = 128;

/// Handshakes in progress, whose tasks return `T`. Dropping it cancels them.
#[derive(Debug)]
pub(crate) struct Handshakes<T> {
    tasks: JoinSet<T>,
    /// The handshakes, oldest first, including those dropped whose tasks have not ended yet.
    all: Vec<Handshake>,
}

#[derive(Debug)]
struct Handshake {
    from: IpAddr,
    /// The name of the peer, once it has sent a valid one and was not refused.
    caller: Arc<OnceLock<NodeName>>,
    task: AbortHandle,
    dropped: bool,
}

impl<T: Send + 'static> Handshakes<T> {
    pub(crate) fn new() -> Self {
        Self { tasks: JoinSet::new(), all: Vec::new() }
    }

    /// Whether another handshake may start now. `false` while the task of a dropped one has not ended.
    pub(crate) fn has_place(&self) -> bool {
        self.tasks.len() <= MAX_HANDSHAKES
    }

    /// Starts a handshake, which stores the name of its peer. Returns whether another one was dropped for it.
    pub(crate) fn start<F>(
        &mut self,
        from: IpAddr,
        handshake: impl FnOnce(Arc<OnceLock<NodeName>>) -> F,
    ) -> bool
    where
        F: Future<Output = T> + Send + 'static,
    {
        let from = network(from);
        let open = self.all.iter().filter(|other| !other.dropped);
        let of_address = open.clone().filter(|other| other.from == from).count();
        let is_full = open.count() >= MAX_HANDSHAKES;
        let dropped = if of_address >= MAX_PER_ADDRESS {
            self.drop_oldest(|other| other.from == from)
        } else {
            is_full && self.drop_oldest(|_| true)
        };
        let caller = Arc::default();
        let task = self.tasks.spawn(handshake(Arc::clone(&caller)));
        self.all.push(Handshake { from, caller, task, dropped: false });
        dropped
    }

    fn drop_oldest(&mut self, is_one: impl Fn(&Handshake) -> bool) -> bool {
        let open = self.all.iter_mut().filter(|other| !other.dropped && is_one(other));
        // Of equal ones the first, which is the oldest.
        let oldest = open.min_by_key(|other| other.caller.get().is_some());
        let Some(oldest) = oldest else { return false };
        oldest.dropped = true;
        oldest.task.abort();
        true
    }

    /// Waits for the end of a handshake. Returns the result of its task or, if it was dropped or has panicked, the name
    /// that its peer had sent. Never returns if no handshake is in progress.
    ///
    /// *Cancellation*: no outcome is lost.
    pub(crate) async fn next(&mut self) -> Result<T, Option<NodeName>> {
        let Some(ended) = self.tasks.join_next_with_id().await else {
            return std::future::pending().await;
        };
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let index = self.all.iter().position(|one| one.task.id() == id);
        let handshake = index.map(|index| self.all.remove(index));
        ended.map(|(_, result)| result).map_err(|error| {
            if error.is_panic() {
                warn!("a handshake has panicked");
            }
            handshake.and_then(|one| one.caller.get().cloned())
        })
    }
}

/// The address that connections are counted by.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[tokio::test]
    async fn silent_handshakes_of_one_address_are_dropped_oldest_first_and_no_others() {
        let mut all = Handshakes::<()>::new();
        let (own, other) = (address("10.0.0.1"), address("10.0.0.2"));
        let named = |caller: Arc<OnceLock<NodeName>>| {
            let _ = caller.set("a@h".parse().expect("a name"));
            pending()
        };
        assert!(!all.start(own, named));
        assert!(!all.start(other, |_| pending()));
        for _ in 1..MAX_PER_ADDRESS {
            assert!(!all.start(own, |_| pending()));
        }
        for _ in 1..MAX_PER_ADDRESS {
            assert!(all.start(own, |_| pending()));
            assert!(matches!(all.next().await, Err(None)));
        }
        let open: Vec<_> = all.all.iter().filter(|one| !one.dropped).collect();
        assert!(open[0].caller.get().is_some(), "it has sent its name");
        assert_eq!(open[1].from, other);
    }

    #[tokio::test]
    async fn number_of_handshakes_is_bounded_and_the_name_of_a_dropped_one_is_returned() {
        let mut all = Handshakes::<()>::new();
        let name: NodeName = "a@h".parse().expect("a name");
        for number in 0..MAX_HANDSHAKES {
            let from = IpAddr::from([10, 1, (number / 100) as u8, (number % 100) as u8]);
            let name = name.clone();
            assert!(!all.start(from, move |caller| {
                let _ = caller.set(name);
                pending()
            }));
        }
        assert!(all.has_place());
        assert!(all.start(address("10.2.0.1"), |_| pending()));
        assert!(!all.has_place(), "until the task of the oldest has ended");
        assert!(matches!(all.next().await, Err(Some(dropped)) if dropped == name));
        assert!(all.has_place());
    }

    #[tokio::test]
    async fn handshake_that_panics_frees_its_place_and_its_name() {
        let mut all = Handshakes::<()>::new();
        let name: NodeName = "a@h".parse().expect("a name");
        let other = name.clone();
        all.start(address("::1"), move |caller| async move {
            let _ = caller.set(other);
            panic!("a fault in a handshake");
        });
        assert!(matches!(all.next().await, Err(Some(dropped)) if dropped == name));
        assert!(all.all.is_empty() && all.tasks.is_empty());
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:1:2:3")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:0:1::1")));
        assert_eq!(network(address("::ffff:10.0.0.1")), address("10.0.0.1"));
    }
}
