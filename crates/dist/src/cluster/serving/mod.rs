//! Local servers and state machines for remote processes: `gen_server:call` and `cast`, those of `gen_statem`, plain
//! messages, and `sys`.
//!
//! A server type is registered once, like a message type; this covers all processes of that type. Supervisors are
//! always registered.
//!
//! | file | role |
//! |---|---|
//! | `served.rs` | decoders of a server type |
//! | `serve.rs` | servers whose declaration is their registration |
//! | `caller.rs` | the remote caller |
//! | `version.rs` | version of the calling `sys` |
//! | `system.rs`, `sys.rs` | functions for `sys`; its requests to any server |
//! | `supervisor.rs` | requests to a supervisor |

mod caller;
mod serve;
mod served;
pub(super) mod supervisor;
pub(super) mod sys;
pub(super) mod system;
mod version;

pub use caller::Caller;
pub use serve::Serve;
pub use served::Served;
