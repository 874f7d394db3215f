//! Strategy async-ack: reads what is available and sends it unparsed to a responder.
//!
//! The responder's mailbox is bounded to [`BLOCKS`] blocks; the bound provides backpressure to the
//! reader.
//!
//! COST: one process per connection; an allocation, a copy and a message per read.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::{Overflow, Pid, SpawnOptions, yield_now};

use super::BLOCK;
use super::helper::{join, start};
use super::responder::{Item, Responder};
use crate::connection::close_reason::CloseReason;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::Handler;
use crate::wire::read_buffer::{INITIAL, ReadBuffer};

/// Capacity of the responder's mailbox in blocks.
const BLOCKS: usize = 100;

/// Serves a connection until it closes.
pub(crate) async fn run<H: Handler>(
    reader: &mut Reader,
    handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let parent = reader.process().id();
    let charge = shared.counters.budget.charge(Arc::clone(reader.idle()));
    let responder = Responder::new(handler, parent, reader.socket(), charge, Arc::clone(shared));
    let bound = SpawnOptions::new().bound(BLOCKS, Overflow::Wait);
    let responder = start(reader, bound, move |me| responder.run(me)).await?;
    let ended = read(reader, &responder).await;
    responder.send(Item::Last);
    join(&responder).await?;
    ended
}

async fn read(reader: &mut Reader, responder: &Pid<Item>) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::growing(INITIAL, BLOCK);
    loop {
        reader.fill(&mut buffer, 1, Amount::Available).await?;
        // WHY any data counts: only the responder knows which messages are complete.
        reader.message_completed();
        let block = buffer.waiting().to_vec();
        buffer.consume(block.len());
        responder.send(Item::Block(block, reader.read_at()));
        yield_now().await;
    }
}
