//! Wire protocol, without I/O: encoding, frames, read buffer, verification of answers, session handshake.
//!
//! | module | role | used by |
//! |---|---|---|
//! | `encoding` | sizes, ids, heads, acks and refusals | both sides |
//! | [`frames`] | frame parser | servers |
//! | [`read_buffer`] | read buffer of a connection | both sides |
//! | [`session`] | session handshake of `best` | both sides |
//! | [`verifier`] | verification of answers | clients |

mod encoding;
pub mod frames;
pub mod read_buffer;
pub mod session;
pub mod verifier;

pub use self::encoding::{
    ACK, Ack, HEAD, Head, Id, LARGEST, REFUSAL, REFUSED, REPLY, Reason, Refusal, SizeOrder,
};
