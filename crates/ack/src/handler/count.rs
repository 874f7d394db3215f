//! Handler that discards messages.

use super::{Batch, Handler, Unhandled};

/// Accepts and discards every message. [`Counts`](crate::server::Counts) holds the number of
/// messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count;

impl Handler for Count {
    async fn handle(&mut self, _: Batch<'_>) -> Result<(), Unhandled> {
        Ok(())
    }
}
