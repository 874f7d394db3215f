//! Strategy best with each message handled: the reader passes blocks of complete messages to one
//! task for all connections, which calls a function for each message; a writer then acknowledges
//! the block and returns its buffer to the reader.

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::buffer::Buffer;
use super::connection::{Reader, Writer};
use super::direct::LARGE;
use super::wire::{HEAD, Pending, Skimmed, messages, skim};

/// Number of buffers of a connection: one is read into while another one is handled.
const BUFFERS: usize = 2;

/// Number of blocks that may wait for the handling task.
const BLOCKS: usize = 64;

/// A buffer that begins with complete messages.
pub(super) struct Block {
    buffer: Buffer,
    /// Size of these messages in bytes.
    used: usize,
    pending: Pending,
    handled: mpsc::Sender<Block>,
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
        let handled = block.handled.clone();
        // Fails if the client does not read its acks.
        let _ = handled.send(block).await;
    }
}

/// Placeholder for a user's function: reads the message and updates a state.
#[inline(never)]
fn take(id: [u8; 8], payload: &[u8], sum: &mut u64) {
    *sum = sum.wrapping_add(u64::from_le_bytes(id)).wrapping_add(payload.len() as u64);
}

pub(super) async fn best(mut reader: Reader, writer: Writer, taker: mpsc::Sender<Block>) -> u64 {
    let (handled, blocks) = mpsc::channel(BUFFERS);
    let (free, mut buffers) = mpsc::channel(BUFFERS);
    let writer = tokio::spawn(acknowledge(writer, blocks, free));
    let mut spare = Some(Buffer::new(LARGE));
    let mut buffer = Buffer::new(LARGE);
    let mut missing = Some(HEAD);
    while let Some(needed) = missing {
        if buffer.fill(&mut reader, needed).await.is_none() {
            break;
        }
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        missing = needed;
        if used == 0 {
            continue;
        }
        let next = match spare.take() {
            Some(next) => Some(next),
            None => buffers.recv().await,
        };
        let Some(mut next) = next else { break };
        next.set(&buffer.filled()[used..]);
        let full = std::mem::replace(&mut buffer, next);
        let block = Block { buffer: full, used, pending, handled: handled.clone() };
        if taker.send(block).await.is_err() {
            break;
        }
    }
    drop(handled);
    writer.await.unwrap_or(0)
}

/// Acknowledges handled blocks and returns their buffers. Returns the number of acknowledged
/// messages when the reader has ended, or if the client does not read.
async fn acknowledge(
    mut writer: Writer,
    mut blocks: mpsc::Receiver<Block>,
    free: mpsc::Sender<Buffer>,
) -> u64 {
    let mut received = 0;
    while let Some(block) = blocks.recv().await {
        if let Some(ack) = block.pending.ack() {
            if writer.write_all(&ack).await.is_err() {
                break;
            }
            received += block.pending.count();
        }
        // Fails when the reader has ended.
        let _ = free.send(block.buffer).await;
    }
    received
}
