//! What goes over the wire, and how many bytes of it. Pure.
//!
//! Anybody may call any of it, from any thread; nothing here allocates, and no
//! bytes are refused: eight of them are an id, whatever they are.
//!
//! ```text
//! message   id 8 │ size 4 │ payload, `size` bytes
//! reply     id 8                                        request-reply
//! ack       id 8 │ skipped 4, little-endian             all others
//! refusal   id 8 │ ff ff ff ff │ reason 4, little-endian    sessions only
//! ```
//!
//! COST: a few instructions each.

use std::fmt;

/// Bytes before the payload of a message.
pub const HEAD: usize = 12;
/// Bytes of an answer of request-reply.
pub const REPLY: usize = 8;
/// Bytes of an ack.
pub const ACK: usize = 12;
/// Bytes of a refusal.
pub const REFUSAL: usize = 16;
/// The largest payload, in bytes, where no other is set: 16 MiB.
pub const LARGEST: u32 = 16 << 20;
/// What stands in a refusal where an ack says how many it skipped.
pub const REFUSED: u32 = u32::MAX;

/// How the size of a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrder {
    /// Most significant byte first: request-reply.
    Big,
    /// Least significant byte first: all others.
    Little,
}

impl SizeOrder {
    pub(crate) fn read(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Big => u32::from_be_bytes(bytes),
            Self::Little => u32::from_le_bytes(bytes),
        }
    }
}

/// The id of a message: eight bytes, which a server hands back as they came.
///
/// Clients write a number into it, least significant byte first, and so does
/// `From<u64>`. It is shown as that number.
///
/// ```
/// use purlin_ack::wire::Id;
///
/// let id = Id::from(258);
/// assert_eq!(id.0, [2, 1, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(id.number(), 258);
/// assert_eq!(id.to_string(), "258");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(pub [u8; 8]);

impl Id {
    /// The number that a client means by it.
    #[must_use]
    pub fn number(self) -> u64 {
        u64::from_le_bytes(self.0)
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_le_bytes())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.number())
    }
}

/// What stands before the payload of a message.
///
/// ```
/// use purlin_ack::wire::{Head, Id, SizeOrder};
///
/// let mut message = Vec::new();
/// message.extend(Head { id: Id::from(1), size: 5 }.to_bytes(SizeOrder::Little));
/// message.extend(b"hello");
/// assert_eq!(message, b"\x01\0\0\0\0\0\0\0\x05\0\0\0hello");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Comes back in the ack.
    pub id: Id,
    /// Bytes of the payload.
    pub size: u32,
}

impl Head {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self, order: SizeOrder) -> [u8; HEAD] {
        let size = match order {
            SizeOrder::Big => self.size.to_be_bytes(),
            SizeOrder::Little => self.size.to_le_bytes(),
        };
        twelve(self.id, size)
    }

    /// What was sent.
    #[must_use]
    pub fn from_bytes(bytes: [u8; HEAD], order: SizeOrder) -> Self {
        let (id, size) = eight_and_four(bytes);
        Self { id, size: order.read(size) }
    }
}

/// One answer to all messages since the last one.
///
/// ```
/// use purlin_ack::wire::{Ack, Id};
///
/// // The first ack, of the messages 0 to 49.
/// let ack = Ack { id: Id::from(49), skipped: 49 };
/// assert_eq!(ack.to_bytes(), [0x31, 0, 0, 0, 0, 0, 0, 0, 0x31, 0, 0, 0]);
/// assert_eq!(Ack::from_bytes(ack.to_bytes()), ack);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The newest message that it covers.
    pub id: Id,
    /// How many it covers besides that one. [`REFUSED`] is never sent as a number.
    pub skipped: u32,
}

impl Ack {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; ACK] {
        twelve(self.id, self.skipped.to_le_bytes())
    }

    /// What was sent. In a session four more bytes follow where `skipped` is [`REFUSED`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; ACK]) -> Self {
        let (id, skipped) = eight_and_four(bytes);
        Self { id, skipped: u32::from_le_bytes(skipped) }
    }
}

/// The answer to one message of a session that the server will not take.
///
/// ```
/// use purlin_ack::wire::{Reason, Refusal};
///
/// let refusal = Refusal { id: 7, reason: Reason::TOO_LARGE };
/// assert_eq!(refusal.to_bytes(), *b"\x07\0\0\0\0\0\0\0\xff\xff\xff\xff\x01\0\0\0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The message. Ids of a session are numbers.
    pub id: u64,
    /// Why it was not taken.
    pub reason: Reason,
}

impl Refusal {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; REFUSAL] {
        let mut bytes = [0xff; REFUSAL];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[12..].copy_from_slice(&self.reason.0.to_le_bytes());
        bytes
    }
}

/// Why a message of a session was refused. The number is what is on the wire.
///
/// A number that is not known means [`Reason::NOT_TAKEN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason(pub u32);

impl Reason {
    /// The payload is larger than the answer to the opening allows; the connection is closed.
    pub const TOO_LARGE: Self = Self(1);
    /// The handler has looked at it and does not want it.
    pub const NOT_TAKEN: Self = Self(2);
    /// The handler failed while it had this message; whether it took effect is not known.
    pub const FAILED: Self = Self(3);
    /// There is no room for it now.
    pub const NO_ROOM: Self = Self(4);
    /// From here on the numbers are the handler's own.
    pub const FIRST_OWN: Self = Self(1 << 31);
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TOO_LARGE => f.write_str("too large"),
            Self::FAILED => f.write_str("the handler failed"),
            Self::NO_ROOM => f.write_str("no room for it now"),
            Self(own) if own >= Self::FIRST_OWN.0 => {
                write!(f, "the handler's reason {}", own - Self::FIRST_OWN.0)
            }
            _ => f.write_str("not taken"),
        }
    }
}

fn twelve(id: Id, four: [u8; 4]) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&id.0);
    bytes[8..].copy_from_slice(&four);
    bytes
}

fn eight_and_four(bytes: [u8; 12]) -> (Id, [u8; 4]) {
    let [a, b, c, d, e, f, g, h, four @ ..] = bytes;
    (Id([a, b, c, d, e, f, g, h]), four)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_size_is_written_in_the_order_of_the_strategy() {
        let head = Head { id: Id(*b"anything"), size: 0x0102_0304 };
        assert_eq!(head.to_bytes(SizeOrder::Big), *b"anything\x01\x02\x03\x04");
        assert_eq!(head.to_bytes(SizeOrder::Little), *b"anything\x04\x03\x02\x01");
    }

    #[test]
    fn a_reason_is_said_in_words() {
        for (number, words) in [
            (0, "not taken"),
            (1, "too large"),
            (2, "not taken"),
            (3, "the handler failed"),
            (4, "no room for it now"),
            (5, "not taken"),
            (0x8000_0003, "the handler's reason 3"),
        ] {
            assert_eq!(Reason(number).to_string(), words);
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(id: [u8; 8], number: u32, big: bool) {
            let id = Id(id);
            let order = if big { SizeOrder::Big } else { SizeOrder::Little };
            let head = Head { id, size: number };
            prop_assert_eq!(Head::from_bytes(head.to_bytes(order), order), head);
            let ack = Ack { id, skipped: number };
            prop_assert_eq!(Ack::from_bytes(ack.to_bytes()), ack);
            prop_assert_eq!(Id::from(id.number()), id);
        }
    }
}
