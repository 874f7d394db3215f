//! How a client of `best` opens a session, and what it is answered. Pure.
//!
//! The server looks at the first message of a connection with [`Opening::of`],
//! the client at the first message that it is sent with [`Answer::of`]. Any
//! thread may; nothing is kept here. What a session means is in
//! `docs/ack/protocol.md`, which these bytes are part of and which does not
//! change: a later version has another last byte in its name.
//!
//! ```text
//! opening   "PURLIN 1" │ size 4 = 25 │ client 16 │ epoch 8 │ level 1
//! answer    "PURLIN 1" │ size 4      │ status 1 │ newest 8 │ window 4 │ largest 4
//!                                    │ id 8 │ reason 4      for each refusal that may have been missed
//! ```
//!
//! All numbers are little-endian.
//!
//! COST: an answer is a block of memory of 29 bytes, and 12 for each refusal.

use std::fmt;

use crate::frames::Frame;
use crate::wire::{HEAD, Head, Id, Reason, Refusal, SizeOrder};

/// What stands in the place of an id, for the version that is spoken here.
pub const NAME: Id = Id(*b"PURLIN 1");
/// Bytes of an opening, its head included.
pub const OPENING: usize = HEAD + 25;
/// Bytes of an answer without refusals, its head included.
pub const ANSWER: usize = HEAD + SAID;

const SAID: usize = 17;
const MISSED: usize = 12;
/// How *none yet* is written: −1, on which 0 follows.
const NONE: u64 = u64::MAX;

/// What an ack of the session means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The server has read it.
    Received,
    /// The handler has done with it.
    Handled,
    /// The handler has said that it is stored.
    Durable,
}

impl Level {
    fn of(byte: u8) -> Option<Self> {
        [Self::Received, Self::Handled, Self::Durable].get(usize::from(byte)).copied()
    }
}

/// What a client says first if it wants a session.
///
/// ```
/// use purlin_ack::frames::Frames;
/// use purlin_ack::session::{Level, Opening};
/// use purlin_ack::wire::SizeOrder;
///
/// let opening = Opening { client: *b"sixteen letters!", epoch: 1, level: Level::Handled };
/// let bytes = opening.to_bytes();
/// let first = Frames::new(&bytes, SizeOrder::Little, 1000).next().unwrap();
/// assert_eq!(Opening::of(&first), Ok(Some(opening)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Who it is: 16 bytes that no other client has.
    pub client: [u8; 16],
    /// Raised by a client that begins to number its messages anew.
    pub epoch: u64,
    /// What an ack is to mean.
    pub level: Level,
}

impl Opening {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; OPENING] {
        let mut bytes = [0; OPENING];
        let size = (OPENING - HEAD) as u32;
        bytes[..HEAD].copy_from_slice(&Head { id: NAME, size }.to_bytes(SizeOrder::Little));
        bytes[HEAD..28].copy_from_slice(&self.client);
        bytes[28..36].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[36] = self.level as u8;
        bytes
    }

    /// What the first message of a connection asks for: a session, or none if it is a message like
    /// any other.
    ///
    /// # Errors
    /// It asks for a session, and not in a way that can be granted. To be answered with
    /// [`BadOpening::status`].
    pub fn of(first: &Frame<'_>) -> Result<Option<Self>, BadOpening> {
        let Some(version) = version(first.id) else { return Ok(None) };
        if version != NAME.0[7] {
            return Err(BadOpening::Version(version));
        }
        let mut fields = Fields(first.payload);
        let (Some(client), Some(epoch), Some([level]), []) =
            (fields.take(), fields.take(), fields.take(), fields.0)
        else {
            return Err(BadOpening::Size(first.payload.len()));
        };
        let level_of = Level::of(level).ok_or(BadOpening::Level(level))?;
        Ok(Some(Self { client, epoch: u64::from_le_bytes(epoch), level: level_of }))
    }
}

/// An opening that cannot be granted as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadOpening {
    /// Another version, with this byte at the end of its name.
    Version(u8),
    /// Its payload has so many bytes.
    Size(usize),
    /// There is no such level.
    Level(u8),
}

impl BadOpening {
    /// What the client is told.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Version(_) => Status::VERSION,
            Self::Size(_) => Status::MALFORMED,
            Self::Level(_) => Status::LEVEL,
        }
    }
}

