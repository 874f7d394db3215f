//! Shared code of the strategies: calls the handler and adds the pending acks.
//!
//! Sizes are little-endian, as in all strategies except request-reply, which parses its own.
//!
//! INVARIANT: a pending ack covers handled messages only. It is added here after the handler has
//! returned, and elsewhere only by `Handshake::answers` of `best`, for sessions.

use std::collections::HashSet;

use crate::connection::close_reason::CloseReason;
use crate::connection::counters::Counters;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::reader::Reader;
use crate::connection::shared::Shared;
use crate::handler::{Batch, Handler, Unhandled};
use crate::wire::frames::{self, FrameSummary};
use crate::wire::{ACK, Id, SizeOrder};

/// Passes a batch to the handler and adds what it has handled to the pending acks: all messages, or
/// those before the first refusal.
pub(super) async fn handle_batch<H: Handler>(
    handler: &mut H,
    batch: Batch<'_>,
    pending: &mut PendingAcks,
) -> Result<(), CloseReason> {
    let (taken, end) = match handler.handle(batch).await {
        Ok(()) => (batch.summary(), None),
        Err(Unhandled::Refused(refused)) => {
            let refused: HashSet<_> = refused.iter().map(|one| Id::from(one.id)).collect();
            let taken = batch.first_while(|id| !refused.contains(&id));
            (taken, (taken != batch.summary()).then_some(CloseReason::Refused))
        }
        Err(Unhandled::Failed(reason)) => {
            (FrameSummary::default(), Some(CloseReason::Failed(reason)))
        }
    };
    pending.add(taken);
    end.map_or(Ok(()), Err)
}

/// Returns the whole messages that are within the size limit.
pub(super) fn whole_messages<'a>(waiting: &'a [u8], shared: &Shared) -> Batch<'a> {
    let found = frames::summarize(waiting, SizeOrder::Little, shared.limits.largest);
    Batch::new(&waiting[..found.used], found, SizeOrder::Little, shared.level)
}

/// Returns how many bytes are missing from the next message.
pub(super) fn missing_bytes(waiting: &[u8], shared: &Shared) -> Result<usize, CloseReason> {
    Ok(frames::needed(waiting, SizeOrder::Little, shared.limits.largest)?)
}

/// Takes and counts the next pending ack.
pub(super) fn next_ack(pending: &mut PendingAcks, counters: &Counters) -> Option<[u8; ACK]> {
    let ack = pending.take()?;
    counters.messages.add(u64::from(ack.skipped) + 1);
    counters.acks.add(1);
    Some(ack.to_bytes())
}

/// Writes all pending acks.
pub(super) async fn acknowledge(
    reader: &mut Reader,
    pending: &mut PendingAcks,
    counters: &Counters,
) -> Result<(), CloseReason> {
    while let Some(ack) = next_ack(pending, counters) {
        reader.write(&ack).await?;
        counters.latencies.acked(reader.read_at());
    }
    Ok(())
}
