//! An arbitrary stream, split at any point, is parsed into the same messages as by a simple
//! reference parser.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_ack::frames::{Frames, TooLarge, summarize};
use purlin_ack::pending_acks::PendingAcks;
use purlin_ack::read_buffer::ReadBuffer;
use purlin_ack::wire::SizeOrder;

type Message = ([u8; 8], Vec<u8>);

/// Reference parser, byte by byte. Returns the messages, and the size that ended the stream if it
/// exceeds the limit.
fn slowly(stream: &[u8], order: SizeOrder, limit: u32) -> (Vec<Message>, Option<u32>) {
    let (mut messages, mut at) = (Vec::new(), 0);
    while at + 12 <= stream.len() {
        let mut size = 0u64;
        for place in 0..4 {
            let byte = match order {
                SizeOrder::Big => stream[at + 8 + place],
                SizeOrder::Little => stream[at + 11 - place],
            };
            size = size * 256 + u64::from(byte);
        }
        if size > u64::from(limit) {
            return (messages, Some(size as u32));
        }
        let end = at + 12 + size as usize;
        if end > stream.len() {
            break;
        }
        let id = stream[at..at + 8].try_into().expect("eight bytes");
        messages.push((id, stream[at + 12..end].to_vec()));
        at = end;
    }
    (messages, None)
}

fuzz_target!(|input: &[u8]| {
    let [settings, limit, usual, cuts, stream @ ..] = input else { return };
    let order = if settings & 1 == 0 { SizeOrder::Little } else { SizeOrder::Big };
    // Small limits, so that larger sizes are common; or no limit.
    let limit = if settings & 2 == 0 { u32::from(*limit) } else { u32::MAX };
    let (due, too_large) = slowly(stream, order, limit);

    let mut buffer = ReadBuffer::new(usize::from(*usual));
    let (mut came, mut messages, mut pending) = (0, Vec::new(), PendingAcks::default());
    // Lengths of the reads, from a pseudo-random sequence seeded by the input.
    let mut cut = u32::from(*cuts);
    let mut needed: Result<usize, TooLarge> = Ok(12);
    while let Ok(missing) = needed
        && came < stream.len()
    {
        cut = cut.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let most = 1 + (cut >> 16) as usize % 40;
        let room = buffer.spare(missing);
        let count = room.len().min(most).min(stream.len() - came);
        assert!(count > 0);
        room[..count].copy_from_slice(&stream[came..came + count]);
        buffer.filled(count);
        came += count;

        let block = summarize(buffer.waiting(), order, limit);
        let mut frames = Frames::new(buffer.waiting(), order, limit);
        let before = messages.len();
        messages.extend((&mut frames).map(|one| (one.id.0, one.payload.to_vec())));
        assert_eq!(block.frames, (messages.len() - before) as u64);
        assert_eq!(block.used, frames.used());
        if block.frames > 0 {
            assert_eq!(block.newest.map(|id| id.0), messages.last().map(|(id, _)| *id));
        }
        pending.add(block);
        needed = frames.needed();
        buffer.consume(block.used);
    }
    assert_eq!(needed.err().map(|refused| refused.size), too_large);
    assert_eq!(messages, due);
    let acknowledged = pending.take().map_or(0, |ack| u64::from(ack.skipped) + 1);
    assert_eq!(acknowledged, due.len() as u64);
});
