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
//! | `fields` | name, lengths and field reader of both |
//!
//! COST: an answer allocates 29 bytes, and 12 for each refusal.

mod answer;
mod fields;
mod opening;

pub use answer::{Answer, BadAnswer, Opened, Status};
pub use fields::{ANSWER, NAME, OPENING, WIDEST};
pub use opening::{BadOpening, Level, Opening};
