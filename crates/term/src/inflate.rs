//! Expands compressed terms, and never further than a bound.

use std::io::Read;

use flate2::bufread::ZlibDecoder;

use crate::error::Reason;

/// WHY: what a size merely claims is made room for up to here; beyond it room is made as bytes come.
const BELIEVED: usize = 64 << 10;

/// Expands zlib's data at the beginning of `bytes` to exactly `size` bytes: these, and how many bytes
/// of the data they took. COST: as much memory as comes out, at most `size`.
pub(crate) fn inflate(bytes: &[u8], size: usize) -> Result<(Vec<u8>, usize), Reason> {
    let mut expanded = Vec::with_capacity(size.min(BELIEVED));
    let mut decoder = ZlibDecoder::new(bytes);
    // One byte more than there should be shows that there are more, and has the checksum looked at.
    let most = size as u64 + 1;
    let read = decoder.by_ref().take(most).read_to_end(&mut expanded);
    match read {
        Ok(length) if length == size => Ok((expanded, decoder.total_in() as usize)),
        _ => Err(Reason::Compressed),
    }
}
