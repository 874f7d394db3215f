//! Header of a segment.

use crc32c::crc32c;

use super::VERSION;
use super::fields::Fields;

/// Length in bytes.
pub(crate) const HEADER: usize = 52;
const MAGIC: [u8; 8] = *b"PURLINLG";
/// Flag of a segment before which a repair has left records out.
const GAP: u32 = 1;

/// Header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Sequence number of the first record.
    pub(crate) base: u64,
    /// Base of the segment before, or `base` if there was none.
    pub(crate) previous: u64,
    /// Whether records before the segment were left out.
    pub(crate) gap: bool,
    /// Milliseconds since 1970.
    pub(crate) created: u64,
    /// Random number with which every batch of the segment begins.
    ///
    /// WHY random: a client that knew it could send a payload that looks like a batch, and the search
    /// for batches after a damaged one would find it.
    pub(crate) marker: u64,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// Wrong magic number or checksum.
    Damaged,
    /// Valid, but of this version.
    Version(u32),
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((u32::from(self.gap) * GAP).to_le_bytes());
        for field in [self.base, self.previous, self.created, self.marker] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(crc32c(&bytes).to_le_bytes());
        let mut header = [0; HEADER];
        header.copy_from_slice(&bytes);
        header
    }

    pub(crate) fn from_bytes(bytes: &[u8; HEADER]) -> Result<Self, Invalid> {
        let mut fields = Fields(bytes);
        let parsed = (|| {
            let magic = fields.bytes(MAGIC.len())?;
            let (version, flags) = (fields.u32()?, fields.u32()?);
            let (base, previous) = (fields.u64()?, fields.u64()?);
            let (created, marker) = (fields.u64()?, fields.u64()?);
            let header = Self { base, previous, gap: flags & GAP != 0, created, marker };
            Some((magic, version, header, fields.u32()?))
        })();
        match parsed {
            Some((magic, version, header, crc))
                if magic == MAGIC && crc == crc32c(&bytes[..HEADER - 4]) =>
            {
                if version == VERSION {
                    Ok(header)
                } else {
                    Err(Invalid::Version(version))
                }
            }
            _ => Err(Invalid::Damaged),
        }
    }
}
