//! Strategies with one coroutine per connection: request-reply, sync-ack and best.

use std::io::Write;

use super::buffer::Buffer;
use super::connection::Connection;
use super::wire::{HEAD, Skimmed, size, skim};

/// Size of the read buffer in bytes, unless a message is larger: that of purlin's servers of the
/// same strategies.
pub(super) const USUAL: usize = 64 << 10;

/// The same for best.
pub(super) const LARGE: usize = 256 << 10;

/// Size of the read buffer of request-reply. The client has one message on its way.
const SMALL: usize = 4 << 10;

/// Replies to each message with its id.
pub(super) fn request_reply(mut connection: Connection) -> u64 {
    let mut buffer = Buffer::new(SMALL);
    let mut received = 0;
    let mut missing = HEAD;
    while let Ok(true) = buffer.fill(&mut connection, missing) {
        loop {
            let Some((head, rest)) = buffer.filled().split_first_chunk() else {
                missing = HEAD;
                break;
            };
            let Some(size) = size(head, u32::from_be_bytes) else {
                return received;
            };
            if rest.len() < size {
                missing = HEAD + size;
                break;
            }
            let [id @ .., _, _, _, _] = *head;
            buffer.consume(HEAD + size);
            if connection.stream.write_all(&id).is_err() {
                return received;
            }
            received += 1;
        }
    }
    received
}

/// Reads the available data and acknowledges it before the next read.
pub(super) fn sync_ack(mut connection: Connection, usual: usize) -> u64 {
    let mut buffer = Buffer::new(usual);
    let mut received = 0;
    let mut missing = HEAD;
    while let Ok(true) = buffer.fill(&mut connection, missing) {
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        buffer.consume(used);
        if let Some(ack) = pending.ack() {
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
