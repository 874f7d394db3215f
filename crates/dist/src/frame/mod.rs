//! Frames: what crosses a connection after its handshake. Pure.
//!
//! A frame has four bytes of length. One of length 0 is a *tick*: it says that the node is
//! there. Another holds a control message and, for some of them, a payload, in one of
//! these forms:
//!
//! | begins with | what follows | when |
//! |---|---|---|
//! | `112` | both terms, each with its version byte | the other node has neither of the two flags below |
//! | `131, 68` | a table of atoms, both terms without version bytes | `DIST_HDR_ATOM_CACHE` or `FRAGMENTS` |
//! | `131, 69` | sequence, number of fragments, a table of atoms, the control message, a part of the payload | `FRAGMENTS`, and the payload is large |
//! | `131, 70` | sequence, number of fragments that are left, a part of the payload | likewise |
//!
//! [`Incoming`] takes frames apart, [`Outgoing`] makes them. Which forms are *written* is
//! decided by what both nodes can do ([`crate::Flags`] says what we offer, and why); all
//! of them are read.
//!
//! # The atom cache
//!
//! Each direction of a connection has a table of 2048 atoms. The header of a frame lists
//! up to 255 places of it, some with a new atom to be put there first; in the terms behind
//! it an atom is then an index into that list. Who writes decides what is kept where.
//!
//! # Fragments
//!
//! A payload of more than [`PORTION`] is cut; the control message and the table of atoms
//! stand in the first fragment, whole. Fragments of one message come in order, and others'
//! frames may come between them. So a large message holds up nobody but the messages of
//! its own sender, which must not overtake it.
//!
//! # What strangers can do
//!
//! A frame, a message in fragments, the number of messages that are incomplete and each
//! term have [`Limits`]. Room is made only for bytes that have come.

mod broken;
mod cache;
mod fragments;
mod header;
mod incoming;
mod outgoing;
mod payload;
mod repeated;
mod said;

pub use broken::Broken;
pub use incoming::Incoming;
pub use outgoing::{Outgoing, Size, Unsendable};
pub use payload::{NoValue, Payload, Signal, Unread};
pub use repeated::{Repeated, Say};
pub use said::{Recipient, Said};

/// How much of a payload goes into one fragment, as on the BEAM.
pub const PORTION: usize = 64 << 10;

/// What a peer may ask us to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of a frame; 64 MiB. A node with whom fragments were agreed sends few above 64 KiB.
    pub frame: usize,
    /// The bytes of all messages together whose last fragment has not come; 512 MiB.
    pub fragments: usize,
    /// How many such messages there may be; 1024.
    pub sequences: usize,
    /// What one term may take.
    pub term: purlin_term::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        let term = purlin_term::Limits::default();
        Self { frame: 64 << 20, fragments: 512 << 20, sequences: 1024, term }
    }
}

/// The first frame of what was read, and how many bytes it takes with its length; `None` if it is incomplete.
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
