//! Session table: the position of each client of `best`, for a bounded number of clients. Pure.
//!
//! A server has one table for all connections; the owner opens sessions in it and records answers.
//! Reads no clock. If the table is full, the least recently active client is evicted and stays so
//! until it opens a session again. An evicted client counts as unknown, which is always safe: it
//! resends messages, and they are handled again.
//!
//! INVARIANT: within an epoch the newest answered message only grows, and the epoch of a client
//! only grows. The table claims only answers that were recorded.
//!
//! COST: one hash table lookup per call. The table is allocated for all clients up front; each
//! message refused within a window takes another 16 bytes.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;

use lru::LruCache;

use crate::wire::Refusal;

/// Session table: the newest answered message of each client, and the refusals that the client may
/// have missed.
///
/// ```
/// use std::num::NonZeroUsize;
/// use purlin_ack::session_table::SessionTable;
///
/// let mut table = SessionTable::new(NonZeroUsize::new(10_000).unwrap(), 4096);
/// let client = *b"sixteen letters!";
/// assert_eq!(table.open(client, 1).unwrap().newest, None);
/// table.acked(client, 1, 41);
/// // The connection was lost, and the client reconnects.
/// assert_eq!(table.open(client, 1).unwrap().newest, Some(41));
/// // The client restarts and numbers its messages from 0.
/// assert_eq!(table.open(client, 2).unwrap().newest, None);
/// assert!(table.open(client, 1).is_err());
/// ```
#[derive(Debug)]
pub struct SessionTable {
    clients: LruCache<[u8; 16], Client>,
    window: u32,
    forgotten: u64,
}

#[derive(Debug, Default)]
struct Client {
    epoch: u64,
    newest: Option<u64>,
    refused: VecDeque<Refusal>,
}

/// Position of a client, sent when it opens a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// All messages of the epoch up to this one have been answered.
    pub newest: Option<u64>,
    /// Refused messages among them, within the last window.
    pub refused: Vec<Refusal>,
}

impl SessionTable {
    /// Creates a table for at most `clients` clients, with sessions of this window.
    #[must_use]
    pub fn new(clients: NonZeroUsize, window: u32) -> Self {
        Self { clients: LruCache::new(clients), window, forgotten: 0 }
    }

    /// Opens a session and returns the position of the client. All older epochs are forgotten.
    ///
    /// To load the stored position of a client, open its session and then record its refusals and
    /// its newest message, in the order of their ids.
    ///
    /// # Errors
    /// Returns [`Stale`] if a later epoch of the client is known.
    pub fn open(&mut self, client: [u8; 16], epoch: u64) -> Result<Known, Stale> {
        match self.clients.get_mut(&client) {
            Some(known) if epoch < known.epoch => Err(Stale { epoch, known: known.epoch }),
            Some(known) if epoch == known.epoch => {
                Ok(Known { newest: known.newest, refused: known.refused.iter().copied().collect() })
            }
            _ => {
                let new = Client { epoch, ..Client::default() };
                let gone = self.clients.push(client, new);
                self.forgotten += u64::from(gone.is_some_and(|(gone, _)| gone != client));
                Ok(Known::default())
            }
        }
    }

    /// Records that all messages of the epoch up to `newest` are acknowledged, except the refused
    /// ones.
    ///
    /// Returns whether this was recorded. Returns `false` if the client was evicted since it opened
    /// the session, or if the epoch is over.
    pub fn acked(&mut self, client: [u8; 16], epoch: u64, newest: u64) -> bool {
        self.answered(client, epoch, newest, None)
    }

    /// Records that this message is refused and all earlier ones are answered. Returns the same as
    /// [`acked`](Self::acked).
    pub fn refused(&mut self, client: [u8; 16], epoch: u64, refusal: Refusal) -> bool {
        self.answered(client, epoch, refusal.id, Some(refusal))
    }

    /// Returns the number of clients in the table.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Returns the number of clients evicted from the full table.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    fn answered(
        &mut self,
        id: [u8; 16],
        epoch: u64,
        newest: u64,
        refusal: Option<Refusal>,
    ) -> bool {
        let window = u64::from(self.window);
        let Some(client) = self.clients.get_mut(&id).filter(|client| client.epoch == epoch) else {
            return false;
        };
        if client.newest.is_some_and(|known| known >= newest) {
            return true;
        }
        client.newest = Some(newest);
        client.refused.extend(refusal);
        // WHY: a client that respects its window has read all answers before that many messages.
        while client.refused.front().is_some_and(|oldest| newest - oldest.id >= window) {
            client.refused.pop_front();
        }
        true
    }
}

