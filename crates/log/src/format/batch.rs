//! Header of a batch: what one write holds.

use crc32c::crc32c;

use super::LARGEST_SEQUENCE;
use super::fields::Fields;

/// Length of the header in bytes.
pub(crate) const HEADER: usize = 48;

/// Largest length of a batch in bytes, its header included.
pub const LARGEST_BATCH: u32 = 1 << 30;

/// Header of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The segment's marker.
    pub(crate) marker: u64,
    /// Length of the body in bytes.
    pub(crate) length: u32,
    /// Number of records in the body.
    pub(crate) records: u32,
    /// Sequence number of the first record. A batch without records has that of the next record.
    pub(crate) first: u64,
    /// Length of the segment that was synced when the batch was written.
    ///
    /// WHY: a damaged batch before this offset was durable. One after it may be what a power loss has
    /// left of an unsynced write, even if a later batch is whole.
    pub(crate) synced: u64,
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    /// Checksum of the body.
    pub(crate) body: u32,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&self.marker.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.records.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.synced.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.time.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.body.to_le_bytes());
        let crc = crc32c(&bytes[..44]);
        bytes[44..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Parses a header of the segment with this marker.
    ///
    /// INVARIANT: the length and the sequence number of a parsed header are covered by a checksum, and
    /// at most [`LARGEST_BATCH`] and [`LARGEST_SEQUENCE`].
    pub(crate) fn from_bytes(bytes: &[u8; HEADER], marker: u64) -> Option<Self> {
        let mut fields = Fields(bytes);
        let header = Self {
            marker: fields.u64()?,
            length: fields.u32()?,
            records: fields.u32()?,
            first: fields.u64()?,
            synced: fields.u64()?,
            time: fields.u64()?,
            body: fields.u32()?,
        };
        let whole = header.marker == marker
            && fields.u32()? == crc32c(&bytes[..HEADER - 4])
            && header.length <= LARGEST_BATCH
            && header.first <= LARGEST_SEQUENCE;
        whole.then_some(header)
    }

    /// Returns whether this is the body of the batch.
    pub(crate) fn matches(&self, body: &[u8]) -> bool {
        crc32c(body) == self.body
    }
}
