//! Strategy sync-ack: acknowledges each read before the next one.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use super::handle_batch::{acknowledge, handle_batch, missing_bytes, whole_messages};
use super::{BLOCK, LITTLE};
use crate::handler::Handler;
use crate::pending_acks::PendingAcks;
use crate::read_buffer::ReadBuffer;
use crate::server::close_reason::CloseReason;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;

pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::growing(LITTLE, BLOCK);
    let mut owed = PendingAcks::default();
    loop {
        let missing = missing_bytes(buffer.waiting(), shared)?;
        reader.fill(&mut buffer, missing, Amount::Available).await?;
        let batch = whole_messages(buffer.waiting(), shared);
        let found = batch.summary();
        if found.frames > 0 {
            reader.heard();
            let taken = handle_batch(&mut handler, batch, &mut owed).await;
            acknowledge(reader, &mut owed, &shared.counters).await?;
            taken?;
            buffer.consume(found.used);
        }
        // WHY: a connection that always has data to read must not starve other processes.
        yield_now().await;
    }
}
