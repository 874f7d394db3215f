//! What all strategies do with messages: have them handled, and then owe an ack.
//!
//! INVARIANT: what is owed has been handled. It is added when the handler has
//! returned, and in no other place of the crate but for the refusals of a session.

use crate::frames::{self, Skimmed};
use crate::handler::{Batch, Handler, Unhandled};
use crate::owed::Owed;
use crate::server::counts::Counters;
use crate::server::ending::End;
use crate::server::reader::Reader;
use crate::server::shared::Shared;
use crate::wire::{ACK, Id};

/// Has the handler take a batch, and owes what it has taken: all, or what comes before the first that
/// it refuses.
pub(super) async fn take<H: Handler>(
    handler: &mut H,
    batch: Batch<'_>,
    owed: &mut Owed,
) -> Result<(), End> {
    let (taken, end) = match handler.handle(batch).await {
        Ok(()) => (batch.skimmed(), None),
        Err(Unhandled::Refused(refused)) => {
            let taken = batch.first_while(|id| refused.iter().all(|one| id != Id::from(one.id)));
            (taken, (taken != batch.skimmed()).then_some(End::Refused))
        }
        Err(Unhandled::Failed(reason)) => (Skimmed::default(), Some(End::Failed(reason))),
    };
    owed.add(taken);
    end.map_or(Ok(()), Err)
}

/// The messages that are whole, as far as the limit lets them be.
pub(super) fn whole<'a>(waiting: &'a [u8], shared: &Shared) -> Batch<'a> {
    let order = shared.strategy.order();
    let found = frames::skim(waiting, order, shared.limits.largest);
    Batch::new(&waiting[..found.used], found, order, shared.level)
}

/// How much the next message needs.
pub(super) fn needed(waiting: &[u8], shared: &Shared) -> Result<usize, End> {
    Ok(frames::needed(waiting, shared.strategy.order(), shared.limits.largest)?)
}

/// The next ack that is due, counted.
pub(super) fn next_ack(owed: &mut Owed, counters: &Counters) -> Option<[u8; ACK]> {
    let ack = owed.take()?;
    counters.acked(u64::from(ack.skipped) + 1);
    Some(ack.to_bytes())
}

/// Acknowledges all that is owed.
pub(super) async fn acknowledge(
    reader: &mut Reader,
    owed: &mut Owed,
    counters: &Counters,
) -> Result<(), End> {
    while let Some(ack) = next_ack(owed, counters) {
        reader.write(&ack).await?;
        counters.latencies.acked(reader.read_at());
    }
    Ok(())
}
