//! Lines of a client of `examples/gateway`: in whatever pieces they arrive, the same lines are taken, the buffer stays
//! bounded, and each line is a request or a reason why not.
#![no_main]

use libfuzzer_sys::fuzz_target;

use crate::lines::{BadLine, LineBuffer, MAX_LINE};
use crate::request::Request;

#[path = "../../examples/gateway/src/lines.rs"]
mod lines;
#[allow(dead_code, reason = "only the parser is tested")]
#[path = "../../examples/gateway/src/request.rs"]
mod request;

/// Takes all lines of the input, which arrives in pieces of this length.
fn lines(input: &[u8], piece: usize) -> Vec<Result<String, BadLine>> {
    let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
    for piece in input.chunks(piece) {
        buffer.add(piece);
        lines.extend(std::iter::from_fn(|| buffer.take_line()));
    }
    lines
}

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let found = lines(bytes, usize::from(piece).max(1));
    assert_eq!(found, lines(bytes, 1));
    for line in found.into_iter().flatten() {
        assert!(line.len() <= MAX_LINE);
        let _: Result<Request, String> = line.parse();
    }
});
