//! Encoded payload in pieces, which share memory with the binaries they were encoded from.

use std::collections::VecDeque;

use bytes::Bytes;
use purlin_term::{EncodeError, Encoder, Term};

/// An encoded term without its version byte, in pieces.
///
/// COST: a clone and a [split](Encoded::split_to) copy no bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    pieces: VecDeque<Bytes>,
    len: usize,
}

impl Encoded {
    /// Encodes a term. Long binaries become pieces of their own and are not copied.
    ///
    /// # Errors
    /// The term does not fit into the external term format.
    pub fn term(term: &Term) -> Result<Self, EncodeError> {
        let (mut bytes, mut shared) = (Vec::new(), Vec::new());
        Encoder::bare(term).share(&mut shared).write(&mut bytes)?;
        let (mut bytes, mut encoded, mut start) = (Bytes::from(bytes), Self::default(), 0);
        for (at, binary) in shared {
            encoded.push(bytes.split_to(at - start));
            encoded.push(binary);
            start = at;
        }
        encoded.push(bytes);
        Ok(encoded)
    }

    /// Appends bytes.
    pub fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.len += piece.len();
            self.pieces.push_back(piece);
        }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces, none of which is empty.
    pub fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        self.pieces.iter()
    }

    /// Removes the first `most` bytes, or all if there are fewer, and returns them.
    #[must_use]
    pub fn split_to(&mut self, most: usize) -> Self {
        let mut first = Self::default();
        while first.len < most
            && let Some(mut piece) = self.pieces.pop_front()
        {
            let rest = piece.split_off(piece.len().min(most - first.len));
            self.len -= piece.len();
            first.push(piece);
            if !rest.is_empty() {
                self.pieces.push_front(rest);
            }
        }
        first
    }
}

impl From<Vec<u8>> for Encoded {
    fn from(bytes: Vec<u8>) -> Self {
        let mut encoded = Self::default();
        encoded.push(bytes.into());
        encoded
    }
}
