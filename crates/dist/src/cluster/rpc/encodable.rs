//! Check whether a result can be encoded as a part of a message.

use purlin_term::{EncodeError, Encoder, Term};

/// Maximum size of an encoded block.
const BLOCK: usize = 64 << 10;

/// Checks that a term can be encoded as a part of another. WHY: a large or a deferred message is encoded when its caller
/// can no longer be refused.
///
/// COST: an encoding that is dropped, in a buffer of [`BLOCK`] bytes.
///
/// # Errors
/// Those of the encoding.
pub(in crate::cluster) fn encodable(part: &Term) -> Result<(), EncodeError> {
    let (mut encoder, mut block) = (Encoder::bare(part), Vec::new());
    while !encoder.write_some(&mut block, BLOCK)? {
        block.clear();
    }
    Ok(())
}

/// The reason of a call whose result cannot be encoded.
pub(in crate::cluster) fn bad_reply(why: &str) -> Term {
    tagged!("bad_reply", why)
}
