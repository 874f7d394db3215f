//! Servers: listener, a process per connection, and their supervisors.
//!
//! ```text
//! supervisor, rest for one
//! ├─ connections   supervisor, simple one for one
//! │   └─ connection …        reads, handles, acknowledges; may have linked helpers
//! └─ acceptor 0, 1, …        accept, and have connections started
//! ```
//!
//! Shutdown runs in reverse order: the acceptors stop first, then each connection answers what it
//! has read and closes.
//!
//! | module | role |
//! |---|---|
//! | `builder` | configuration and start |
//! | `handle` | handles to a server |
//! | `acceptor` | acceptor processes |
//! | `permits` | connection slots, in total and per address |
//! | `connection` | connection process |
//!
//! The [strategy](crate::strategy) decides how a connection reads and acknowledges, its
//! [handler](crate::handler) what happens to the messages.

mod acceptor;
mod builder;
mod connection;
mod handle;
mod permits;

pub use self::builder::{Builder, StartError};
pub use self::handle::{Door, Listening, Server};
pub use crate::connection::counters::{Counts, Watch};
pub use crate::connection::latency::Latency;
pub use crate::connection::limits::Limits;
#[cfg(feature = "tls")]
pub use crate::tls::{PemError, server::Tls};
