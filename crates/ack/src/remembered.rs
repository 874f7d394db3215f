//! What has been answered to which client of `best`, for a bounded number of clients. Pure.
//!
//! Belongs to whoever opens sessions and hears what became of their messages,
//! one owner for all connections of a server. Never looks at a clock. The client
//! that was heard of least recently is forgotten when there is one too many, and
//! stays forgotten until it opens a session again: to say of a client that
//! nothing is known of it is always true, and costs it that messages are sent
//! and handled again.
//!
//! INVARIANT: what is remembered as newest only grows within an epoch, and an
//! epoch only grows. Nothing is claimed that was not told here.
//!
//! COST: a lookup in a hash table for each call. The table has its room for all clients
//! from the beginning; each message refused within a window takes 16 bytes besides.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;

use lru::LruCache;

use crate::wire::Refusal;

/// The newest message answered to each client, and the refusals that it may have missed.
///
/// ```
/// use std::num::NonZeroUsize;
/// use purlin_ack::remembered::Remembered;
///
/// let mut remembered = Remembered::new(NonZeroUsize::new(10_000).unwrap(), 4096);
/// let client = *b"sixteen letters!";
/// assert_eq!(remembered.open(client, 1).unwrap().newest, None);
/// remembered.acked(client, 1, 41);
/// // The connection was lost, and the client comes back.
/// assert_eq!(remembered.open(client, 1).unwrap().newest, Some(41));
/// // It was started anew, and begins at 0.
/// assert_eq!(remembered.open(client, 2).unwrap().newest, None);
/// assert!(remembered.open(client, 1).is_err());
/// ```
#[derive(Debug)]
pub struct Remembered {
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

/// What a client is told when it opens a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// All messages of the epoch up to this one have been answered.
    pub newest: Option<u64>,
    /// Those of them that were refused, within the last window.
    pub refused: Vec<Refusal>,
}

impl Remembered {
    /// Remembers so many clients, whose sessions have this window.
    #[must_use]
    pub fn new(clients: NonZeroUsize, window: u32) -> Self {
        Self { clients: LruCache::new(clients), window, forgotten: 0 }
    }

    /// A client opens a session. Nothing of an older epoch is remembered from then on.
    ///
    /// What was stored of a client before the server was started is told here in the same way: it
    /// is opened, and its refusals and the newest message follow, in order of their ids.
    ///
    /// # Errors
    /// A later epoch of the client is known.
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

    /// All messages of the epoch up to this one, but those refused, are acknowledged.
    ///
    /// Says whether that is remembered: not of a client that has been forgotten since it opened the
    /// session, nor of an epoch that is over.
    pub fn acked(&mut self, client: [u8; 16], epoch: u64, newest: u64) -> bool {
        self.answered(client, epoch, newest, None)
    }

    /// This message is refused, and those before it have been answered. Says what
    /// [`acked`](Self::acked) says.
    pub fn refused(&mut self, client: [u8; 16], epoch: u64, refusal: Refusal) -> bool {
        self.answered(client, epoch, refusal.id, Some(refusal))
    }

    /// How many clients are remembered.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// How many clients have been forgotten for want of room.
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
        // WHY: a client that keeps to its window has read what came before that many messages.
        while client.refused.front().is_some_and(|oldest| newest - oldest.id >= window) {
            client.refused.pop_front();
        }
        true
    }
}

/// An opening by a client of which a later epoch is known: it was started anew since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The epoch that was asked for.
    pub epoch: u64,
    /// The one that is known.
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

    fn remembered(clients: usize, window: u32) -> Remembered {
        Remembered::new(NonZeroUsize::new(clients).expect("some clients"), window)
    }

    fn refusal(id: u64) -> Refusal {
        Refusal { id, reason: Reason::NOT_TAKEN }
    }

    #[test]
    fn the_client_heard_of_least_recently_is_forgotten_and_stays_so_until_it_opens() {
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
    fn a_connection_of_an_older_epoch_changes_nothing() {
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
    fn a_refusal_is_remembered_for_a_window_of_messages() {
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
        fn nothing_is_claimed_that_was_not_told_and_nothing_told_is_lost_among_few(
            steps in prop::collection::vec((0..4u8, 0..3u64, 0..30u64, any::<bool>(), any::<bool>()), 0..80),
        ) {
            let mut memory = remembered(4, 8);
            // For each client its epoch, and what became of the messages, in order of answers.
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
