//! Strategy async-ack: the reader passes blocks as they were read to a responder, which parses and
//! acknowledges them.

use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::connection::{Reader, Writer};
use super::direct::{LARGE, USUAL};
use super::wire::{Pending, skim};

/// The responder acknowledges after this number of blocks, or after this time of silence.
const EVERY: u32 = 22;
const QUIET: Duration = Duration::from_millis(5);

/// Number of blocks that may wait for the responder; the reader then waits for it.
const BLOCKS: usize = 100;

pub(super) async fn async_ack(mut reader: Reader, writer: Writer) -> u64 {
    let (blocks, read) = mpsc::channel(BLOCKS);
    let responder = tokio::spawn(respond(read, writer));
    // Blocks are parts of one allocation, which is reused when all of them are dropped.
    let mut buffer = BytesMut::new();
    loop {
        if buffer.capacity() < USUAL {
            buffer.reserve(LARGE);
        }
        if reader.read(&mut buffer).await.is_none() || blocks.send(buffer.split()).await.is_err() {
            break;
        }
    }
    drop(blocks);
    responder.await.unwrap_or(0)
}

/// Returns the number of acknowledged messages when the reader has ended, on a message that is too
/// large, or if the client does not read.
async fn respond(mut blocks: mpsc::Receiver<BytesMut>, mut writer: Writer) -> u64 {
    let mut silence = std::pin::pin!(sleep(QUIET));
    let mut newest = Instant::now();
    let mut rest = BytesMut::new();
    let (mut pending, mut since, mut received) = (Pending::default(), 0, 0);
    let mut open = true;
    while open {
        let mut due = false;
        tokio::select! {
            biased;
            block = blocks.recv() => match block {
                Some(block) => {
                    newest = Instant::now();
                    // Neighbouring parts of an allocation are joined without a copy.
                    rest.unsplit(block);
                    let found = skim(&rest);
                    rest.advance(found.used);
                    pending.add(found.pending);
                    since += 1;
                    open = found.needed.is_some();
                }
                None => open = false,
            },
            // WHY one timer that is set again when it fires: see `Reader::read`.
            () = &mut silence, if pending.count() > 0 => {
                let end = newest + QUIET;
                due = end <= Instant::now();
                if !due {
                    silence.as_mut().reset(end);
                }
            }
        }
        if due || since == EVERY || !open {
            since = 0;
            if let Some(ack) = pending.ack() {
                if writer.write_all(&ack).await.is_err() {
                    break;
                }
                received += pending.count();
                pending = Pending::default();
            }
        }
    }
    received
}
