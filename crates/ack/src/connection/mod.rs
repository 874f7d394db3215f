//! Connection of a server: reading, waiting, limits, counters and sessions.
//!
//! | module | role |
//! |---|---|
//! | `reader` | reading half, and all waiting of the connection process |
//! | `socket` | plain or TLS socket |
//! | [`pending_acks`] | pending acks |
//! | `close_reason` | close reason |
//! | `limits` | limits of the server and of each connection |
//! | `budget` | budget of bytes for read buffers |
//! | `idle`, `idle_order` | idle state, and connections by idle time, for the choice of one to close |
//! | `counters`, `latency` | counters and latency of acks |
//! | `event_log` | log, at most one line per kind and second |
//! | `sessions`, [`session_table`] | connections and position of each client with a session |
//! | `shared` | state shared by the connections of a server |
//! | `timeout`, `resources` | waits with a timeout; detection of exhausted descriptors and memory |

pub(crate) mod budget;
pub(crate) mod close_reason;
pub(crate) mod counters;
pub(crate) mod event_log;
pub(crate) mod idle;
pub(crate) mod idle_order;
pub(crate) mod latency;
pub(crate) mod limits;
pub mod pending_acks;
pub(crate) mod reader;
pub(crate) mod resources;
pub mod session_table;
pub(crate) mod sessions;
pub(crate) mod shared;
pub(crate) mod socket;
pub(crate) mod timeout;
