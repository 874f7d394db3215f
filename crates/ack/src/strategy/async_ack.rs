//! Reads whatever there is and hands it, as it is, to a responder.
//!
//! The responder's mailbox holds [`BLOCKS`] blocks; a reader that has sent more
//! waits until there is room.
//!
//! COST: a process for each connection; for each read a block of memory, a copy,
//! and a message.

use std::convert::Infallible;
use std::sync::Arc;

use purlin::{ExitReason, Overflow, Pid, SpawnOptions, yield_now};

use super::responder::{Item, Responder};
use super::{BLOCK, LITTLE};
use crate::handler::Handler;
use crate::inbuf::InBuf;
use crate::server::ending::End;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;

/// How many blocks may wait for the responder.
const BLOCKS: usize = 100;

pub(super) async fn run<H: Handler>(
    reader: &mut Reader,
    handler: H,
    shared: &Arc<Shared>,
) -> Result<Infallible, End> {
    let responder = Responder::new(handler, reader.pid().id(), reader.socket(), Arc::clone(shared));
    let bound = SpawnOptions::new().bound(BLOCKS, Overflow::Wait);
    let responder = reader.helper(bound, move |me| responder.run(me))?;
    let ended = read(reader, &responder).await;
    responder.send(Item::Last);
    match responder.ended().await {
        ExitReason::Normal => ended,
        reason => Err(End::Helper(reason)),
    }
}

async fn read(reader: &mut Reader, responder: &Pid<Item>) -> Result<Infallible, End> {
    let mut buffer = InBuf::growing(LITTLE, BLOCK);
    loop {
        reader.fill(&mut buffer, 1, Amount::Available).await?;
        // WHY heard, whatever it was: what is whole is for the responder to say.
        reader.heard();
        let block = buffer.waiting().to_vec();
        buffer.used(block.len());
        responder.send(Item::Block(block, reader.read_at()));
        yield_now().await;
    }
}
