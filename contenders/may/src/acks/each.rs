//! Strategy best with each message handled: the reader passes blocks of complete messages to one
//! coroutine for all connections, which calls a function for each message; a writer then
//! acknowledges the block and returns its buffer to the reader.

use std::io::Write;

use may::go;
use may::io::SplitWriter;
use may::net::TcpStream;
use may::sync::{mpsc, spsc};

use super::buffer::Buffer;
use super::connection::Connection;
use super::direct::LARGE;
use super::wire::{HEAD, Pending, Skimmed, messages, skim};
use crate::channels::receive;

/// A buffer that begins with complete messages.
pub(super) struct Block {
    buffer: Buffer,
    /// Size of these messages in bytes.
    used: usize,
    pending: Pending,
    handled: mpsc::Sender<Block>,
}

/// Starts the coroutine that handles the messages. It ends when all senders are dropped.
pub(super) fn start() -> mpsc::Sender<Block> {
    let (taker, blocks) = mpsc::channel();
    go!(move || take_all(&blocks));
    taker
}

fn take_all(blocks: &mpsc::Receiver<Block>) {
    let mut sum = 0;
    while let Some(block) = receive(blocks) {
        for (id, payload) in messages(&block.buffer.filled()[..block.used]) {
            take(id, payload, &mut sum);
        }
        let handled = block.handled.clone();
        // Fails if the client does not read its acks.
        let _ = handled.send(block);
    }
}

/// Placeholder for a user's function: reads the message and updates a state.
#[inline(never)]
fn take(id: [u8; 8], payload: &[u8], sum: &mut u64) {
    *sum = sum.wrapping_add(u64::from_le_bytes(id)).wrapping_add(payload.len() as u64);
}

pub(super) fn best(connection: Connection, taker: &mpsc::Sender<Block>) -> u64 {
    let Ok((mut reader, writer)) = connection.split() else {
        return 0;
    };
    let (handled, blocks) = mpsc::channel();
    let (free, buffers) = spsc::channel();
    let writer = go!(move || acknowledge(writer, &blocks, &free));
    // One buffer is read into while another one is handled.
    let mut spare = Some(Buffer::new(LARGE));
    let mut buffer = Buffer::new(LARGE);
    let mut missing = Some(HEAD);
    while let Some(needed) = missing {
        if !buffer.fill(&mut reader, needed).unwrap_or(false) {
            break;
        }
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        missing = needed;
        if used == 0 {
            continue;
        }
        let Some(mut next) = spare.take().or_else(|| buffers.recv().ok()) else {
            break;
        };
        next.set(&buffer.filled()[used..]);
        let full = std::mem::replace(&mut buffer, next);
        let block = Block { buffer: full, used, pending, handled: handled.clone() };
        if taker.send(block).is_err() {
            break;
        }
    }
    drop(handled);
    writer.join().unwrap_or(0)
}

/// Acknowledges handled blocks and returns their buffers. Returns the number of acknowledged
/// messages when the reader has ended, or if the client does not read.
fn acknowledge(
    mut writer: SplitWriter<TcpStream>,
    blocks: &mpsc::Receiver<Block>,
    free: &spsc::Sender<Buffer>,
) -> u64 {
    let mut received = 0;
    while let Some(block) = receive(blocks) {
        if let Some(ack) = block.pending.ack() {
            if writer.write_all(&ack).is_err() {
                break;
            }
            received += block.pending.count();
        }
        // Fails when the reader has ended.
        let _ = free.send(block.buffer);
    }
    received
}
