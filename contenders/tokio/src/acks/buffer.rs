//! Read buffer of a connection.

use super::connection::Reader;

/// Read buffer. The unparsed bytes are at its beginning.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
    usual: usize,
}

impl Buffer {
    pub(super) fn new(usual: usize) -> Self {
        Buffer { bytes: vec![0; usual], filled: 0, usual }
    }

    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Reads once, with room for a message of `needed` bytes.
    pub(super) async fn fill(&mut self, reader: &mut Reader, needed: usize) -> Option<()> {
        self.bytes.resize(needed.max(self.usual), 0);
        self.filled += reader.read(&mut &mut self.bytes[self.filled..]).await?;
        Some(())
    }

    pub(super) fn consume(&mut self, used: usize) {
        self.bytes.copy_within(used..self.filled, 0);
        self.filled -= used;
    }

    /// Replaces the content.
    pub(super) fn set(&mut self, bytes: &[u8]) {
        self.bytes.resize(bytes.len().max(self.usual), 0);
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        self.filled = bytes.len();
    }
}
