//! Sockets of `purlin-ack` and `purlin-dist`, and when to read them.
//!
//! | module | role |
//! |---|---|
//! | `socket` | non-blocking TCP socket, registered with tokio only during a wait |
//! | `read_coalescer` | delay of small reads |
//! | `nonblocking` | non-blocking system calls |

mod nonblocking;
mod read_coalescer;
mod socket;

pub use nonblocking::now_or_would_block;
pub use read_coalescer::{LINGERS, ReadCoalescer};
pub use socket::Socket;
