//! Supervisors: processes that start other processes and restart them when they end (G2).
//!
//! A [`SupervisorSpec`] defines the restart strategy, the restart intensity and the children;
//! starting it returns a [`SupervisorRef`]. The rules are OTP's. [`ChildSpec`] specifies a child.
//! [`DynamicSupervisorSpec`] is for dynamic supervisors, whose children are started on request.
//! [`Pool`] is for equal children that share the work or divide the keys.
//!
//! As in OTP, a supervisor reports what it does, by `tracing` events: of level ERROR for a child
//! that ended, failed to start or did not stop as expected, and for giving up; of level INFO for a
//! child that was started. Each event has the fields `supervisor`, `error_context`, `reason`, and
//! of the child `pid`, `id`, `restart`, `significant`, `shutdown` and `child_type`.
//!
//! The decisions are in modules that do not depend on processes:
//!
//! | file | contents |
//! |---|---|
//! | `strategy` | which children are restarted when one ends |
//! | `restart` | whether a child is restarted; automatic shutdown of its supervisor |
//! | `intensity` | when the restart intensity is exceeded |
//! | `backoff` | delays before restarts |
//! | `order` | how a child is stopped, and which exit reasons it expects |
//! | `children` | child table |
//! | `supervisor_core`, `requests` | the order of actions, with its effects behind a trait |
//!
//! `effects` defines that trait, and `process` implements it.

mod backoff;
mod child;
mod children;
mod effects;
mod error;
mod handle;
mod intensity;
mod mail;
mod order;
mod pool;
mod process;
mod report;
mod requests;
mod restart;
mod spec;
mod start;
mod start_child;
mod strategy;
mod supervisor_core;
mod supervisor_ref;
mod template;
#[cfg(test)]
mod tests;

pub use child::ChildSpec;
pub use error::{
    BadSpec, DeleteError, FailedToStartChild, RestartError, StartChildError, StartError,
    TerminateError,
};
pub use handle::ChildHandle;
pub use mail::SupervisorMail;
pub(crate) use order::KILL_GRACE;
pub use order::Shutdown;
pub use pool::Pool;
pub use requests::{ChildCounts, ChildInfo, ChildProcess};
pub use restart::{AutoShutdown, Restart};
pub use spec::{DynamicSupervisorSpec, SupervisorSpec};
pub use start_child::InitAck;
pub use supervisor_ref::{DynamicSupervisorRef, SupervisorRef};
pub use template::ChildTemplate;

/// Type of a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChildType {
    /// A process that is not a supervisor.
    #[default]
    Worker,
    /// A supervisor.
    Supervisor,
}
