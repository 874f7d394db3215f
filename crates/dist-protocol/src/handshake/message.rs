//! Frames of the handshake: encoding and decoding. Pure.
//!
//! Bytes after a name are ignored where the protocol says so, for future versions.

use crate::cookie::Digest;
use crate::cursor::Cursor;
use crate::flags::Flags;
use crate::handshake::refused::{MOST_BYTES, Refused};

/// The first frame of the initiator, `send_name`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hello<'a> {
    pub(super) flags: Flags,
    /// `None` in the old format, in which the complement contains it.
    pub(super) creation: Option<u32>,
    pub(super) name: &'a str,
}

/// The challenge frame of the acceptor, `send_challenge`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge<'a> {
    pub(super) flags: Flags,
    pub(super) challenge: u32,
    pub(super) creation: u32,
    pub(super) name: &'a str,
}

/// Version number in the old first frame.
const OLD_VERSION: u16 = 5;

/// The lower half of the flags.
pub(super) const LOWER: u64 = u32::MAX as u64;

impl<'a> Hello<'a> {
    pub(super) fn read(frame: &'a [u8]) -> Result<Self, Refused> {
        Self::try_read(frame).ok_or(Refused::Malformed("a name"))
    }

    fn try_read(frame: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor(frame);
        match cursor.u8()? {
            b'N' => {
                let flags = Flags::from_bits_retain(cursor.u64()?);
                let creation = Some(cursor.u32()?);
                Some(Self { flags, creation, name: cursor.text()? })
            }
            b'n' => {
                if cursor.u16()? != OLD_VERSION {
                    return None;
                }
                let flags = Flags::from_bits_retain(cursor.u32()?.into());
                Some(Self { flags, creation: None, name: std::str::from_utf8(cursor.0).ok()? })
            }
            _ => None,
        }
    }

    /// Writes the new format, which contains the creation.
    pub(super) fn write(flags: Flags, creation: u32, name: &str, out: &mut Vec<u8>) {
        let (flags, creation) = (flags.bits().to_be_bytes(), creation.to_be_bytes());
        frame(out, &[b"N", &flags, &creation, &length(name), name.as_bytes()]);
    }
}

impl<'a> Challenge<'a> {
    pub(super) fn read(frame: &'a [u8]) -> Result<Self, Refused> {
        Self::try_read(frame).ok_or(Refused::Malformed("a challenge"))
    }

    fn try_read(frame: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor(frame);
        if cursor.u8()? != b'N' {
            return None;
        }
        let flags = Flags::from_bits_retain(cursor.u64()?);
        let (challenge, creation) = (cursor.u32()?, cursor.u32()?);
        Some(Self { flags, challenge, creation, name: cursor.text()? })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let Self { flags, challenge, creation, name } = self;
        let (challenge, creation) = (challenge.to_be_bytes(), creation.to_be_bytes());
        let flags = flags.bits().to_be_bytes();
        frame(out, &[b"N", &flags, &challenge, &creation, &length(name), name.as_bytes()]);
    }
}

/// Decodes `send_status`, of either side.
pub(super) fn read_status(frame: &[u8]) -> Result<&[u8], Refused> {
    frame.strip_prefix(b"s").ok_or(Refused::Malformed("a status"))
}

pub(super) fn write_status(word: &[u8], out: &mut Vec<u8>) {
    frame(out, &[b"s", word]);
}

/// Decodes `send_complement`: the upper half of the flags, and the creation, which the old first frame lacks.
pub(super) fn read_complement(frame: &[u8]) -> Result<(Flags, u32), Refused> {
    match frame {
        [b'c', rest @ ..] if rest.len() == 8 => {
            let mut cursor = Cursor(rest);
            cursor
                .u32()
                .map(|high| Flags::from_bits_retain(u64::from(high) << 32))
                .zip(cursor.u32())
        }
        _ => None,
    }
    .ok_or(Refused::Malformed("a complement"))
}

/// Decodes `send_challenge_reply`: the initiator's challenge and its digest.
pub(super) fn read_reply(frame: &[u8]) -> Result<(u32, Digest), Refused> {
    match frame {
        [b'r', rest @ ..] if rest.len() == 20 => {
            let mut cursor = Cursor(rest);
            cursor.u32().zip(cursor.array())
        }
        _ => None,
    }
    .ok_or(Refused::Malformed("an answer to the challenge"))
}

pub(super) fn write_reply(challenge: u32, digest: Digest, out: &mut Vec<u8>) {
    frame(out, &[b"r", &challenge.to_be_bytes(), &digest]);
}

/// Decodes `send_challenge_ack`: the acceptor's digest.
pub(super) fn read_ack(frame: &[u8]) -> Result<Digest, Refused> {
    match frame {
        [b'a', digest @ ..] => digest.try_into().ok(),
        _ => None,
    }
    .ok_or(Refused::Malformed("the acceptor's digest"))
}

pub(super) fn write_ack(digest: Digest, out: &mut Vec<u8>) {
    frame(out, &[b"a", &digest]);
}

/// Returns the first frame in `bytes` and its total length with the length field, or `None` if it is incomplete.
///
/// # Errors
/// The frame is longer than [`MOST_BYTES`].
pub fn take_frame(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, Refused> {
    let Some((length, behind)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes(*length));
    if length > MOST_BYTES {
        return Err(Refused::TooLong(length));
    }
    Ok(behind.get(..length).map(|frame| (frame, 2 + length)))
}

fn length(name: &str) -> [u8; 2] {
    // A name has at most 255 characters.
    (name.len() as u16).to_be_bytes()
}

/// Appends a frame that consists of these parts.
fn frame(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(length as u16).to_be_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}
