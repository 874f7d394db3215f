//! Strategy async-ack: the reader passes blocks as they were read to a responder, which parses and
//! acknowledges them.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use may::go;
use may::io::SplitWriter;
use may::net::TcpStream;
use may::sync::{Semphore, mpsc, spsc};

use super::connection::Connection;
use super::direct::USUAL;
use super::wire::{Pending, skim};

/// The responder acknowledges after this number of blocks, or after this time of silence.
const EVERY: u32 = 22;
const QUIET: Duration = Duration::from_millis(5);

/// Number of blocks that may wait for the responder; the reader then waits for it.
const BLOCKS: usize = 100;

/// A buffer, and how much of it was read.
type Block = (Vec<u8>, usize);

pub(super) fn async_ack(connection: Connection) -> u64 {
    let Ok((mut reader, writer)) = connection.split() else {
        return 0;
    };
    let (blocks, read) = mpsc::channel();
    let (free, buffers) = spsc::channel();
    // WHY: may's channels are unbounded.
    let room = Arc::new(Semphore::new(BLOCKS));
    let freed = Arc::clone(&room);
    let responder = go!(move || respond(writer, read, &free, &freed));
    loop {
        room.wait();
        let mut buffer: Vec<u8> = buffers.try_recv().unwrap_or_else(|_| vec![0; USUAL]);
        match reader.read(&mut buffer) {
            Ok(read @ 1..) if blocks.send((buffer, read)).is_ok() => {}
            _ => break,
        }
    }
    drop(blocks);
    responder.join().unwrap_or(0)
}

/// Returns the number of acknowledged messages when the reader has ended, on a message that is too
/// large, or if the client does not read.
fn respond(
    mut writer: SplitWriter<TcpStream>,
    blocks: mpsc::Receiver<Block>,
    free: &spsc::Sender<Vec<u8>>,
    room: &Semphore,
) -> u64 {
    let mut rest = Vec::new();
    let (mut pending, mut since, mut received) = (Pending::default(), 0, 0);
    let mut open = true;
    while open {
        let block = match pending.count() {
            0 => blocks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            _ => blocks.recv_timeout(QUIET),
        };
        let due = match block {
            Ok((buffer, read)) => {
                let (found, fits) = parse(&mut rest, &buffer[..read]);
                let _ = free.send(buffer);
                room.post();
                pending.add(found);
                since += 1;
                open = fits;
                since == EVERY
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                open = false;
                true
            }
        };
        if due || !open {
            since = 0;
            if let Some(ack) = pending.ack() {
                if writer.write_all(&ack).is_err() {
                    break;
                }
                received += pending.count();
                pending = Pending::default();
            }
        }
    }
    // In this order: the reader may wait for room, and must then find the channel closed.
    drop(blocks);
    room.post();
    received
}

/// Parses a block that follows these bytes, and keeps the incomplete end. Returns what was found,
/// and whether the next message is not too large.
fn parse(rest: &mut Vec<u8>, block: &[u8]) -> (Pending, bool) {
    if rest.is_empty() {
        let found = skim(block);
        rest.extend_from_slice(&block[found.used..]);
        (found.pending, found.needed.is_some())
    } else {
        rest.extend_from_slice(block);
        let found = skim(rest);
        rest.drain(..found.used);
        (found.pending, found.needed.is_some())
    }
}
