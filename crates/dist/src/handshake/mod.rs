//! Handshake, version 6: two nodes exchange names and capability flags, and prove that they know
//! the same cookie. Pure: frames in, bytes out.
//!
//! The owner of the socket passes each frame to an [`Initiator`] or an [`Acceptor`] and sends the
//! frames it returns. Frames here have a two-byte length ([`take_frame`]).
//!
//! ```text
//! initiator                                    acceptor
//!    name, flags, creation          ------>
//!                                   <------    status
//!   (true or false                  ------>    if the status was `alive`)
//!                                   <------    name, flags, creation, challenge
//!   (upper flags, creation          ------>    if the first frame had the old format)
//!    challenge, digest              ------>
//!                                   <------    digest
//! ```
//!
//! # Authentication
//!
//! No statement of a peer takes effect before its digest is verified. Before that, its name only
//! selects the status it receives. An outgoing call or a connection that it claims to replace is
//! ended after [`Step::Done`] and not before. A frame is at most [`MOST_BYTES`] long, and each side
//! sends at most three.
//!
//! # Nodes of OTP 24 and before
//!
//! A caller that has not asked epmd for our version may send the old first frame, with the lower
//! half of the flags and no creation; the complement follows later. As the initiator we look up the
//! version and always send the new frame.
//!
//! COST: a few small allocations per handshake.

mod acceptor;
mod initiator;
mod message;
mod refused;

use crate::flags::Flags;
use crate::name::NodeName;

pub use acceptor::{Acceptor, Called, Caller, Verdict};
pub use initiator::Initiator;
pub use message::MOST_BYTES;
pub use refused::Refused;

/// Identity of this node in the handshake.
#[derive(Clone, Debug)]
pub struct LocalNode {
    /// The node name.
    pub name: NodeName,
    /// The creation, which distinguishes this node from earlier ones of the same name.
    pub creation: u32,
    /// [`Flags::OFFERED`], and [`Flags::PUBLISHED`] unless the node is hidden.
    pub flags: Flags,
}

/// The next step of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another frame is expected.
    More,
    /// The acceptor has a connection to a node of our name. The initiator must state whether that connection is dead
    /// ([`Initiator::go_on`]).
    Alive,
    /// The acceptor knows the caller and must decide ([`Acceptor::decide`]).
    Called(Caller),
    /// Both nodes have proven knowledge of the cookie.
    Done(Established),
}

/// Result of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The peer's name.
    pub peer: NodeName,
    /// The peer's creation. A node with the same name and another creation is another node.
    pub creation: u32,
    /// The flags that both nodes have.
    pub flags: Flags,
    /// The dynamic name and creation assigned by the peer, if requested.
    pub named: Option<(NodeName, u32)>,
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

#[cfg(test)]
mod tests;
