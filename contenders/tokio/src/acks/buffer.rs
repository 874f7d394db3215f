//! Read buffer of a connection.

use std::ops::Range;

use super::connection::Reader;

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

    /// Reads once, with room for a message of `needed` bytes.
    pub(super) async fn fill(&mut self, reader: &mut Reader, needed: usize) -> Option<()> {
        self.make_room(needed);
        self.filled.end += reader.read(&mut &mut self.bytes[self.filled.end..]).await?;
        Some(())
    }

    /// Reads until the buffer contains exactly this number of bytes.
    pub(super) async fn exactly(&mut self, reader: &mut Reader, size: usize) -> Option<()> {
        self.make_room(size);
        reader.read_exact(&mut self.bytes[self.filled.end..size]).await?;
        self.filled.end = size;
        Some(())
    }
}
