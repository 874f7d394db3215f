//! Check whether a result can be encoded as a part of a message.

use purlin_term::{EncodeError, Encoder, Term};

/// Maximum size of an encoded block.
const BLOCK: usize = 64 << 10;

/// Checks that a term can be encoded as a part of another. WHY: the message is encoded where its caller can no
/// longer be refused.
///
/// COST: an encoding that is dropped, in a buffer of [`BLOCK`] bytes, without long binaries.
///
/// # Errors
/// Those of the encoding.
pub(in crate::cluster) fn encodable(part: &Term) -> Result<(), EncodeError> {
    let (mut block, mut shared) = (Vec::new(), Vec::new());
    let mut encoder = Encoder::bare(part).share(&mut shared);
    while !encoder.write_some(&mut block, BLOCK)? {
        block.clear();
    }
    Ok(())
}

/// The reason of a call whose result cannot be encoded.
pub(in crate::cluster) fn bad_reply(why: &str) -> Term {
    tagged!("bad_reply", why)
}
