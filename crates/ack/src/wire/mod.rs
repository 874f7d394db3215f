//! Wire protocol, without I/O: encoding, frames, read buffer, verification of answers, session handshake.

mod encoding;
pub mod frames;
pub mod read_buffer;
pub mod session;
pub mod verifier;

pub use self::encoding::{
    ACK, Ack, HEAD, Head, Id, LARGEST, REFUSAL, REFUSED, REPLY, Reason, Refusal, SizeOrder,
};
