//! Strategy best with each message handled: the reader passes blocks of complete messages to one
//! coroutine for all connections, which calls a function for each message and returns the block,
//! and then acknowledges it.

use std::io::Write;

use may::go;
use may::sync::mpsc;

use super::buffer::Buffer;
use super::connection::Connection;
use super::direct::LARGE;
use super::wire::{HEAD, Skimmed, messages, skim};
use crate::channels::receive;

/// A buffer that begins with complete messages.
pub(super) struct Block {
    buffer: Buffer,
    /// Size of these messages in bytes.
    used: usize,
    handled: mpsc::Sender<Buffer>,
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
        // Fails only if the connection has failed.
        let _ = block.handled.send(block.buffer);
    }
}

/// Placeholder for a user's function: reads the message and updates a state.
#[inline(never)]
fn take(id: [u8; 8], payload: &[u8], sum: &mut u64) {
    *sum = sum.wrapping_add(u64::from_le_bytes(id)).wrapping_add(payload.len() as u64);
}

pub(super) fn best(mut connection: Connection, taker: &mpsc::Sender<Block>) -> u64 {
    let (handled, back) = mpsc::channel();
    let mut buffer = Buffer::new(LARGE);
    let mut received = 0;
    let mut missing = HEAD;
    while let Ok(true) = buffer.fill(&mut connection, missing) {
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        if let Some(ack) = pending.ack() {
            if taker.send(Block { buffer, used, handled: handled.clone() }).is_err() {
                break;
            }
            let Some(returned) = receive(&back) else { break };
            buffer = returned;
            buffer.consume(used);
            if connection.stream.write_all(&ack).is_err() {
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
