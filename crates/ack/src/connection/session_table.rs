//! Session table: the position of each client of `best`, within a budget of bytes. Pure.
//!
//! A server has one table for all connections; the owner opens and closes sessions in it and
//! records answers. Reads no clock. A client is remembered from its first answered message. While
//! it is connected its position is kept; once it has disconnected, the position is kept until the
//! table exceeds its budget and all clients that disconnected earlier have been evicted. An evicted
//! client counts as unknown, which is always safe: it resends messages, and they are handled again.
//!
//! INVARIANT: within an epoch the newest answered message only grows, and the epoch of a client
//! only grows. The table claims only answers that were recorded. `bytes` is the size of all
//! positions; it exceeds the budget only by those of connected clients.
//!
//! COST: one hash table lookup per call. [`CLIENT_BYTES`] per client with an answered message, and
//! 16 bytes for each message refused within a window.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use lru::LruCache;

use crate::wire::Refusal;

/// Size of the position of a client without refusals, in bytes, with its share of the tables.
pub const CLIENT_BYTES: usize = 200;

/// SHA-256 digest of a client's TLS certificate.
pub(crate) type Fingerprint = [u8; 32];

/// Session table: the newest answered message of each client, and the refusals that the client may
/// have missed.
///
/// ```
/// use purlin_ack::session_table::SessionTable;
///
/// let mut table = SessionTable::new(1 << 20, 4096);
/// let client = *b"sixteen letters!";
/// assert_eq!(table.open(client, 1).unwrap().newest, None);
/// table.acked(client, 1, 41);
/// table.close(client);
/// // The client reconnects.
/// assert_eq!(table.open(client, 1).unwrap().newest, Some(41));
/// table.close(client);
/// // The client restarts and numbers its messages from 0.
/// assert_eq!(table.open(client, 2).unwrap().newest, None);
/// table.acked(client, 2, 0);
/// assert!(table.open(client, 1).is_err());
/// ```
#[derive(Debug)]
pub struct SessionTable {
    /// Clients with an open session. `None`: no message was answered.
    connected: HashMap<[u8; 16], Connected>,
    disconnected: LruCache<[u8; 16], Position>,
    window: u32,
    limit: usize,
    bytes: usize,
    evicted: u64,
}

/// A client with an open session.
#[derive(Debug)]
struct Connected {
    certificate: Option<Fingerprint>,
    /// `None` until a message is answered.
    position: Option<Position>,
}

/// Position of a client.
#[derive(Debug)]
struct Position {
    /// Certificate of the connection that answered the first message.
    certificate: Option<Fingerprint>,
    epoch: u64,
    newest: u64,
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
    /// Creates a table with a budget of `limit` bytes, for sessions of this window.
    #[must_use]
    pub fn new(limit: usize, window: u32) -> Self {
        Self {
            connected: HashMap::new(),
            disconnected: LruCache::unbounded(),
            window,
            limit,
            bytes: 0,
            evicted: 0,
        }
    }

    /// Opens a session and returns the position of the client. A later epoch replaces an older one
    /// with its first answered message.
    ///
    /// To load the stored position of a client, open its session and then record its refusals and
    /// its newest message, in the order of their ids.
    ///
    /// # Errors
    /// Returns [`Stale`] if a later epoch of the client is known. Nothing is opened then.
    pub fn open(&mut self, client: [u8; 16], epoch: u64) -> Result<Known, Stale> {
        self.open_with(client, epoch, None)?;
        Ok(self.known(client, epoch))
    }

    /// Like [`open`](Self::open), for a connection with this certificate.
    pub(crate) fn open_with(
        &mut self,
        client: [u8; 16],
        epoch: u64,
        certificate: Option<Fingerprint>,
    ) -> Result<(), Stale> {
        self.check(client, epoch)?;
        if !self.connected.contains_key(&client) {
            let position = self.disconnected.pop(&client);
            self.connected.insert(client, Connected { certificate, position });
        }
        Ok(())
    }

    /// Fails as [`open`](Self::open) would, and opens nothing.
    pub(crate) fn check(&self, client: [u8; 16], epoch: u64) -> Result<(), Stale> {
        match self.position(client) {
            Some(known) if epoch < known.epoch => Err(Stale { epoch, known: known.epoch }),
            _ => Ok(()),
        }
    }

    /// Returns the position of the client in this epoch.
    pub(crate) fn known(&self, client: [u8; 16], epoch: u64) -> Known {
        match self.position(client).filter(|known| known.epoch == epoch) {
            None => Known::default(),
            Some(known) => {
                let refused = known.refused.iter().copied().collect();
                Known { newest: Some(known.newest), refused }
            }
        }
    }

    /// Whether a connection with this certificate may open a session of the client: if the client
    /// is unknown, or known by the same certificate.
    pub(crate) fn belongs_to(&self, client: [u8; 16], certificate: Option<&Fingerprint>) -> bool {
        let known = match self.connected.get(&client) {
            Some(connected) => Some(connected.certificate.as_ref()),
            None => self.position(client).map(|known| known.certificate.as_ref()),
        };
        known.is_none_or(|known| known == certificate)
    }

