//! Connection handlers: request-reply and sync-ack.
//!
//! A handler returns when the client closes the connection, exceeds the idle timeout, or sends a
//! message that is too large. It returns the number of acknowledged messages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Header size in bytes: the id and the payload size.
const HEAD: usize = 12;

/// Maximum payload size in bytes.
const LARGEST: usize = 16 << 20;

/// Size of the read buffer in bytes, unless a message is larger.
const BLOCK: usize = 64 << 10;

/// Replies to each message with its id.
pub(crate) fn request_reply(mut stream: &TcpStream) -> u64 {
    let mut messages = BufReader::new(stream);
    let mut received = 0;
    while let Some(id) = message(&mut messages) {
        if stream.write_all(&id).is_err() {
            break;
        }
        received += 1;
    }
    received
}

/// Reads a message and returns its id. Returns `None` at the end of the stream, on an error, or if
/// the payload is too large.
fn message(from: &mut impl BufRead) -> Option<[u8; 8]> {
    let mut id = [0; 8];
    from.read_exact(&mut id).ok()?;
    let mut size = [0; 4];
    from.read_exact(&mut size).ok()?;
    let mut left = u32::from_be_bytes(size) as usize;
    if left > LARGEST {
        return None;
    }
    while left > 0 {
        let read = from.fill_buf().ok()?.len().min(left);
        if read == 0 {
            return None;
        }
        from.consume(read);
        left -= read;
    }
    Some(id)
}

/// Reads the available data and acknowledges it before the next read.
pub(crate) fn sync_ack(mut stream: &TcpStream) -> u64 {
    let mut buffer = vec![0; BLOCK];
    // The first `filled` bytes of the buffer are read and not yet parsed.
    let (mut filled, mut received) = (0, 0);
    loop {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) | Err(_) => return received,
            Ok(read) => filled += read,
        }
        let (mut used, mut count, mut newest) = (0, 0u32, [0; 8]);
        let needed = loop {
            let Some((head, rest)) = buffer[used..filled].split_first_chunk::<HEAD>() else {
                break HEAD;
            };
            let &[id @ .., a, b, c, d] = head;
            let size = u32::from_le_bytes([a, b, c, d]) as usize;
            if size > LARGEST {
                return received;
            }
            if rest.len() < size {
                break HEAD + size;
            }
            (newest, count) = (id, count + 1);
            used += HEAD + size;
        };
        if count > 0 {
            let mut ack = [0; HEAD];
            ack[..8].copy_from_slice(&newest);
            ack[8..].copy_from_slice(&(count - 1).to_le_bytes());
            if stream.write_all(&ack).is_err() {
                return received;
            }
            received += u64::from(count);
        }
        buffer.copy_within(used..filled, 0);
        filled -= used;
        buffer.resize(needed.max(BLOCK), 0);
    }
}
