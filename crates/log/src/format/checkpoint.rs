//! Checkpoint: the states of all clients at a position of the log, all of it synced.

use crc32c::crc32c;

use super::fields::Fields;
use super::section::{refusals, take_refusals};
use super::{LARGEST_SEQUENCE, VERSION};
use crate::clients::{Clients, State};
use crate::record::Position;

const MAGIC: [u8; 8] = *b"PURLINCP";

/// States of all clients at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Base of the segment that is appended to.
    pub(crate) base: u64,
    /// Length of that segment. All of it, and all segments before, were synced.
    pub(crate) length: u64,
    /// Sequence number of the next record.
    pub(crate) next: u64,
    /// States of the clients.
    pub(crate) clients: Clients,
}

/// Encodes a checkpoint of these states.
pub(crate) fn encode(base: u64, length: u64, next: u64, clients: &Clients) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(48 + 48 * clients.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((clients.len() as u32).to_le_bytes());
    for field in [base, length, next] {
        bytes.extend(field.to_le_bytes());
    }
    for (id, State { position, written }) in clients.iter() {
        bytes.extend(id);
        for field in [position.epoch, position.newest, *written] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend((position.refused.len() as u32).to_le_bytes());
        refusals(&position.refused, &mut bytes);
    }
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes
}

/// Decodes a checkpoint. Returns `None` if it is invalid or of another version.
pub(crate) fn decode(bytes: &[u8]) -> Option<Checkpoint> {
    let (content, crc) = bytes.split_last_chunk()?;
    if u32::from_le_bytes(*crc) != crc32c(content) {
        return None;
    }
    let mut fields = Fields(content);
    if fields.bytes(MAGIC.len())? != MAGIC || fields.u32()? != VERSION {
        return None;
    }
    let count = fields.u32()?;
    let (base, length, next) = (fields.u64()?, fields.u64()?, fields.u64()?);
    if next > LARGEST_SEQUENCE {
        return None;
    }
    let mut clients = Clients::default();
    for _ in 0..count {
        let id = fields.id()?;
        let (epoch, newest, written) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let refusals = fields.u32()?;
        let refused = take_refusals(&mut fields, refusals)?;
        clients.insert(id, State { position: Position { epoch, newest, refused }, written });
    }
    fields.0.is_empty().then_some(Checkpoint { base, length, next, clients })
}
