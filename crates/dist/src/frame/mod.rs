//! Frames: the protocol of a connection after the handshake. Pure.
//!
//! A frame has a four-byte length. A frame of length 0 is a *tick*, which shows that the node is
//! alive. Other frames contain a control message and possibly a payload, in one of these forms:
//!
//! | begins with | what follows | when |
//! |---|---|---|
//! | `112` | both terms, each with a version byte | the peer has neither of the two flags below |
//! | `131, 68` | a list of atoms, both terms without version bytes | `DIST_HDR_ATOM_CACHE` or `FRAGMENTS` |
//! | `131, 69` | sequence, number of fragments, a list of atoms, the control message, a part of the payload | `FRAGMENTS`, and the payload is large |
//! | `131, 70` | sequence, number of fragments left, a part of the payload | likewise |
//!
//! [`Incoming`] decodes frames, [`Outgoing`] encodes them. Which forms are *written* depends on the
//! flags of both nodes ([`crate::Flags`] lists the offered ones, with reasons); all forms are
//! accepted.
//!
//! # The atom cache
//!
//! Each direction of a connection has a table of 2048 atoms. The header of a frame lists up to 255
//! of its entries, some with a new atom to be stored first. In the following terms, an atom is an
//! index into that list. The writer decides which atom is stored in which entry.
//!
//! # Fragments
//!
//! A payload of more than [`FRAGMENT_SIZE`] bytes is split. The first fragment contains the complete
//! control message and list of atoms. The fragments of one message come in order, and other frames
//! may come between them. So a large message delays only later messages of the same sender, which
//! must not overtake it.
//!
//! # Limits for the peer
//!
//! [`Limits`] bound a frame, a fragmented message, the number of incomplete messages, and each term.
//! Memory is allocated only for bytes that have arrived.

mod broken;
mod cache;
mod control_template;
mod fragments;
mod header;
mod incoming;
mod incoming_frame;
mod outgoing;
mod payload;

pub use broken::Broken;
pub use control_template::{ControlTemplate, OutgoingControl};
pub use incoming::Incoming;
pub use incoming_frame::{IncomingFrame, Recipient};
pub use outgoing::{Outgoing, Size, Unsendable};
pub use payload::{NoValue, Payload, Signal, Unread};

/// Fragment size: the number of payload bytes in one fragment, as on the BEAM.
pub const FRAGMENT_SIZE: usize = 64 << 10;

/// Limits on memory that a peer can occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a frame; 64 MiB. A peer with `FRAGMENTS` sends few frames above 64 KiB.
    pub frame: usize,
    /// Bytes of all incomplete fragmented messages together; 512 MiB.
    pub fragments: usize,
    /// Number of incomplete fragmented messages; 1024.
    pub sequences: usize,
    /// Limits for one term.
    pub term: purlin_term::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        let term = purlin_term::Limits::default();
        Self { frame: 64 << 20, fragments: 512 << 20, sequences: 1024, term }
    }
}

/// Returns the first frame in `bytes` and its total length with the length field, or `None` if it is incomplete.
///
/// ```
/// use purlin_dist::frame::take_frame;
///
/// assert_eq!(take_frame(b"\0\0\0\x02hi\0\0", 100), Ok(Some((&b"hi"[..], 6))));
/// assert_eq!(take_frame(b"\0\0\0\x02h", 100), Ok(None));
/// assert!(take_frame(b"\xff\xff\xff\xff", 100).is_err());
/// ```
///
/// # Errors
/// The frame is longer than `most` bytes.
pub fn take_frame(bytes: &[u8], most: usize) -> Result<Option<(&[u8], usize)>, Broken> {
    let Some((length, behind)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length);
    if length as usize > most {
        return Err(Broken::TooLong(length));
    }
    Ok(behind.get(..length as usize).map(|frame| (frame, 4 + frame.len())))
}

#[cfg(test)]
mod tests;
