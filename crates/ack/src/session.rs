//! How a client of `best` opens a session, and what it is answered. Pure.
//!
//! The server looks at the first message of a connection with [`Opening::of`],
//! the client at the first message that it is sent with [`Answer::of`]. Any
//! thread may; nothing is kept here. What a session means is in
//! `docs/ack/protocol.md`, which these bytes are part of and which does not
//! change: a later version has another last byte in its name.
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
//! | `opening` | what the client says first |
//! | `answer` | what it is answered |
//!
//! COST: an answer is a block of memory of 29 bytes, and 12 for each refusal.

mod answer;
mod opening;

pub use answer::{Answer, BadAnswer, Opened, Status};
pub use opening::{BadOpening, Level, Opening};

use crate::wire::{HEAD, Id};

/// What stands in the place of an id, for the version that is spoken here.
pub const NAME: Id = Id(*b"PURLIN 1");
/// Bytes of an opening, its head included.
pub const OPENING: usize = HEAD + 25;
/// Bytes of an answer without refusals, its head included.
pub const ANSWER: usize = HEAD + 17;
/// The widest window there may be. An answer with as many refusals fits into
/// [`LARGEST`](crate::wire::LARGEST), by which a client may limit what it reads.
pub const WIDEST: u32 = 1 << 20;

/// The last byte of the name of a session, whatever the version.
pub(crate) fn version(id: Id) -> Option<u8> {
    let [name @ .., version] = id.0;
    let [known @ .., _] = NAME.0;
    (name == known).then_some(version)
}

/// What is left of a payload.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}
