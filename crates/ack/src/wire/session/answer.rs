//! Session answer. Pure.
//!
//! The server encodes it; the client parses and validates it: an inconsistent answer is a
//! [`BadAnswer`]. COST: an allocation for the bytes, and one for the refusals if there are any.

use std::fmt;
use std::num::NonZeroU8;

use super::fields::{ANSWER, Fields, NAME, WIDEST, version};
use crate::wire::encoding::{HEAD, Head, Id, Reason, Refusal, SizeOrder};
use crate::wire::frames::Frame;

const SAID: usize = ANSWER - HEAD;
const MISSED: usize = 12;
/// Encoding of "no message answered yet": −1, so that the next id is 0.
const NONE: u64 = u64::MAX;

/// Reason for a refused session. The number is the status on the wire, where 0 means success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub NonZeroU8);

impl Status {
    /// The server does not support this version.
    pub const VERSION: Self = Self(NonZeroU8::new(1).unwrap());
    /// The opening has the wrong length for its version.
    pub const MALFORMED: Self = Self(NonZeroU8::new(2).unwrap());
    /// The server does not offer this acknowledgement level.
    pub const LEVEL: Self = Self(NonZeroU8::new(3).unwrap());
    /// A later epoch of the same client is known.
    pub const STALE: Self = Self(NonZeroU8::new(4).unwrap());
    /// This connection may not speak for this client.
    pub const NOT_ALLOWED: Self = Self(NonZeroU8::new(5).unwrap());
    /// The server has no capacity or is stopping. A retry may succeed.
    pub const BUSY: Self = Self(NonZeroU8::new(6).unwrap());
    /// The epoch is too far ahead of the server's clock.
    pub const EPOCH: Self = Self(NonZeroU8::new(7).unwrap());
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
            Self::EPOCH => {
                "no session: the epoch is more than a day ahead of the server's clock, set the clocks"
            }
            Self(other) => return write!(f, "no session: status {other}"),
        })
    }
}

/// Answer to a session opening.
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
    /// The session is open.
    Opened(Opened),
    /// The session is refused, and the server closes the connection.
    Refused(Status),
}

/// Parameters of an open session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// All messages of the epoch up to this one have been answered, whether or not the answers
    /// arrived.
    pub newest: Option<u64>,
    /// Maximum number of unanswered messages, from 1 to [`WIDEST`].
    pub window: u32,
    /// Largest payload in bytes.
    pub largest: u32,
    /// Refused messages up to `newest` whose refusal the client may have missed, in order.
    pub refused: Vec<Refusal>,
}

