//! The five strategies of 2015, for comparison with `best`.
//!
//! Each runs in the connection process and, except for request-reply and sync-ack, in helper
//! processes linked to it. They support no sessions.
//!
//! | module | reads | acknowledges |
//! |---|---|---|
//! | `request_reply` | one message | each message |
//! | `collected` | throttle: exactly what a message needs; head-rest: what is available; passes each message to a `collector` by a call | its `ticker`, every 5 ms |
//! | `sync_ack` | what is available | each read |
//! | `async_ack` | what is available; sends blocks to a `responder` | the responder, every 22nd block or after 5 ms of silence |
//!
//! `helper` contains the shared code of the helper processes.

pub(super) mod async_ack;
pub(super) mod collected;
mod collector;
mod helper;
pub(super) mod request_reply;
mod responder;
pub(super) mod sync_ack;
mod ticker;

/// Size of the read buffer in bytes, unless a message is larger.
const BLOCK: usize = 64 << 10;
