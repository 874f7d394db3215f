//! Strategies throttle and head-rest: the reader passes each message to a collector by a call, and
//! a ticker acknowledges every 5 ms.
//!
//! They differ in how they read. Throttle reads exactly a head and then exactly its payload, two
//! reads per message; head-rest reads what is available and keeps the incomplete tail.
//!
//! ```text
//! connection ──call for each message──▶ collector ◀──call every 5 ms── ticker ──ack──▶ socket
//! ```
//!
//! The buffer moves to the collector with the call and back with the reply, so the message is not
//! copied.
//!
//! *Shutdown.* The reader sends `Last` to the collector. The ticker takes the pending acks, writes
//! them and ends; then the collector ends. If the reader is killed, its links end both.
//!
//! COST: two processes per connection; two scheduler turns per message.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use purlin::{CallError, ExitReason, Pid, SpawnOptions};

use super::BLOCK;
use super::collector::{Collect, Collector};
use super::helper::{join, start};
use super::ticker::ticker;
use crate::connection::close_reason::CloseReason;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::Handler;
use crate::strategy::handle_batch::missing_bytes;
use crate::wire::read_buffer::{INITIAL, ReadBuffer};

pub(crate) async fn run<H: Handler>(
    reader: &mut Reader,
    handler: H,
    shared: &Arc<Shared>,
    amount: Amount,
) -> Result<Infallible, CloseReason> {
    let (parent, socket) = (reader.process().id(), reader.socket());
    let collector = Collector::new(handler, parent, Arc::clone(shared));
    let collector = start(reader, SpawnOptions::new(), move |me| collector.run(me)).await?;
    let (from, all) = (collector.clone(), Arc::clone(shared));
    let ticker = move |me| ticker(me, socket, from, parent, all);
    let ticker = start(reader, SpawnOptions::new(), ticker).await?;
    let ended = read(reader, &collector, shared, amount).await;
    collector.send(Collect::Last);
    join(&ticker).await?;
    // The ticker ends with `normal` after the collector has been asked for the last acks, or if the
    // collector has failed.
    join(&collector).await?;
    ended
}

async fn read(
    reader: &mut Reader,
    collector: &Pid<Collect>,
    shared: &Shared,
    amount: Amount,
) -> Result<Infallible, CloseReason> {
    // WHY the full size for exact reads: a payload is read with one read.
    let first = if amount == Amount::Exact { BLOCK } else { INITIAL };
    let mut buffer = Box::new(ReadBuffer::growing(first, BLOCK));
    loop {
        let missing = missing_bytes(buffer.waiting(), shared)?;
        if missing > 0 {
            reader.fill(&mut buffer, missing, amount).await?;
            continue;
        }
        reader.message_completed();
        // WHY no timeout: the collector is linked to this process, and a handler may be slow.
        // WHY no time for exact reads: the message is handed over as soon as it is complete, and
        // two clock reads per message would be added.
        let whole_at = (amount == Amount::Available).then(|| reader.read_at());
        let handed =
            collector.call_timeout(|reply| Collect::One(buffer, whole_at, reply), Duration::MAX);
        buffer = match handed.await {
            Ok(handed) => handed?,
            Err(CallError::Ended(reason)) => return Err(CloseReason::Failed(reason)),
            Err(error) => return Err(CloseReason::Failed(ExitReason::error(error))),
        };
    }
}
