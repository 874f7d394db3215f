//! Cache line without contents: stands for plain data in a model of another program's algorithm.

use crate::coherence::{Access, LINE};
use crate::run;

/// Line of plain data.
#[derive(Debug)]
#[repr(align(64))]
pub struct Line([u8; LINE]);

impl Default for Line {
    fn default() -> Self {
        Self([0; LINE])
    }
}

impl Line {
    fn access(&self, kind: Access) {
        run::access(self.0.as_ptr().addr(), kind);
    }

    /// Reads the line.
    pub fn read(&self) {
        self.access(Access::Load);
    }

    /// Writes the line; the core does not wait for it.
    pub fn write(&self) {
        self.access(Access::Buffered);
    }
}
