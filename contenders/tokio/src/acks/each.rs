//! Strategy best with each message handled: the reader passes blocks of complete messages to one
//! task for all connections, which calls a function for each message and returns the block, and
//! then acknowledges it.
//!
//! WHY the reader waits: to read the next block meanwhile, with two buffers and a writer task, was
//! not measurably faster on two cores.

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::buffer::Buffer;
use super::connection::{Reader, Writer};
use super::direct::LARGE;
use super::wire::{HEAD, Skimmed, messages, skim};

/// Number of blocks that may wait for the handling task.
const BLOCKS: usize = 64;

/// A buffer that begins with complete messages.
pub(super) struct Block {
    buffer: Buffer,
    /// Size of these messages in bytes.
    used: usize,
    handled: oneshot::Sender<Buffer>,
}

/// Starts the task that handles the messages. It ends when all senders are dropped.
pub(super) fn start(on: &Handle) -> mpsc::Sender<Block> {
    let (taker, blocks) = mpsc::channel(BLOCKS);
    on.spawn(take_all(blocks));
    taker
}

async fn take_all(mut blocks: mpsc::Receiver<Block>) {
    let mut sum = 0;
    while let Some(block) = blocks.recv().await {
        for (id, payload) in messages(&block.buffer.filled()[..block.used]) {
            take(id, payload, &mut sum);
        }
        // Fails only if the connection has failed.
        let _ = block.handled.send(block.buffer);
    }
}

/// Placeholder for a user's function: reads the message and updates a state.
#[inline(never)]
fn take(id: [u8; 8], payload: &[u8], sum: &mut u64) {
    *sum = sum.wrapping_add(u64::from_le_bytes(id)).wrapping_add(payload.len() as u64);
}

pub(super) async fn best(
    mut reader: Reader,
    mut writer: Writer,
    taker: mpsc::Sender<Block>,
) -> u64 {
    let mut buffer = Buffer::new(LARGE);
    let mut received = 0;
    let mut missing = HEAD;
    while buffer.fill(&mut reader, missing).await.is_some() {
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        if let Some(ack) = pending.ack() {
            let (handled, back) = oneshot::channel();
            if taker.send(Block { buffer, used, handled }).await.is_err() {
                break;
            }
            let Ok(returned) = back.await else { break };
            buffer = returned;
            buffer.consume(used);
            if writer.write_all(&ack).await.is_err() {
                break;
            }
            received += pending.count();
        }
        match needed {
            Some(needed) => missing = needed,
            None => break,
        }
    }
    received
}
