//! Read buffer of a connection.

use std::io::{Read, Result};

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

    /// Reads once, with room for a message of `needed` bytes. Returns whether anything was read.
    pub(super) fn fill(&mut self, from: &mut impl Read, needed: usize) -> Result<bool> {
        self.bytes.resize(needed.max(self.usual), 0);
        let read = from.read(&mut self.bytes[self.filled..])?;
        self.filled += read;
        Ok(read > 0)
    }

    /// Reads until the buffer contains exactly this number of bytes. Returns `None` if the
    /// connection ends before.
    pub(super) fn exactly(&mut self, from: &mut impl Read, size: usize) -> Option<()> {
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        from.read_exact(&mut self.bytes[self.filled..size]).ok()?;
        self.filled = size;
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
