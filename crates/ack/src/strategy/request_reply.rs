//! Strategy request-reply: one message, one answer. The client waits for each answer.
//!
//! A client that does not wait is also answered message by message.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use super::handle_batch::{handle_batch, missing_bytes, next_ack};
use crate::handler::{Batch, Handler};
use crate::pending_acks::PendingAcks;
use crate::read_buffer::ReadBuffer;
use crate::server::close_reason::CloseReason;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;
use crate::wire::REPLY;

/// Size of the read buffer in bytes: a client that waits has sent one message.
const USUAL: usize = 4 << 10;

pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::new(USUAL);
    let mut owed = PendingAcks::default();
    loop {
        let missing = missing_bytes(buffer.waiting(), shared)?;
        if missing > 0 {
            reader.fill(&mut buffer, missing, Amount::Available).await?;
            continue;
        }
        let Some(batch) = Batch::first(buffer.waiting(), shared.strategy.order(), shared.level)
        else {
            continue;
        };
        let used = batch.summary().used;
        handle_batch(&mut handler, batch, &mut owed).await?;
        buffer.consume(used);
        reader.heard();
        while let Some(ack) = next_ack(&mut owed, &shared.counters) {
            // A reply is the first part of an ack: the id.
            reader.write(&ack[..REPLY]).await?;
            shared.counters.latencies.acked(reader.read_at());
        }
        yield_now().await;
    }
}
