//! Strategy best: reads all that is available, handles it in place and acknowledges it immediately.
//!
//! One process per connection; one read, one handler call and one write per batch; no copy. While
//! the handler works, the client fills the socket buffers, so a slower handler gets larger batches.
//!
//! In a session, messages already answered are dropped, and messages that the handler refuses are
//! refused individually. If the refusals to remember exceed the budget of the session table, the
//! connection is closed; the client reconnects and gets them with the answer to its opening.
//!
//! INVARIANT: an answer is recorded in the session table before it is written, so a client that
//! reconnects gets the same answer again.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::yield_now;

use super::handle_batch::{acknowledge, handle_batch, missing_bytes, next_ack, whole_messages};
use super::session_handshake::{Handshake, first};
use crate::connection::close_reason::CloseReason;
use crate::connection::event_log::Event;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::{Batch, Handler, Session, Unhandled};
use crate::wire::read_buffer::{INITIAL, ReadBuffer};
use crate::wire::{Reason, Refusal};

/// Size of the read buffer in bytes, unless a message is larger.
const USUAL: usize = 256 << 10;

/// Serves a connection until it closes.
pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    mut handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::growing(INITIAL, USUAL);
    let mut pending = PendingAcks::default();
    let mut open = first(reader, &mut buffer, &mut handler, shared).await?;
    loop {
        let batch = whole_messages(buffer.waiting(), shared);
        let found = batch.summary();
        if found.frames > 0 {
            reader.message_completed();
            match &mut open {
                None => {
                    let taken = handle_batch(&mut handler, batch, &mut pending).await;
                    acknowledge(reader, &mut pending, &shared.counters).await?;
                    taken?;
                }
                Some(open) => {
                    let answers = open.handle_new(&mut handler, batch, shared).await?;
                    if open.newest.is_some() {
                        reader.idle().has_session();
                    }
                    reader.write(&answers).await?;
                    if open.over_budget {
                        return Err(CloseReason::OverBudget);
                    }
                    if !answers.is_empty() {
                        shared.counters.latencies.acked(reader.read_at());
                    }
                }
            }
            buffer.consume(found.used);
        }
        let missing = match missing_bytes(buffer.waiting(), shared) {
            Ok(missing) => missing,
            Err(end) => {
                if let (Some(open), CloseReason::TooLarge(too_large)) = (&mut open, &end) {
                    let id = too_large.id.number();
                    let refusal = Refusal { id, reason: Reason::TOO_LARGE };
                    if open.newest.is_none_or(|newest| id > newest) {
                        open.refuse(refusal, shared);
                        reader.write(&refusal.to_bytes()).await?;
                    }
                }
                return Err(end);
            }
        };
        // WHY: a connection that always has data to read must not starve other processes.
        yield_now().await;
        reader.fill(&mut buffer, missing, Amount::Available).await?;
    }
}

impl Handshake {
    /// Passes the new messages of a batch to the handler. Returns the encoded answers.
    async fn handle_new<H: Handler>(
        &mut self,
        handler: &mut H,
        batch: Batch<'_>,
        shared: &Shared,
    ) -> Result<Vec<u8>, CloseReason> {
        let newest = self.newest;
        let seen = batch.first_while(|id| newest.is_some_and(|newest| id.number() <= newest));
        let Some(batch) = batch.without(seen) else { return Ok(Vec::new()) };
        let batch = batch.of(self.session, self.level);
        let refused = match handler.handle(batch).await {
            Ok(()) => Vec::new(),
            Err(Unhandled::Refused(refused)) => {
                if let Some(Refusal { reason, .. }) = refused.first() {
                    let events = &shared.counters.events;
                    events.log(
                        Event::MessageRefused,
                        &self.peer,
                        &format_args!("message refused: {reason}"),
                    );
                }
                refused
            }
            Err(Unhandled::Failed(reason)) => return Err(CloseReason::Failed(reason)),
        };
        Ok(self.answers(batch, refused, shared))
    }

    fn answers(&mut self, batch: Batch<'_>, mut refused: Vec<Refusal>, shared: &Shared) -> Vec<u8> {
        let (mut pending, mut answers) = (PendingAcks::default(), Vec::new());
        let acknowledge = |pending: &mut PendingAcks, answers: &mut Vec<u8>| {
            while let Some(ack) = next_ack(pending, &shared.counters) {
                answers.extend(ack);
            }
        };
        refused.sort_unstable_by_key(|refusal| refusal.id);
        let mut rest = Some(batch);
        for refusal in refused {
            let Some(now) = rest else { break };
            let before = now.first_while(|id| id.number() < refusal.id);
            rest = now.without(before);
            let this = rest.map(|rest| rest.first_while(|id| id.number() == refusal.id));
            let Some(this) = this.filter(|this| this.frames > 0) else {
                // The handler refused a message that is not in the batch.
                rest = Some(now);
                continue;
            };
            pending.add(before);
            acknowledge(&mut pending, &mut answers);
            self.refuse(refusal, shared);
            answers.extend(refusal.to_bytes());
            rest = rest.and_then(|rest| rest.without(this));
        }
        if let Some(rest) = rest {
            pending.add(rest.summary());
            acknowledge(&mut pending, &mut answers);
        }
        self.newest = batch.summary().newest.map(|newest| newest.number()).max(self.newest);
        if let Some(newest) = self.newest {
            let Session { client, epoch } = self.session;
            shared.sessions.table(|table| table.acked(client, epoch, newest));
        }
        answers
    }

    /// Records that a message is refused and all earlier ones are answered.
    fn refuse(&mut self, refusal: Refusal, shared: &Shared) {
        shared.counters.refusals.add(1);
        let Session { client, epoch } = self.session;
        self.over_budget |= shared.sessions.table(|table| {
            table.refused(client, epoch, refusal);
            table.is_full()
        });
        self.newest = Some(refusal.id).max(self.newest);
    }
}
