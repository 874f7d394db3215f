//! Encoding of heads, ids, acks and refusals. Pure.
//!
//! The functions may be called from any thread, do not allocate and accept all bytes: any eight
//! bytes are a valid id.
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

/// Length of the head before a payload, in bytes.
pub const HEAD: usize = 12;
/// Length of a reply of request-reply, in bytes.
pub const REPLY: usize = 8;
/// Length of an ack, in bytes.
pub const ACK: usize = 12;
/// Length of a refusal, in bytes.
pub const REFUSAL: usize = 16;
/// Default limit of the payload size in bytes: 16 MiB.
pub const LARGEST: u32 = 16 << 20;
/// Value of the `skipped` field that marks a refusal.
pub const REFUSED: u32 = u32::MAX;

/// Byte order of the size of a message.
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

/// Id of a message: eight bytes, which a server returns unchanged.
///
/// Clients store a number in it, least significant byte first, as `From<u64>` does. `Display` shows
/// that number.
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
    /// Returns the id as a number.
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

/// Head of a message: the bytes before the payload.
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
    /// Id chosen by the client, echoed in the ack.
    pub id: Id,
    /// Payload size in bytes.
    pub size: u32,
}

impl Head {
    /// Encodes the head.
    #[must_use]
    pub fn to_bytes(self, order: SizeOrder) -> [u8; HEAD] {
        let size = match order {
            SizeOrder::Big => self.size.to_be_bytes(),
            SizeOrder::Little => self.size.to_le_bytes(),
        };
        twelve(self.id, size)
    }

    /// Decodes a head.
    #[must_use]
    pub fn from_bytes(bytes: [u8; HEAD], order: SizeOrder) -> Self {
        let (id, size) = eight_and_four(bytes);
        Self { id, size: order.read(size) }
    }
}

/// Cumulative ack of all messages since the previous answer.
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
    /// Newest acknowledged message.
    pub id: Id,
    /// Number of further messages acknowledged. Never [`REFUSED`] in an ack.
    pub skipped: u32,
}

impl Ack {
    /// Encodes the ack.
    #[must_use]
    pub fn to_bytes(self) -> [u8; ACK] {
        twelve(self.id, self.skipped.to_le_bytes())
    }

    /// Decodes an ack. In a session, [`REFUSED`] in `skipped` marks a refusal, which is four bytes
    /// longer.
    #[must_use]
    pub fn from_bytes(bytes: [u8; ACK]) -> Self {
        let (id, skipped) = eight_and_four(bytes);
        Self { id, skipped: u32::from_le_bytes(skipped) }
    }
}

/// Refusal of one message of a session.
///
/// ```
/// use purlin_ack::wire::{Reason, Refusal};
///
/// let refusal = Refusal { id: 7, reason: Reason::TOO_LARGE };
/// assert_eq!(refusal.to_bytes(), *b"\x07\0\0\0\0\0\0\0\xff\xff\xff\xff\x01\0\0\0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Id of the message. Ids in a session are numbers.
    pub id: u64,
    /// Why the message was refused.
    pub reason: Reason,
}

impl Refusal {
    /// Encodes the refusal.
    #[must_use]
    pub fn to_bytes(self) -> [u8; REFUSAL] {
        let mut bytes = [0xff; REFUSAL];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[12..].copy_from_slice(&self.reason.0.to_le_bytes());
        bytes
    }
}

/// Why a message of a session was refused. The number is the value on the wire.
///
/// Treat unknown numbers as [`Reason::NOT_TAKEN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason(pub u32);

impl Reason {
    /// The payload exceeds the limit of the session; the server closes the connection.
    pub const TOO_LARGE: Self = Self(1);
    /// The handler refused the message.
    pub const NOT_TAKEN: Self = Self(2);
    /// The handler failed while handling this message; whether it took effect is unknown.
    pub const FAILED: Self = Self(3);
    /// No capacity for the message now.
    pub const NO_ROOM: Self = Self(4);
    /// First of the numbers reserved for reasons of the handler.
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
    fn reason_is_displayed_as_text() {
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
        fn encoded_values_are_decoded_back(id: [u8; 8], number: u32, big: bool) {
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
