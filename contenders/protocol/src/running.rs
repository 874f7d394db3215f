//! Handle to a running server or far node.

use std::fmt;

/// A running server or far node. It is dropped without being stopped only when the program is about to exit.
pub struct Running {
    pub(crate) address: String,
    pub(crate) stop: Box<dyn FnOnce() -> Result<u64, String>>,
}

impl Running {
    /// Creates a handle to a server at this address, or to a node of this name. `stop` returns the number of messages
    /// acknowledged or accepted since the start; a server first waits until everything it has read is acknowledged and
    /// all connections are closed.
    #[must_use]
    pub fn new(
        address: impl fmt::Display,
        stop: impl FnOnce() -> Result<u64, String> + 'static,
    ) -> Running {
        Running { address: address.to_string(), stop: Box::new(stop) }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}
