//! Strategy sync-ack: acknowledges each read before the next one.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use super::BLOCK;
use crate::connection::close_reason::CloseReason;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::Handler;
use crate::strategy::handle_batch::{acknowledge, handle_batch, missing_bytes, whole_messages};
use crate::wire::read_buffer::{INITIAL, ReadBuffer};

/// Serves a connection until it closes.
pub(crate) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::growing(INITIAL, BLOCK);
    let mut pending = PendingAcks::default();
    loop {
        let missing = missing_bytes(buffer.waiting(), shared)?;
        reader.fill(&mut buffer, missing, Amount::Available).await?;
        let batch = whole_messages(buffer.waiting(), shared);
        let found = batch.summary();
        if found.frames > 0 {
            reader.message_completed();
            let taken = handle_batch(&mut handler, batch, &mut pending).await;
            acknowledge(reader, &mut pending, &shared.counters).await?;
            taken?;
            buffer.consume(found.used);
        }
        // WHY: a connection that always has data to read must not starve other processes.
        yield_now().await;
    }
}