impl Answer {
    /// Encodes the answer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (status, newest, window, largest, refused) = match self {
            Self::Opened(Opened { newest, window, largest, refused }) => {
                (0, newest.unwrap_or(NONE), *window, *largest, &refused[..])
            }
            Self::Refused(status) => (status.0.get(), NONE, 0, 0, &[][..]),
        };
        // INVARIANT: there are no more refusals than messages in a window; the oldest ones are
        // dropped.
        let refused = &refused[refused.len().saturating_sub(WIDEST as usize)..];
        let size = SAID + MISSED * refused.len();
        let mut bytes = Vec::with_capacity(HEAD + size);
        let size = size as u32;
        bytes.extend(Head { id: NAME, size }.to_bytes(SizeOrder::Little));
        bytes.push(status);
        bytes.extend(newest.to_le_bytes());
        bytes.extend(window.to_le_bytes());
        bytes.extend(largest.to_le_bytes());
        for refusal in refused {
            bytes.extend(refusal.id.to_le_bytes());
            bytes.extend(refusal.reason.0.to_le_bytes());
        }
        bytes
    }

    /// Parses the first message from the server.
    ///
    /// # Errors
    /// Returns [`BadAnswer`] if it is not an answer of this version.
    pub fn of(first: &Frame<'_>) -> Result<Self, BadAnswer> {
        let Some(version) = version(first.id) else { return Err(BadAnswer::Name(first.id)) };
        let size = BadAnswer::Size(first.payload.len());
        let mut fields = Fields(first.payload);
        let Some([status]) = fields.take() else { return Err(size) };
        // WHY first: the status is all that is known about an answer of another version.
        if let Some(status) = NonZeroU8::new(status) {
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
        if window == 0 || window > WIDEST {
            return Err(BadAnswer::Window(window));
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

/// A first message from the server that is not a valid answer to an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAnswer {
    /// The id is not the name of a session of this version.
    Name(Id),
    /// The payload has this length, which is invalid.
    Size(usize),
    /// The window is 0 or larger than [`WIDEST`].
    Window(u32),
    /// The refusal of this message is out of order or above `newest`.
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
            Self::Window(window) => {
                write!(
                    f,
                    "the server answered the opening with a window of {window}, where 1 to {WIDEST} was due"
                )
            }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::LARGEST;
    use crate::wire::frames::Frames;

    fn frame(bytes: &[u8]) -> Frame<'_> {
        let mut frames = Frames::new(bytes, SizeOrder::Little, u32::MAX);
        let first = frames.next().expect("a whole message");
        assert_eq!((frames.used(), frames.next()), (bytes.len(), None));
        first
    }

    #[test]
    fn answer_encoding() {
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
    fn invalid_answer_is_rejected_with_a_one_line_error() {
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
        for window in [0, WIDEST + 1] {
            let bytes = Answer::Opened(Opened { window, ..opened.clone() }).to_bytes();
            assert_eq!(Answer::of(&frame(&bytes)), Err(BadAnswer::Window(window)));
        }
        for (ids, wrong) in [(&[6][..], 6), (&[3, 3], 3), (&[3, 2], 2)] {
            let refused =
                ids.iter().map(|id| Refusal { id: *id, reason: Reason::FAILED }).collect();
            let bytes = Answer::Opened(Opened { refused, ..opened.clone() }).to_bytes();
            assert_eq!(Answer::of(&frame(&bytes)), Err(BadAnswer::Refusal(wrong)));
        }
    }

    #[test]
    fn longest_answer_fits_into_default_limit() {
        let refused = (0..u64::from(WIDEST) + 5).map(|id| Refusal { id, reason: Reason::NO_ROOM });
        let opened = Opened {
            newest: Some(NONE - 1),
            window: WIDEST,
            largest: u32::MAX,
            refused: refused.collect(),
        };
        let bytes = Answer::Opened(opened.clone()).to_bytes();
        let mut frames = Frames::new(&bytes, SizeOrder::Little, LARGEST);
        let Ok(Answer::Opened(read)) = Answer::of(&frames.next().expect("it is within the limit"))
        else {
            panic!("it is an answer");
        };
        assert_eq!(read.refused, opened.refused[5..]);
    }

    #[test]
    fn refusal_of_a_later_version_is_parsed() {
        let later = Frame { id: Id(*b"PURLIN 2"), payload: b"\x01and what else there is" };
        assert_eq!(Answer::of(&later), Ok(Answer::Refused(Status::VERSION)));
        let status = Status(NonZeroU8::MAX);
        let unknown = Answer::Refused(status);
        assert_eq!(Answer::of(&frame(&unknown.to_bytes())), Ok(unknown));
        assert_eq!(status.to_string(), "no session: status 255");
    }

    proptest! {
        #[test]
        fn encoded_answer_is_parsed_back(
            newest in prop::option::of(1000..NONE),
            window in 1..=WIDEST,
            largest: u32,
            reasons in prop::collection::vec(any::<u32>(), 0..20),
            status: NonZeroU8,
        ) {
            let reasons = reasons.into_iter().filter(|_| newest.is_some());
            let refused = (0..).zip(reasons).map(|(id, reason)| Refusal { id, reason: Reason(reason) });
            let opened = Opened { newest, window, largest, refused: refused.collect() };
            for answer in [Answer::Opened(opened), Answer::Refused(Status(status))] {
                prop_assert_eq!(Answer::of(&frame(&answer.to_bytes())), Ok(answer));
            }
        }

        #[test]
        fn any_bytes_are_parsed_or_rejected(version: u8, payload: Vec<u8>) {
            let mut id = NAME;
            id.0[7] = version;
            if let Ok(answer @ Answer::Opened(_)) = Answer::of(&Frame { id, payload: &payload }) {
                prop_assert_eq!(&answer.to_bytes()[HEAD..], &payload[..]);
            }
        }
    }
}
