//! Strategy request-reply: one message, one answer. The client waits for each answer.
//!
//! A client that does not wait is also answered message by message.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use crate::connection::close_reason::CloseReason;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::{Batch, Handler};
use crate::strategy::handle_batch::{handle_batch, next_ack};
use crate::wire::frames::needed;
use crate::wire::read_buffer::ReadBuffer;
use crate::wire::{REPLY, SizeOrder};

/// Size of the read buffer in bytes: a client that waits has sent one message.
const USUAL: usize = 4 << 10;

/// Serves a connection until it closes.
pub(crate) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::new(USUAL);
    let mut pending = PendingAcks::default();
    loop {
        let missing = needed(buffer.waiting(), SizeOrder::Big, shared.limits.largest)?;
        if missing > 0 {
            reader.fill(&mut buffer, missing, Amount::Available).await?;
            continue;
        }
        let Some(batch) = Batch::first(buffer.waiting(), SizeOrder::Big, shared.level) else {
            continue;
        };
        let used = batch.summary().used;
        handle_batch(&mut handler, batch, &mut pending).await?;
        buffer.consume(used);
        reader.message_completed();
        while let Some(ack) = next_ack(&mut pending, &shared.counters) {
            // A reply is the first part of an ack: the id.
            reader.write(&ack[..REPLY]).await?;
            shared.counters.latencies.acked(reader.read_at());
        }
        yield_now().await;
    }
}
