//! Session handshake of `best`: encoding of the opening and the answer. Pure.
//!
//! The server parses the first message of a connection with [`Opening::of`], the client parses the
//! first message from the server with [`Answer::of`]. Both keep no state and may be called from any
//! thread. `docs/ack/protocol.md` specifies sessions and these bytes, which do not change: a later
//! version has a different last byte in its name.
//!
//! ```text
//! opening   "PURLIN 1" │ size 4 = 25 │ client 16 │ epoch 8 │ level 1
//! answer    "PURLIN 1" │ size 4      │ status 1 │ newest 8 │ window 4 │ largest 4
//!                                    │ id 8 │ reason 4      for each refusal that may have been missed
//! ```
//!
//! All numbers are little-endian.
//!
//! | module | role |
//! |---|---|
//! | `opening` | request of the client |
//! | `answer` | answer of the server |
//!
//! COST: an answer allocates 29 bytes, and 12 for each refusal.

mod answer;
mod opening;

pub use answer::{Answer, BadAnswer, Opened, Status};
pub use opening::{BadOpening, Level, Opening};

use crate::wire::{HEAD, Id};

/// Id of an opening and its answer, for the version implemented here.
pub const NAME: Id = Id(*b"PURLIN 1");
/// Length of an opening in bytes, head included.
pub const OPENING: usize = HEAD + 25;
/// Length of an answer without refusals in bytes, head included.
pub const ANSWER: usize = HEAD + 17;
/// Largest permitted window. An answer with that many refusals fits into
/// [`LARGEST`](crate::wire::LARGEST), which a client may use as its read limit.
pub const WIDEST: u32 = 1 << 20;

/// Returns the version byte if `id` is the name of a session of any version.
pub(crate) fn version(id: Id) -> Option<u8> {
    let [name @ .., version] = id.0;
    let [known @ .., _] = NAME.0;
    (name == known).then_some(version)
}

/// Unparsed rest of a payload.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}
