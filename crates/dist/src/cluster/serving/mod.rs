//! Servers of ours as processes elsewhere know them: `gen_server:call` and `cast`, what is sent, and `sys`.
//!
//! The cluster is told once of a type of server, as it is of a type of message; whose process it then is does
//! not matter. Supervisors it knows by itself.
//!
//! | file | role |
//! |---|---|
//! | `served.rs` | how a type of server is to be asked |
//! | `caller.rs` | who has asked |
//! | `dialect.rs` | which `sys` it is that asks |
//! | `system.rs` | what `sys` asks of any server |
//! | `supervisor.rs` | what is asked of a supervisor |

mod caller;
mod dialect;
mod served;
mod supervisor;
mod system;

pub use caller::Caller;
pub use served::Served;
pub(super) use supervisor::{count_children, supervisors, which_children};
pub(super) use system::{Systems, status};
