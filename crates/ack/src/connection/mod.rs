//! Connection of a server: reading, waiting, limits, counters and sessions.
//!
//! | module | role |
//! |---|---|
//! | `reader` | reading half, and all waiting of the connection process |
//! | `socket` | plain or TLS socket |
//! | `read_coalescer` | delay of small reads |
//! | [`pending_acks`] | pending acks |
//! | `close_reason` | close reason |
//! | `limits` | limits of the server and of each connection |
//! | `counters`, `latency` | counters and latency of acks |
//! | `sessions`, [`session_table`] | connections and position of each client with a session |
//! | `shared` | state shared by the connections of a server |
//! | `timeout`, `resources` | waits with a timeout; detection of exhausted descriptors and memory |

pub(crate) mod close_reason;
pub(crate) mod counters;
pub(crate) mod latency;
pub(crate) mod limits;
pub mod pending_acks;
mod read_coalescer;
pub(crate) mod reader;
pub(crate) mod resources;
pub mod session_table;
pub(crate) mod sessions;
pub(crate) mod shared;
pub(crate) mod socket;
pub(crate) mod timeout;
