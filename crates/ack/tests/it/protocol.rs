//! The byte sequences in `docs/ack/protocol.md` match the encoder.

use std::collections::BTreeSet;

use purlin_ack::session::{Answer, Level, Opened, Opening, Status};
use purlin_ack::wire::{Ack, Head, Id, Reason, Refusal, SizeOrder};

const PAGE: &str = include_str!("../../../../docs/ack/protocol.md");

/// Returns the byte blocks of the page.
fn shown() -> BTreeSet<Vec<u8>> {
    let bytes = |block: &str| -> Vec<u8> {
        let hex = block.strip_prefix("text").expect("a block is marked as text");
        let hex = hex.split_whitespace();
        hex.map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
    };
    PAGE.split("```").skip(1).step_by(2).map(bytes).collect()
}

#[test]
fn page_shows_exactly_the_encoded_examples() {
    let message =
        |order| [&Head { id: Id::from(1), size: 5 }.to_bytes(order)[..], b"hello"].concat();
    let opening = Opening { client: *b"abcdefghijklmnop", epoch: 1, level: Level::Handled };
    let refused = vec![Refusal { id: 40, reason: Reason::FAILED }];
    let opened = Opened { newest: Some(41), window: 4096, largest: 16 << 20, refused };
    let written = BTreeSet::from([
        message(SizeOrder::Big),
        message(SizeOrder::Little),
        Ack { id: Id::from(49), skipped: 49 }.to_bytes().to_vec(),
        opening.to_bytes().to_vec(),
        Answer::Opened(opened).to_bytes(),
        Answer::Refused(Status::BUSY).to_bytes(),
        Refusal { id: 7, reason: Reason::TOO_LARGE }.to_bytes().to_vec(),
    ]);
    assert_eq!(shown(), written);
}