impl fmt::Display for BadOpening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => {
                write!(
                    f,
                    "a session of version '{}', and only '1' is spoken",
                    version.escape_ascii()
                )
            }
            Self::Size(size) => write!(f, "an opening of {size} bytes, where 25 were due"),
            Self::Level(level) => write!(f, "ack level {level}, where 0, 1 or 2 was due"),
        }
    }
}

impl std::error::Error for BadOpening {}

/// Why there is no session. The number is what is on the wire; 0 is none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub u8);

impl Status {
    /// The version is not spoken.
    pub const VERSION: Self = Self(1);
    /// The opening has another length than its version has.
    pub const MALFORMED: Self = Self(2);
    /// The server does not offer acks of this level.
    pub const LEVEL: Self = Self(3);
    /// A later epoch of the same client is known.
    pub const STALE: Self = Self(4);
    /// This connection may not speak for this client.
    pub const NOT_ALLOWED: Self = Self(5);
    /// The server has no room, or is about to stop. Later it may be otherwise.
    pub const BUSY: Self = Self(6);
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::VERSION => "no session: the server does not speak this version",
            Self::MALFORMED => "no session: the opening is malformed",
            Self::LEVEL => "no session: the server does not offer this ack level",
            Self::STALE => "no session: a later epoch of this client is known",
            Self::NOT_ALLOWED => "no session: this connection may not speak for this client",
            Self::BUSY => "no session: the server is busy or about to stop, try again later",
            Self(other) => return write!(f, "no session: status {other}"),
        })
    }
}

/// What the client is answered.
///
/// ```
/// use purlin_ack::frames::Frames;
/// use purlin_ack::session::{Answer, Opened, Status};
/// use purlin_ack::wire::SizeOrder;
///
/// let opened = Opened { newest: Some(41), window: 4096, largest: 16 << 20, refused: vec![] };
/// for answer in [Answer::Opened(opened), Answer::Refused(Status::STALE)] {
///     let bytes = answer.to_bytes();
///     let first = Frames::new(&bytes, SizeOrder::Little, 1000).next().unwrap();
///     assert_eq!(Answer::of(&first), Ok(answer));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a session.
    Opened(Opened),
    /// There is none, and the server closes the connection.
    Refused(Status),
}

/// What the server grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// All messages of the epoch up to this one have been answered, whether or not the client was told.
    pub newest: Option<u64>,
    /// How many messages may be unanswered at a time, at least 1.
    pub window: u32,
    /// The largest payload, in bytes.
    pub largest: u32,
    /// The messages up to `newest` that were refused and not acknowledged, as far as the client may
    /// have missed it; in order.
    pub refused: Vec<Refusal>,
}

impl Answer {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (status, newest, window, largest, refused) = match self {
            Self::Opened(Opened { newest, window, largest, refused }) => {
                (0, newest.unwrap_or(NONE), *window, *largest, &refused[..])
            }
            Self::Refused(status) => (status.0, NONE, 0, 0, &[][..]),
        };
        let mut bytes = Vec::with_capacity(ANSWER + MISSED * refused.len());
        // WHY: as many refusals as fit into a size; a window is never as wide.
        let most = refused.len().min((u32::MAX as usize - SAID) / MISSED);
        let size = (SAID + MISSED * most) as u32;
        bytes.extend(Head { id: NAME, size }.to_bytes(SizeOrder::Little));
        bytes.push(status);
        bytes.extend(newest.to_le_bytes());
        bytes.extend(window.to_le_bytes());
        bytes.extend(largest.to_le_bytes());
        for refusal in &refused[..most] {
            bytes.extend(refusal.id.to_le_bytes());
            bytes.extend(refusal.reason.0.to_le_bytes());
        }
        bytes
    }

    /// What the first message from the server says.
    ///
    /// # Errors
    /// It is no answer of this version.
    pub fn of(first: &Frame<'_>) -> Result<Self, BadAnswer> {
        let Some(version) = version(first.id) else { return Err(BadAnswer::Name(first.id)) };
        let size = BadAnswer::Size(first.payload.len());
        let mut fields = Fields(first.payload);
        let Some([status]) = fields.take() else { return Err(size) };
        // WHY first: an answer of another version is known to begin with a status, and that is all.
        if status != 0 {
            return Ok(Self::Refused(Status(status)));
        }
        if version != NAME.0[7] {
            return Err(BadAnswer::Name(first.id));
        }
        let (Some(newest), Some(window), Some(largest)) =
            (fields.take(), fields.take(), fields.take())
        else {
            return Err(size);
        };
        let newest = Some(u64::from_le_bytes(newest)).filter(|newest| *newest != NONE);
        let window = u32::from_le_bytes(window);
        if window == 0 {
            return Err(BadAnswer::Window);
        }
        let mut refused = Vec::with_capacity(fields.0.len() / MISSED);
        while !fields.0.is_empty() {
            let (Some(id), Some(reason)) = (fields.take(), fields.take()) else { return Err(size) };
            let id = u64::from_le_bytes(id);
            let before = refused.last().map(|last: &Refusal| last.id);
            if newest.is_none_or(|newest| id > newest) || before.is_some_and(|before| id <= before)
            {
                return Err(BadAnswer::Refusal(id));
            }
            refused.push(Refusal { id, reason: Reason(u32::from_le_bytes(reason)) });
        }
        Ok(Self::Opened(Opened { newest, window, largest: u32::from_le_bytes(largest), refused }))
    }
}

