//! Name, lengths and field reader of the two messages of the session handshake.

use crate::wire::encoding::{HEAD, Id};

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
pub(super) fn version(id: Id) -> Option<u8> {
    let [name @ .., version] = id.0;
    let [known @ .., _] = NAME.0;
    (name == known).then_some(version)
}

/// Unparsed rest of a payload.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}
