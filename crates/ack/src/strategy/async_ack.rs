//! Strategy async-ack: reads what is available and sends it unparsed to a responder.
//!
//! The responder's mailbox is bounded to [`BLOCKS`] blocks; the bound provides backpressure to the
//! reader.
//!
//! COST: one process per connection; an allocation, a copy and a message per read.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::{ExitReason, Overflow, Pid, SpawnOptions, yield_now};

use super::responder::{Item, Responder};
use super::{BLOCK, LITTLE};
use crate::handler::Handler;
use crate::read_buffer::ReadBuffer;
use crate::server::close_reason::CloseReason;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;

/// Capacity of the responder's mailbox in blocks.
const BLOCKS: usize = 100;

pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, CloseReason> {
    let responder = Responder::new(handler, reader.pid().id(), reader.socket(), Arc::clone(shared));
    let bound = SpawnOptions::new().bound(BLOCKS, Overflow::Wait);
    let responder = reader.helper(bound, move |me| responder.run(me))?;
    let ended = read(reader, &responder).await;
    responder.send(Item::Last);
    match responder.ended().await {
        ExitReason::Normal => ended,
        reason => Err(CloseReason::Helper(reason)),
    }
}

async fn read(reader: &mut Reader, responder: &Pid<Item>) -> Result<Infallible, CloseReason> {
    let mut buffer = ReadBuffer::growing(LITTLE, BLOCK);
    loop {
        reader.fill(&mut buffer, 1, Amount::Available).await?;
        // WHY any data counts: only the responder knows which messages are complete.
        reader.heard();
        let block = buffer.waiting().to_vec();
        buffer.consume(block.len());
        responder.send(Item::Block(block, reader.read_at()));
        yield_now().await;
    }
}
