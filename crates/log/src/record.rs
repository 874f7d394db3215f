//! Messages, their clients, and the records of a log.

/// Client with a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// Client identifier.
    pub id: [u8; 16],
    /// Epoch: increased by a client that restarts its numbering.
    pub epoch: u64,
}

/// Message that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Id of the message.
    pub id: u64,
    /// Reason, as in `docs/ack/protocol.md`.
    pub reason: u32,
}

/// Block of messages of one client, to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block<'a> {
    /// The client, or `None` if it has no session.
    pub client: Option<Client>,
    /// Whole messages: id of 8 bytes, little-endian size of 4 bytes, payload. The ids of a client
    /// ascend.
    pub messages: &'a [u8],
    /// Messages that were refused, in the order of their ids.
    pub refused: &'a [Refusal],
}

/// Fate of the messages of a client: all up to `newest` are stored, except the refused ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Latest epoch of the client.
    pub epoch: u64,
    /// Newest answered message of the epoch.
    pub newest: u64,
    /// Refused messages among the last 2^20, in the order of their ids.
    pub refused: Vec<Refusal>,
}

/// Stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the record in the log: consecutive from 0.
    pub sequence: u64,
    /// Milliseconds since 1970 at which the batch was written.
    pub time: u64,
    /// The client, or `None` if it has no session.
    pub client: Option<Client>,
    /// Id of the message: the client's 8 bytes, read as a little-endian number.
    pub id: u64,
    /// Payload of the message.
    pub payload: Vec<u8>,
}

/// Borrowed message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) id: u64,
    pub(crate) payload: &'a [u8],
}

/// Iterator over whole messages. Stops before an incomplete one.
#[derive(Clone, Debug)]
pub(crate) struct Messages<'a>(&'a [u8]);

impl<'a> Messages<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that were not iterated over.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let (id, rest) = self.0.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (payload, rest) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        self.0 = rest;
        Some(Message { id: u64::from_le_bytes(*id), payload })
    }
}