    fn position(&self, client: [u8; 16]) -> Option<&Position> {
        match self.connected.get(&client) {
            Some(connected) => connected.position.as_ref(),
            None => self.disconnected.peek(&client),
        }
    }

    /// Closes the session of a client, if it is open.
    pub fn close(&mut self, client: [u8; 16]) {
        let closed = self.connected.remove(&client);
        if let Some(position) = closed.and_then(|closed| closed.position) {
            self.disconnected.put(client, position);
        }
        self.evict();
    }

    /// Records that all messages of the epoch up to `newest` are acknowledged, except the refused
    /// ones.
    ///
    /// Returns whether this was recorded. Returns `false` if the client has no open session, or if
    /// the epoch is over.
    pub fn acked(&mut self, client: [u8; 16], epoch: u64, newest: u64) -> bool {
        self.answered(client, epoch, newest, None)
    }

    /// Records that this message is refused and all earlier ones are answered. Returns the same as
    /// [`acked`](Self::acked).
    pub fn refused(&mut self, client: [u8; 16], epoch: u64, refusal: Refusal) -> bool {
        self.answered(client, epoch, refusal.id, Some(refusal))
    }

    /// Returns the number of clients with a known position.
    #[must_use]
    pub fn clients(&self) -> usize {
        let connected = self.connected.values().filter(|client| client.position.is_some());
        connected.count() + self.disconnected.len()
    }

    /// Returns the size of all positions in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the positions of connected clients alone exceed the budget.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.bytes > self.limit
    }

    /// Returns the number of evicted clients.
    #[must_use]
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    fn answered(
        &mut self,
        id: [u8; 16],
        epoch: u64,
        newest: u64,
        refusal: Option<Refusal>,
    ) -> bool {
        let Some(Connected { certificate, position }) = self.connected.get_mut(&id) else {
            return false;
        };
        let before = position.as_ref().map_or(0, Position::bytes);
        match position {
            Some(known) if known.epoch > epoch => return false,
            Some(known) if known.epoch == epoch => known.advance(newest, refusal, self.window),
            _ => {
                let refused = refusal.into_iter().collect();
                let certificate = *certificate;
                *position = Some(Position { certificate, epoch, newest, refused });
            }
        }
        let after = position.as_ref().map_or(0, Position::bytes);
        self.bytes = self.bytes - before + after;
        if after > before {
            self.evict();
        }
        true
    }

    /// Evicts disconnected clients until the budget is kept or none is left.
    fn evict(&mut self) {
        while self.is_full()
            && let Some((_, evicted)) = self.disconnected.pop_lru()
        {
            self.bytes -= evicted.bytes();
            self.evicted += 1;
        }
    }
}

impl Position {
    fn bytes(&self) -> usize {
        CLIENT_BYTES + self.refused.capacity() * size_of::<Refusal>()
    }

