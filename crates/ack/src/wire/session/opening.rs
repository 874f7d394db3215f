//! Session opening. Pure.
//!
//! The client encodes it, the server parses it, and nothing else of the connection is read. COST:
//! no allocation.

use std::fmt;

use super::answer::Status;
use super::fields::{Fields, NAME, OPENING, version};
use crate::wire::encoding::{HEAD, Head, Id, SizeOrder};
use crate::wire::frames::Frame;

/// Acknowledgement level: what an ack of the session guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The server has read the message.
    Received,
    /// The handler has handled the message.
    Handled,
    /// The handler has stored the message.
    Durable,
}

impl Level {
    fn of(byte: u8) -> Option<Self> {
        [Self::Received, Self::Handled, Self::Durable].get(usize::from(byte)).copied()
    }
}

/// Request for a session: the first message of a connection.
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
    /// Client identifier: 16 secret bytes that no other client has.
    pub client: [u8; 16],
    /// Epoch, increased by a client that restarts its numbering.
    pub epoch: u64,
    /// Requested acknowledgement level.
    pub level: Level,
}

impl Opening {
    /// Encodes the opening.
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

    /// Returns whether a first message with this id is an opening, of any version.
    pub(crate) fn is_name(id: Id) -> bool {
        version(id).is_some()
    }

    /// Parses the first message of a connection. Returns `None` if it is an ordinary message.
    ///
    /// # Errors
    /// Returns [`BadOpening`] if the requested session cannot be granted. The server must answer
    /// with [`BadOpening::status`].
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

/// An opening that cannot be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadOpening {
    /// Unsupported version, given by the last byte of the name.
    Version(u8),
    /// The payload has this length, which is invalid.
    Size(usize),
    /// Unknown acknowledgement level.
    Level(u8),
}

impl BadOpening {
    /// Returns the status of the answer.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::frames::Frames;

    #[test]
    fn opening_encoding() {
        let opening = Opening { client: *b"abcdefghijklmnop", epoch: 258, level: Level::Durable };
        assert_eq!(
            opening.to_bytes(),
            *b"PURLIN 1\x19\0\0\0abcdefghijklmnop\x02\x01\0\0\0\0\0\0\x02"
        );
    }

    #[test]
    fn ordinary_message_is_not_an_opening() {
        for id in [Id::from(0), Id(*b"PURLIN_1"), Id(*b"purlin 1")] {
            assert_eq!(Opening::of(&Frame { id, payload: &[0; 25] }), Ok(None));
        }
    }

    #[test]
    fn invalid_opening_is_rejected_with_a_one_line_error() {
        let mut payload = [0; 26];
        payload[24] = 3;
        for (id, size, status, text) in [
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
            assert_eq!((bad.status(), bad.to_string().as_str()), (status, text));
        }
    }

    proptest! {
        #[test]
        fn encoded_opening_is_parsed_back(client: [u8; 16], epoch: u64, level in 0..3u8) {
            let opening = Opening { client, epoch, level: Level::of(level).expect("one of three") };
            let bytes = opening.to_bytes();
            let mut frames = Frames::new(&bytes, SizeOrder::Little, 25);
            let first = frames.next().expect("a whole message");
            prop_assert_eq!(frames.used(), bytes.len());
            prop_assert_eq!(Opening::of(&first), Ok(Some(opening)));
        }

        #[test]
        fn any_bytes_are_parsed_or_rejected(version: u8, payload: Vec<u8>) {
            let mut id = NAME;
            id.0[7] = version;
            if let Ok(Some(opening)) = Opening::of(&Frame { id, payload: &payload }) {
                prop_assert_eq!(&opening.to_bytes()[HEAD..], &payload[..]);
            }
        }
    }
}
