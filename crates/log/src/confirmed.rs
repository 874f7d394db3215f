//! File with the position that the reader has confirmed.
//!
//! The reader writes it, in any process; the log reads it before it removes segments.

use crc32c::crc32c;

use crate::analysis::contents;
use crate::error::Error;
use crate::format::names::{CONFIRMED, CONFIRMING};
use crate::recovery::replace;
use crate::storage::Storage;

/// Returns the sequence number before which all records are confirmed: 0 if the file is absent or
/// damaged, so that no segment is removed.
pub(crate) fn read(storage: &dyn Storage) -> Result<u64, Error> {
    match contents(storage, CONFIRMED) {
        Ok(bytes) => Ok(decode(&bytes).unwrap_or(0)),
        Err(Error::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

fn decode(bytes: &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    let crc: [u8; 4] = rest.try_into().ok()?;
    (u32::from_le_bytes(crc) == crc32c(number)).then_some(u64::from_le_bytes(*number))
}

/// Stores the sequence number.
pub(crate) fn write(storage: &dyn Storage, sequence: u64) -> Result<(), Error> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.extend(crc32c(&bytes).to_le_bytes());
    replace(storage, CONFIRMING, CONFIRMED, &bytes)
}
