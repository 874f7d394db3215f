//! The handshake, version 6: two nodes tell their names and abilities, and prove that they
//! know one cookie. Pure: frames in, bytes out.
//!
//! Whoever holds the socket gives each frame to an [`Initiator`] or an [`Acceptor`] and
//! writes what that put out. Frames here have two bytes of length ([`take_frame`]).
//!
//! ```text
//! initiator                                    acceptor
//!    name, abilities, creation      ------>
//!                                   <------    status
//!   (true or false                  ------>    if that was `alive`)
//!                                   <------    name, abilities, creation, challenge
//!   (higher abilities, creation     ------>    if the first was of the old kind)
//!    challenge, digest of the other's ---->
//!                                   <------    digest
//! ```
//!
//! # What is believed when
//!
//! Nothing of what a peer says is acted upon before its digest is right. What it says of
//! itself decides only what it is told; a call of ours that it claims to replace, or a
//! connection, is given up after [`Step::Done`] and not before. A frame is at most
//! [`MOST_BYTES`] long, and there are at most three from each side.
//!
//! # Nodes of OTP 24 and before
//!
//! One that calls us without having asked epmd may send the old first frame, with half of
//! the abilities and no creation; the rest comes as the complement. As initiators we ask
//! for version 6 and send the new one always.
//!
//! COST: a handful of small allocations per handshake.

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

/// What we say of ourselves.
#[derive(Clone, Debug)]
pub struct Local {
    /// Our name.
    pub name: NodeName,
    /// Which of the nodes of this name we are, one after the other.
    pub creation: u32,
    /// [`Flags::OFFERED`], and [`Flags::PUBLISHED`] or not.
    pub flags: Flags,
}

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another frame is awaited.
    More,
    /// The acceptor has a connection to a node of our name: the initiator is to say whether that one is dead
    /// ([`Initiator::go_on`]).
    Alive,
    /// The acceptor knows who calls, and is to decide ([`Acceptor::decide`]).
    Called(Caller),
    /// Both have proven that they know the cookie.
    Done(Established),
}

/// What is known of the other side when a handshake is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// Its name.
    pub peer: NodeName,
    /// Which node of that name it is: with another creation it is another node.
    pub creation: u32,
    /// What both can do.
    pub flags: Flags,
    /// The name and creation that the other side has given us, if we had asked for them.
    pub named: Option<(NodeName, u32)>,
}

/// The first frame of what was read, and how many bytes it takes with its length; `None` if it is incomplete.
///
/// # Errors
/// The frame is longer than a handshake can need.
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
