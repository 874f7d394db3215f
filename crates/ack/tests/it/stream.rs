//! A client's stream through a server loop and back, split at every relevant position.

use purlin_ack::frames::{Frames, needed, summarize};
use purlin_ack::pending_acks::PendingAcks;
use purlin_ack::read_buffer::ReadBuffer;
use purlin_ack::verifier::{AckVerifier, Answer};
use purlin_ack::wire::{HEAD, Head, Id, SizeOrder};

const LIMIT: u32 = 100_000;
const SIZES: [u32; 8] = [0, 1, 5, 99, 100, 65_536, LIMIT, 0];

/// Encodes a message of each size. Each payload repeats the id of its message.
fn stream(order: SizeOrder) -> Vec<u8> {
    let mut stream = Vec::new();
    for (id, size) in (0..).zip(SIZES) {
        stream.extend(Head { id: Id::from(id), size }.to_bytes(order));
        stream.extend(std::iter::repeat_n(id as u8, size as usize));
    }
    stream
}

/// Returns the start of each message and the end of the last.
fn boundaries() -> Vec<usize> {
    let ends = SIZES.iter().scan(0, |end, size| {
        *end += HEAD + *size as usize;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Reads the pieces in turn, verifies each message, and answers after each read.
fn serve(pieces: [&[u8]; 2], order: SizeOrder) -> Vec<u8> {
    let (mut read, mut owed) = (ReadBuffer::new(1000), PendingAcks::default());
    let (mut answers, mut seen) = (Vec::new(), 0);
    for mut piece in pieces {
        while !piece.is_empty() {
            let missing = needed(read.waiting(), order, LIMIT).expect("no size is over the limit");
            let room = read.spare(missing);
            let count = room.len().min(piece.len());
            room[..count].copy_from_slice(&piece[..count]);
            piece = &piece[count..];
            read.filled(count);
            let block = summarize(read.waiting(), order, LIMIT);
            for frame in Frames::new(read.waiting(), order, LIMIT) {
                assert_eq!(frame.id, Id::from(seen));
                assert_eq!(frame.payload.len(), SIZES[seen as usize] as usize);
                assert!(frame.payload.iter().all(|byte| *byte == seen as u8));
                seen += 1;
            }
            owed.add(block);
            read.consume(block.used);
            answers.extend(std::iter::from_fn(|| owed.take()).flat_map(|ack| ack.to_bytes()));
        }
    }
    assert_eq!((seen, read.waiting()), (SIZES.len() as u64, &[][..]));
    answers
}

#[test]
fn every_message_is_answered_once_for_any_split() {
    for order in [SizeOrder::Big, SizeOrder::Little] {
        let stream = stream(order);
        let near = boundaries().into_iter().flat_map(|at| at.saturating_sub(14)..=at + 14);
        for cut in near.filter(|cut| *cut <= stream.len()) {
            let (one, other) = stream.split_at(cut);
            let answers = serve([one, other], order);
            let (mut verifier, mut count) = (AckVerifier::acks(), 0);
            // The client reads its answers byte by byte.
            for mut byte in answers.chunks(1) {
                if let Some(answer) = verifier.take(&mut byte).expect("no gap") {
                    let Answer::Acked { count: more, .. } = answer else { panic!("{answer:?}") };
                    count += more;
                }
            }
            assert_eq!(verifier.newest(), Some(SIZES.len() as u64 - 1), "cut at {cut}");
            assert_eq!(count, SIZES.len() as u64, "cut at {cut}");
        }
    }
}
