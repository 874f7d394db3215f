//! Limits on memory that a peer can occupy, and the length field of a frame. Pure.

use crate::broken::Broken;

/// Fragment size: the number of payload bytes in one fragment, as on the BEAM.
pub const FRAGMENT_SIZE: usize = 64 << 10;

/// Limits on memory that a peer can occupy. The defaults let a term of 256 MiB on the wire arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a frame; 320 MiB. A longer one ends the connection. A peer with `FRAGMENTS` sends few frames above
    /// 64 KiB.
    pub frame: usize,
    /// Bytes of all incomplete fragmented messages together, with their atoms; 512 MiB. A message that exceeds it is
    /// dropped.
    pub fragments: usize,
    /// Bytes of the atoms of all incomplete fragmented messages together; 32 MiB. A message that exceeds it is dropped.
    pub atoms: usize,
    /// Number of incomplete fragmented messages; 65,536. One more ends the connection.
    pub sequences: usize,
    /// Limits for one term; by default 1 GiB of memory. A term that exceeds them is dropped with its message.
    pub term: purlin_term::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        let term = purlin_term::Limits { memory: 1 << 30, ..purlin_term::Limits::default() };
        let (fragments, atoms) = (512 << 20, 32 << 20);
        Self { frame: 320 << 20, fragments, atoms, sequences: 1 << 16, term }
    }
}

/// Returns the first frame in `bytes` and its total length with the length field, or `None` if it is incomplete.
///
/// ```
/// use purlin_dist_protocol::frame::take_frame;
///
/// assert_eq!(take_frame(b"\0\0\0\x02hi\0\0", 100), Ok(Some((&b"hi"[..], 6))));
/// assert_eq!(take_frame(b"\0\0\0\x02h", 100), Ok(None));
/// assert!(take_frame(b"\xff\xff\xff\xff", 100).is_err());
/// ```
///
/// # Errors
/// The frame is longer than `most` bytes.
#[inline]
pub fn take_frame(bytes: &[u8], most: usize) -> Result<Option<(&[u8], usize)>, Broken> {
    let Some((length, behind)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length);
    if length as usize > most {
        return Err(Broken::TooLong(length));
    }
    Ok(behind.get(..length as usize).map(|frame| (frame, 4 + frame.len())))
}
