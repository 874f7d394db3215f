//! Strategies with one task per connection: request-reply, sync-ack and best.

use super::buffer::Buffer;
use super::connection::{Reader, Writer};
use super::wire::{HEAD, Skimmed, size, skim};

/// Size of the read buffer in bytes, unless a message is larger: that of purlin's servers of the
/// same strategies.
pub(super) const USUAL: usize = 64 << 10;

/// The same for best.
pub(super) const LARGE: usize = 256 << 10;

/// Size of the read buffer of request-reply. The client has one message on its way.
const SMALL: usize = 4 << 10;

/// Replies to each message with its id.
pub(super) async fn request_reply(mut reader: Reader, mut writer: Writer) -> u64 {
    let mut buffer = Buffer::new(SMALL);
    let mut received = 0;
    loop {
        let Some((head, rest)) = buffer.filled().split_first_chunk::<HEAD>() else {
            match buffer.fill(&mut reader, HEAD).await {
                Some(()) => continue,
                None => return received,
            }
        };
        let [id @ .., _, _, _, _] = *head;
        let Some(size) = size(head, u32::from_be_bytes) else {
            return received;
        };
        if rest.len() < size {
            match buffer.fill(&mut reader, HEAD + size).await {
                Some(()) => continue,
                None => return received,
            }
        }
        buffer.consume(HEAD + size);
        if writer.write_all(&id).await.is_err() {
            return received;
        }
        received += 1;
    }
}

/// Reads the available data and acknowledges it before the next read.
pub(super) async fn sync_ack(mut reader: Reader, mut writer: Writer, usual: usize) -> u64 {
    let mut buffer = Buffer::new(usual);
    let mut received = 0;
    let mut missing = HEAD;
    while buffer.fill(&mut reader, missing).await.is_some() {
        let Skimmed { pending, used, needed } = skim(buffer.filled());
        buffer.consume(used);
        if let Some(ack) = pending.ack() {
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
