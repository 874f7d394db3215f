//! File with the position that the reader has confirmed.
//!
//! Readers write it, in any process, and an opening of the log. Each holds the lock of the file from the
//! read of the old position to the end of the write. The log reads it before it removes segments.

use std::any::Any;

use crc32c::crc32c;

use crate::analysis::{contents, io};
use crate::error::Error;
use crate::format::names::{CONFIRMED, CONFIRMED_LOCK, CONFIRMING};
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

/// Stores the sequence number durably, unless a larger one is stored.
pub(crate) fn raise(storage: &dyn Storage, sequence: u64) -> Result<(), Error> {
    let _lock = lock(storage)?;
    // WHY also a position that is there: the program that stored it may have ended before it was durable.
    write(storage, sequence.max(read(storage)?))
}

/// Stores the sequence number durably if a larger one is stored.
pub(crate) fn lower(storage: &dyn Storage, sequence: u64) -> Result<(), Error> {
    // WHY without the lock at first: most openings have nothing to change, and must wait for no reader.
    if read(storage)? <= sequence {
        return Ok(());
    }
    let _lock = lock(storage)?;
    if read(storage)? > sequence { write(storage, sequence) } else { Ok(()) }
}

fn lock(storage: &dyn Storage) -> Result<Box<dyn Any + Send>, Error> {
    storage.wait_for_lock(CONFIRMED_LOCK).map_err(io(storage, "lock", CONFIRMED_LOCK))
}

/// Stores the sequence number durably. The caller is the only one to write it.
pub(crate) fn write(storage: &dyn Storage, sequence: u64) -> Result<(), Error> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.extend(crc32c(&bytes).to_le_bytes());
    replace(storage, CONFIRMING, CONFIRMED, &bytes)
}
