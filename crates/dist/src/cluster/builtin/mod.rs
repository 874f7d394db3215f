//! Built-in exported functions: those that `observer`, `etop` and other BEAM tools call to inspect a node.
//!
//! They are exported like functions of users, and a user's export replaces a built-in one. The answers concern this
//! node. A process that does not answer is reported with the items visible from outside. No function waits long for a
//! process, and none holds a lock during a scan.
//!
//! | file | content |
//! |---|---|
//! | `processes.rs` | `process_info` and other functions of processes |
//! | `function.rs` | Rust functions as `{Module, Function, Arity}`; pure |
//! | `machine.rs` | `system_info`, `memory`, `statistics` |
//! | `host.rs` | resource usage as reported by the operating system |
//! | `observer.rs` | `observer_backend`, for `observer` and `etop` |
//! | `applications.rs` | running applications, and process trees for `observer` |
//! | `modules.rs` | modules and tables |

mod applications;
mod function;
mod host;
mod machine;
mod modules;
mod observer;
mod processes;

use std::sync::Arc;

use crate::cluster::core::Core;
use crate::cluster::rpc::offer::Offer;

/// Exports all built-in functions.
pub(super) fn export(core: &Arc<Core>) {
    let offer = Offer(core);
    processes::export(&offer);
    machine::export(&offer);
    observer::export(&offer);
    applications::export(&offer);
    modules::export(&offer);
}
