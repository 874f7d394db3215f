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
//! [`Limits`] bound a frame, the incomplete messages and their number, and each term. Memory is
//! allocated only for bytes that have arrived. A message that is invalid or exceeds a limit is
//! dropped ([`InvalidMessage`]); only an error in the framing ends the connection ([`Broken`]).

mod cache;
mod control_template;
mod encoded;
mod fragments;
mod frames;
mod header;
mod incoming;
mod incoming_frame;
mod limits;
mod outgoing;
mod payload;

pub use super::broken::{Broken, InvalidMessage};
pub use control_template::{ControlTemplate, OutgoingControl};
pub use encoded::Encoded;
pub use frames::Frames;
pub use incoming::Incoming;
pub use incoming_frame::{IncomingFrame, Recipient};
pub use limits::{FRAGMENT_SIZE, Limits, take_frame};
pub use outgoing::{Outgoing, Size, Unsendable};
pub use payload::{NoValue, Payload, Signal, StoredPayload, Unread};

#[cfg(test)]
mod tests;