/// A first message from the server that is no answer to an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAnswer {
    /// It has another id.
    Name(Id),
    /// Its payload has so many bytes.
    Size(usize),
    /// No message may be unanswered, so none could be sent.
    Window,
    /// This message is said to be refused, out of order or before its turn.
    Refusal(u64),
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(id) => {
                write!(
                    f,
                    "the server answered the opening with '{}', is it another server?",
                    id.0.escape_ascii()
                )
            }
            Self::Size(size) => write!(
                f,
                "the server answered the opening with {size} bytes, where 17 and 12 for each refusal were due"
            ),
            Self::Window => f.write_str("the server answered the opening with a window of 0"),
            Self::Refusal(id) => {
                write!(
                    f,
                    "the server answered the opening with a refusal of {id} in the wrong place"
                )
            }
        }
    }
}

impl std::error::Error for BadAnswer {}

/// The last byte of the name of a session, whatever the version.
fn version(id: Id) -> Option<u8> {
    let [name @ .., version] = id.0;
    let [known @ .., _] = NAME.0;
    (name == known).then_some(version)
}

/// What is left of a payload.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frames::Frames;

    fn frame(bytes: &[u8]) -> Frame<'_> {
        let mut frames = Frames::new(bytes, SizeOrder::Little, u32::MAX);
        let first = frames.next().expect("a whole message");
        assert_eq!((frames.used(), frames.next()), (bytes.len(), None));
        first
    }

    #[test]
    fn an_opening_is_these_bytes() {
        let opening = Opening { client: *b"abcdefghijklmnop", epoch: 258, level: Level::Durable };
        assert_eq!(
            opening.to_bytes(),
            *b"PURLIN 1\x19\0\0\0abcdefghijklmnop\x02\x01\0\0\0\0\0\0\x02"
        );
    }

    #[test]
    fn an_answer_is_these_bytes() {
        let refused = vec![Refusal { id: 3, reason: Reason::FAILED }];
        let opened = Opened { newest: Some(5), window: 4096, largest: 16 << 20, refused };
        assert_eq!(
            Answer::Opened(opened).to_bytes(),
            b"PURLIN 1\x1d\0\0\0\0\x05\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\x01\x03\0\0\0\0\0\0\0\x03\0\0\0"
        );
        assert_eq!(
            Answer::Refused(Status::BUSY).to_bytes(),
            b"PURLIN 1\x11\0\0\0\x06\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
        );
    }

    #[test]
    fn a_classic_message_opens_nothing() {
        for id in [Id::from(0), Id(*b"PURLIN_1"), Id(*b"purlin 1")] {
            assert_eq!(Opening::of(&Frame { id, payload: &[0; 25] }), Ok(None));
        }
    }

    #[test]
    fn an_opening_that_cannot_be_granted_is_refused_in_a_line() {
        let mut payload = [0; 26];
        payload[24] = 3;
        for (id, size, status, said) in [
            (*b"PURLIN 2", 25, Status::VERSION, "a session of version '2', and only '1' is spoken"),
            (
                *b"PURLIN \n",
                0,
                Status::VERSION,
                "a session of version '\\n', and only '1' is spoken",
            ),
            (*b"PURLIN 1", 24, Status::MALFORMED, "an opening of 24 bytes, where 25 were due"),
            (*b"PURLIN 1", 26, Status::MALFORMED, "an opening of 26 bytes, where 25 were due"),
            (*b"PURLIN 1", 25, Status::LEVEL, "ack level 3, where 0, 1 or 2 was due"),
        ] {
            let bad = Opening::of(&Frame { id: Id(id), payload: &payload[..size] }).unwrap_err();
            assert_eq!((bad.status(), bad.to_string().as_str()), (status, said));
        }
    }

    #[test]
    fn an_answer_that_is_none_is_refused_in_a_line() {
        let opened = Opened { newest: Some(5), window: 1, largest: 1, refused: vec![] };
        let good = Answer::Opened(opened.clone()).to_bytes();
        let name = BadAnswer::Name(Id(*b"PURLIN 2"));
        let other = Frame { id: Id(*b"PURLIN 2"), ..frame(&good) };
        assert_eq!(Answer::of(&other), Err(name));
        assert!(name.to_string().ends_with("with 'PURLIN 2', is it another server?"));
        for size in [0, 1, 16, 18, 28] {
            let payload = [&good[HEAD..], &[0; 12]].concat();
            let bad = Answer::of(&Frame { id: NAME, payload: &payload[..size] });
            assert_eq!(bad, Err(BadAnswer::Size(size)));
        }
        let window = Opened { window: 0, ..opened.clone() };
        assert_eq!(Answer::of(&frame(&Answer::Opened(window).to_bytes())), Err(BadAnswer::Window));
        for (ids, wrong) in [(&[6][..], 6), (&[3, 3], 3), (&[3, 2], 2)] {
            let refused =
                ids.iter().map(|id| Refusal { id: *id, reason: Reason::FAILED }).collect();
            let bytes = Answer::Opened(Opened { refused, ..opened.clone() }).to_bytes();
            assert_eq!(Answer::of(&frame(&bytes)), Err(BadAnswer::Refusal(wrong)));
        }
    }

    #[test]
    fn a_refusal_of_a_later_version_is_understood() {
        let later = Frame { id: Id(*b"PURLIN 2"), payload: b"\x01and what else there is" };
        assert_eq!(Answer::of(&later), Ok(Answer::Refused(Status::VERSION)));
        let unknown = Answer::Refused(Status(200));
        assert_eq!(Answer::of(&frame(&unknown.to_bytes())), Ok(unknown));
        assert_eq!(Status(200).to_string(), "no session: status 200");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            client: [u8; 16],
            epoch: u64,
            level in 0..3u8,
            newest in prop::option::of(1000..NONE),
            window in 1..=u32::MAX,
            largest: u32,
            reasons in prop::collection::vec(any::<u32>(), 0..20),
            status in 1..=u8::MAX,
        ) {
            let opening = Opening { client, epoch, level: Level::of(level).expect("one of three") };
            prop_assert_eq!(Opening::of(&frame(&opening.to_bytes())), Ok(Some(opening)));
            let reasons = reasons.into_iter().filter(|_| newest.is_some());
            let refused = (0..).zip(reasons).map(|(id, reason)| Refusal { id, reason: Reason(reason) });
            let opened = Opened { newest, window, largest, refused: refused.collect() };
            for answer in [Answer::Opened(opened), Answer::Refused(Status(status))] {
                prop_assert_eq!(Answer::of(&frame(&answer.to_bytes())), Ok(answer));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(version: u8, payload: Vec<u8>) {
            let [name @ .., _] = NAME.0;
            let [a, b, c, d, e, f, g] = name;
            let first = Frame { id: Id([a, b, c, d, e, f, g, version]), payload: &payload };
            if let Ok(Some(opening)) = Opening::of(&first) {
                prop_assert_eq!(&opening.to_bytes()[HEAD..], &payload[..]);
            }
            if let Ok(answer @ Answer::Opened(_)) = Answer::of(&first) {
                prop_assert_eq!(&answer.to_bytes()[HEAD..], &payload[..]);
            }
        }
    }
}
