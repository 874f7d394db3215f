//! Decompression of compressed terms up to a size limit.

use std::io::Read;

use flate2::bufread::ZlibDecoder;

use crate::error::Reason;

/// WHY a limit: an announced size is allocated up to here in advance; beyond it the buffer grows
/// with the data.
const BELIEVED: usize = 64 << 10;

/// Decompresses the zlib data at the beginning of `bytes` to exactly `size` bytes. Returns them and
/// the number of compressed bytes consumed. COST: as much memory as comes out, at most `size`.
pub(crate) fn inflate(bytes: &[u8], size: usize) -> Result<(Vec<u8>, usize), Reason> {
    let mut expanded = Vec::with_capacity(size.min(BELIEVED));
    let mut decoder = ZlibDecoder::new(bytes);
    // One byte more than announced detects excess data, and makes the decoder verify the checksum.
    let most = size as u64 + 1;
    let read = decoder.by_ref().take(most).read_to_end(&mut expanded);
    match read {
        Ok(length) if length == size => Ok((expanded, decoder.total_in() as usize)),
        _ => Err(Reason::Compressed),
    }
}
