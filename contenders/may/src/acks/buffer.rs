//! Read buffer of a connection.

use std::io::{Read, Result};
use std::ops::Range;

/// Read buffer. The unparsed bytes are contiguous.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// The unparsed bytes.
    filled: Range<usize>,
    usual: usize,
}

impl Buffer {
    pub(super) fn new(usual: usize) -> Self {
        Buffer { bytes: vec![0; usual], filled: 0..0, usual }
    }

    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[self.filled.clone()]
    }

    pub(super) fn consume(&mut self, used: usize) {
        self.filled.start += used;
    }

    /// Moves the unparsed bytes to the beginning, and makes room for a message of `needed` bytes.
    fn make_room(&mut self, needed: usize) {
        self.bytes.copy_within(self.filled.clone(), 0);
        self.filled = 0..self.filled.len();
        self.bytes.resize(needed.max(self.usual), 0);
    }

    /// Reads once, with room for a message of `needed` bytes. Returns whether anything was read.
    pub(super) fn fill(&mut self, from: &mut impl Read, needed: usize) -> Result<bool> {
        self.make_room(needed);
        let read = from.read(&mut self.bytes[self.filled.end..])?;
        self.filled.end += read;
        Ok(read > 0)
    }

    /// Reads until the buffer contains exactly this number of bytes. Returns `None` if the
    /// connection ends before.
    pub(super) fn exactly(&mut self, from: &mut impl Read, size: usize) -> Option<()> {
        self.make_room(size);
        from.read_exact(&mut self.bytes[self.filled.end..size]).ok()?;
        self.filled.end = size;
        Some(())
    }
}