    fn advance(&mut self, newest: u64, refusal: Option<Refusal>, window: u32) {
        if self.newest >= newest {
            return;
        }
        self.newest = newest;
        self.refused.extend(refusal);
        // WHY: a client that respects its window has read all answers before that many messages.
        let window = u64::from(window);
        while self.refused.front().is_some_and(|oldest| newest - oldest.id >= window) {
            self.refused.pop_front();
        }
        if self.refused.is_empty() {
            self.refused = VecDeque::new();
        }
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

    const MANY: usize = 1 << 20;

    fn refusal(id: u64) -> Refusal {
        Refusal { id, reason: Reason::NOT_TAKEN }
    }

    /// A table in which this client has an answered message and no connection.
    fn visited(table: &mut SessionTable, client: u8, newest: u64) {
        table.open([client; 16], 0).unwrap();
        assert!(table.acked([client; 16], 0, newest));
        table.close([client; 16]);
    }

    #[test]
    fn client_that_disconnected_first_is_evicted_and_connected_clients_are_not() {
        let mut table = SessionTable::new(3 * CLIENT_BYTES, 10);
        table.open([1; 16], 0).unwrap();
        assert!(table.acked([1; 16], 0, 5));
        for client in 2..=9 {
            visited(&mut table, client, 7);
        }
        assert_eq!((table.clients(), table.bytes(), table.evicted()), (3, 3 * CLIENT_BYTES, 6));
        assert_eq!(table.open([1; 16], 0).unwrap().newest, Some(5));
        assert_eq!(table.open([9; 16], 0).unwrap().newest, Some(7));
        assert_eq!(table.open([7; 16], 0), Ok(Known::default()));
        assert!(!table.acked([8; 16], 0, 9), "it has no session");
    }

    #[test]
    fn opening_without_an_answered_message_changes_nothing() {
        let mut table = SessionTable::new(2 * CLIENT_BYTES, 10);
        visited(&mut table, 1, 5);
        for client in 10..200 {
            table.open([client; 16], u64::MAX - 1).unwrap();
            table.close([client; 16]);
        }
        table.open([1; 16], u64::MAX - 1).unwrap();
        table.close([1; 16]);
        assert_eq!((table.clients(), table.evicted()), (1, 0));
        assert_eq!(table.open([1; 16], 0).unwrap().newest, Some(5));
    }

    #[test]
    fn answers_of_an_older_epoch_are_ignored() {
        let mut table = SessionTable::new(MANY, 10);
        table.open([1; 16], 3).unwrap();
        assert!(table.acked([1; 16], 3, 99));
        assert_eq!(table.open([1; 16], 4), Ok(Known::default()));
        assert!(table.acked([1; 16], 4, 0));
        assert!(!table.acked([1; 16], 3, 100));
        assert!(!table.refused([1; 16], 3, refusal(101)));
        assert_eq!(table.open([1; 16], 4).unwrap().newest, Some(0));
        let stale = table.open([1; 16], 3).unwrap_err();
        assert_eq!(stale.to_string(), "epoch 3 of a client whose epoch 4 is known");
    }

    #[test]
    fn session_belongs_to_the_certificate_that_opened_it() {
        let (mine, other) = ([1; 32], [2; 32]);
        let mut table = SessionTable::new(MANY, 10);
        let client = [7; 16];
        assert!(table.belongs_to(client, Some(&mine)), "it is unknown");
        table.open_with(client, 0, Some(mine)).unwrap();
        for _ in 0..2 {
            assert!(table.belongs_to(client, Some(&mine)));
            assert!(!table.belongs_to(client, Some(&other)));
            assert!(!table.belongs_to(client, None));
            assert!(table.acked(client, 0, 1) || table.clients() == 1);
            table.close(client);
        }
    }

    #[test]
    fn refusal_is_kept_for_one_window_and_its_bytes_are_counted() {
        let mut table = SessionTable::new(MANY, 10);
        table.open([1; 16], 0).unwrap();
        table.refused([1; 16], 0, refusal(4));
        table.acked([1; 16], 0, 13);
        let known = table.open([1; 16], 0).unwrap();
        assert_eq!(known, Known { newest: Some(13), refused: vec![refusal(4)] });
        assert!(table.bytes() > CLIENT_BYTES);
        table.acked([1; 16], 0, 14);
        assert_eq!(table.open([1; 16], 0).unwrap().refused, []);
        assert_eq!(table.bytes(), CLIENT_BYTES);
    }

    #[test]
    fn refusals_of_a_connected_client_evict_others_and_then_fill_the_table() {
        let mut table = SessionTable::new(10 * CLIENT_BYTES, 1 << 20);
        for client in 2..=9 {
            visited(&mut table, client, 7);
        }
        table.open([1; 16], 0).unwrap();
        let filled = (0..).find(|id| {
            assert!(table.refused([1; 16], 0, refusal(*id)));
            table.is_full()
        });
        let filled = filled.expect("the table is finite");
        assert_eq!((table.clients(), table.evicted()), (1, 8));
        assert_eq!(table.open([1; 16], 0).unwrap().refused.len() as u64, filled + 1);
        table.close([1; 16]);
        assert_eq!((table.clients(), table.bytes()), (0, 0));
    }

    proptest! {
        #[test]
        fn table_returns_exactly_the_recorded_answers_within_its_budget(
            steps in prop::collection::vec((0..4u8, 0..3u64, 0..30u64, any::<bool>(), 0..3u8), 0..80),
        ) {
            let mut table = SessionTable::new(MANY, 8);
            // For each client its epoch and the answers to its messages, in order.
            let mut model: HashMap<u8, (u64, Vec<(u64, bool)>)> = HashMap::new();
            let mut connected = [false; 4];
            for (client, epoch, id, refuse, step) in steps {
                let name = [client; 16];
                if step == 0 {
                    let known = table.open(name, epoch);
                    let before = model.get(&client).map(|(epoch, _)| *epoch);
                    prop_assert_eq!(known.is_err(), before.is_some_and(|before| before > epoch));
                    let Ok(known) = known else { continue };
                    connected[usize::from(client)] = true;
                    if before != Some(epoch) {
                        prop_assert_eq!(known, Known::default());
                        continue;
                    }
                    let (_, answers) = &model[&client];
                    let newest = answers.last().map(|(id, _)| *id);
                    let missed = answers.iter().filter(|(id, refused)| *refused && *id + 8 > newest.unwrap());
                    let missed: Vec<_> = missed.map(|(id, _)| refusal(*id)).collect();
                    prop_assert_eq!(known, Known { newest, refused: missed });
                    continue;
                }
                if step == 1 {
                    table.close(name);
                    connected[usize::from(client)] = false;
                    continue;
                }
                let kept =
                    if refuse { table.refused(name, epoch, refusal(id)) } else { table.acked(name, epoch, id) };
                let stale = model.get(&client).is_some_and(|(known, _)| *known > epoch);
                prop_assert_eq!(kept, connected[usize::from(client)] && !stale);
                if !kept {
                    continue;
                }
                let (known, answers) = model.entry(client).or_insert((epoch, Vec::new()));
                if *known < epoch {
                    (*known, *answers) = (epoch, Vec::new());
                }
                if answers.last().is_none_or(|(last, _)| *last < id) {
                    answers.push((id, refuse));
                }
            }
        }
    }
}