/// Error of a session opened with an epoch older than the known one: the client has restarted
/// since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Requested epoch.
    pub epoch: u64,
    /// Known epoch.
    pub known: u64,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {} of a client whose epoch {} is known", self.epoch, self.known)
    }
}

impl std::error::Error for Stale {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::wire::Reason;

    fn remembered(clients: usize, window: u32) -> SessionTable {
        SessionTable::new(NonZeroUsize::new(clients).expect("some clients"), window)
    }

    fn refusal(id: u64) -> Refusal {
        Refusal { id, reason: Reason::NOT_TAKEN }
    }

    #[test]
    fn least_recently_active_client_is_evicted_until_it_opens_again() {
        let mut memory = remembered(2, 10);
        for client in [1, 2] {
            memory.open([client; 16], 0).unwrap();
        }
        assert!(memory.acked([1; 16], 0, 5));
        memory.open([3; 16], 0).unwrap();
        assert_eq!((memory.clients(), memory.forgotten()), (2, 1));
        assert!(!memory.acked([2; 16], 0, 7));
        assert_eq!(memory.open([1; 16], 0).unwrap().newest, Some(5));
        assert_eq!(memory.open([2; 16], 0), Ok(Known::default()));
    }

    #[test]
    fn answers_of_an_older_epoch_are_ignored() {
        let mut memory = remembered(2, 10);
        memory.open([1; 16], 3).unwrap();
        assert!(memory.acked([1; 16], 3, 99));
        assert_eq!(memory.open([1; 16], 4), Ok(Known::default()));
        assert!(!memory.acked([1; 16], 3, 100));
        assert!(!memory.refused([1; 16], 3, refusal(101)));
        assert_eq!(memory.open([1; 16], 4), Ok(Known::default()));
        let stale = memory.open([1; 16], 3).unwrap_err();
        assert_eq!(stale.to_string(), "epoch 3 of a client whose epoch 4 is known");
        assert_eq!(memory.forgotten(), 0);
    }

    #[test]
    fn refusal_is_kept_for_one_window() {
        let mut memory = remembered(1, 10);
        memory.open([1; 16], 0).unwrap();
        memory.refused([1; 16], 0, refusal(4));
        memory.acked([1; 16], 0, 13);
        let known = memory.open([1; 16], 0).unwrap();
        assert_eq!(known, Known { newest: Some(13), refused: vec![refusal(4)] });
        memory.acked([1; 16], 0, 14);
        assert_eq!(memory.open([1; 16], 0).unwrap().refused, []);
    }

    proptest! {
        #[test]
        fn table_returns_exactly_the_recorded_answers_below_capacity(
            steps in prop::collection::vec((0..4u8, 0..3u64, 0..30u64, any::<bool>(), any::<bool>()), 0..80),
        ) {
            let mut memory = remembered(4, 8);
            // For each client its epoch and the answers to its messages, in order.
            let mut told: HashMap<u8, (u64, Vec<(u64, bool)>)> = HashMap::new();
            for (client, epoch, id, refuse, open) in steps {
                let name = [client; 16];
                if open {
                    let before = told.get(&client).map(|(epoch, _)| *epoch);
                    let known = memory.open(name, epoch);
                    prop_assert_eq!(known.is_err(), before.is_some_and(|before| before > epoch));
                    let Ok(known) = known else { continue };
                    if before != Some(epoch) {
                        told.insert(client, (epoch, Vec::new()));
                    }
                    let (_, answers) = &told[&client];
                    let newest = answers.last().map(|(id, _)| *id);
                    let missed = answers.iter().filter(|(id, refused)| *refused && *id + 8 > newest.unwrap());
                    let missed: Vec<_> = missed.map(|(id, _)| refusal(*id)).collect();
                    prop_assert_eq!(known, Known { newest, refused: missed });
                    continue;
                }
                let kept =
                    if refuse { memory.refused(name, epoch, refusal(id)) } else { memory.acked(name, epoch, id) };
                let known = told.get_mut(&client).filter(|(known, _)| *known == epoch);
                prop_assert_eq!(kept, known.is_some());
                if let Some((_, answers)) = known
                    && answers.last().is_none_or(|(last, _)| *last < id)
                {
                    answers.push((id, refuse));
                }
            }
        }
    }
}
