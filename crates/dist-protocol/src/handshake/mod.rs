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
mod step;

pub use acceptor::Acceptor;
pub use initiator::Initiator;
pub use message::take_frame;
pub use refused::{MOST_BYTES, Refused};
pub use step::{Caller, Established, LocalNode, Step, Verdict};

#[cfg(test)]
mod tests;
