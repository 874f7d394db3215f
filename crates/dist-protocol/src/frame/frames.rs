//! Encoded frames, to be written.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// Minimum length of a piece that is shared and not copied. WHY: a shared one costs a reference count and one more part
/// of a vectored write.
const SHARED: usize = 4 << 10;

/// Encoded frames: bytes of their own, and shared pieces between them. They are read by [`Buf`].
#[derive(Debug, Default)]
pub struct Frames {
    /// All bytes that are not shared; those before `at` have been read.
    bytes: Vec<u8>,
    at: usize,
    /// Shared pieces, each with its position in `bytes`.
    shared: VecDeque<(usize, Bytes)>,
    /// Number of bytes of shared pieces.
    shared_bytes: usize,
}

impl Frames {
    /// The bytes that are not shared, to be appended to.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends a piece, shared if it is long.
    pub(super) fn put_piece(&mut self, piece: &Bytes) {
        if piece.len() < SHARED {
            self.bytes.extend_from_slice(piece);
        } else {
            self.shared_bytes += piece.len();
            self.shared.push_back((self.bytes.len(), piece.clone()));
        }
    }

    /// Removes all frames; releases capacity beyond `kept` bytes.
    pub fn clear(&mut self, kept: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(kept);
        self.shared.clear();
        (self.at, self.shared_bytes) = (0, 0);
    }

    /// End of the bytes before the next shared piece.
    fn end(&self) -> usize {
        self.shared.front().map_or(self.bytes.len(), |(at, _)| *at)
    }
}

impl Buf for Frames {
    fn remaining(&self) -> usize {
        self.bytes.len() - self.at + self.shared_bytes
    }

    fn chunk(&self) -> &[u8] {
        match self.shared.front() {
            Some((at, piece)) if *at == self.at => piece,
            _ => &self.bytes[self.at..self.end()],
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let (mut count, mut start) = (0, self.at);
        let mut put = |part: &'a [u8]| {
            if let Some(slice) = slices.get_mut(count)
                && !part.is_empty()
            {
                *slice = IoSlice::new(part);
                count += 1;
            }
        };
        for (at, piece) in &self.shared {
            put(&self.bytes[start..*at]);
            put(piece);
            start = *at;
        }
        put(&self.bytes[start..]);
        count
    }

    fn advance(&mut self, mut count: usize) {
        assert!(count <= self.remaining(), "no more than is left");
        while count > 0 {
            let own = count.min(self.end() - self.at);
            self.at += own;
            count -= own;
            if let Some((_, piece)) = self.shared.front_mut().filter(|_| count > 0) {
                let now = count.min(piece.len());
                piece.advance(now);
                self.shared_bytes -= now;
                count -= now;
                if piece.is_empty() {
                    self.shared.pop_front();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frames_yield_all_bytes_in_order_whatever_a_write_takes(
            pieces in prop::collection::vec((any::<bool>(), 0..2 * SHARED), 0..10),
            takes in prop::collection::vec(1..3 * SHARED, 1..20),
        ) {
            let (mut frames, mut due, mut came) = (Frames::default(), Vec::new(), Vec::new());
            for (at, (own, length)) in pieces.into_iter().enumerate() {
                let piece = Bytes::from(vec![at as u8; length]);
                due.extend_from_slice(&piece);
                if own {
                    frames.bytes().extend_from_slice(&piece);
                } else {
                    frames.put_piece(&piece);
                }
            }
            let mut takes = takes.iter().cycle();
            while frames.has_remaining() {
                prop_assert_eq!(frames.remaining(), due.len() - came.len());
                let mut slices = [IoSlice::new(&[]); 3];
                let count = frames.chunks_vectored(&mut slices);
                let all: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
                prop_assert!(!frames.chunk().is_empty() && all.starts_with(frames.chunk()));
                let taken = all.len().min(*takes.next().expect("they repeat"));
                came.extend_from_slice(&all[..taken]);
                frames.advance(taken);
            }
            prop_assert_eq!(came, due);
            frames.clear(0);
            prop_assert_eq!(frames.remaining(), 0);
        }
    }
}
