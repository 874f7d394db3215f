//! A handler that does nothing: the server counts what it acknowledges anyway.

use super::{Batch, Handler, Unhandled};

/// Takes every message and does nothing with it. [`Counts`](crate::server::Counts) says how many there
/// were.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count;

impl Handler for Count {
    async fn handle(&mut self, _: Batch<'_>) -> Result<(), Unhandled> {
        Ok(())
    }
}
