//! Supervisors: processes that start other processes and restart them when they end (G2).
//!
//! A [`SupervisorSpec`] says which strategy, how many restarts in which time, and which children;
//! starting it gives a [`SupervisorRef`]. The rules are OTP's; [`ChildSpec`] says what a child is.
//! [`SimpleSpec`] is for children that come and go.
//!
//! What it does is reported by `tracing`, as OTP does: an event of level ERROR for a child that ended,
//! could not be started or did not stop as it should, and for giving up; one of level INFO for a child
//! that was started. Each has the fields `supervisor`, `error_context`, `reason`, and of the child
//! `pid`, `id`, `restart`, `significant`, `shutdown` and `child_type`.
//!
//! What is decided, and in which order, is in files that know no process:
//!
//! | file | decides |
//! |---|---|
//! | `strategy` | which children the end of one concerns |
//! | `restart` | whether a child is restarted; whether its supervisor ends by itself |
//! | `intensity` | when too many restarts are too many |
//! | `order` | how a child is stopped, and whether it ended as it should |
//! | `children` | nothing: it is the table |
//! | `keeper`, `requests` | what happens when, with the hands it is given |
//!
//! `process` has the hands.

mod child;
mod children;
mod error;
mod hands;
mod intensity;
mod keeper;
mod order;
mod process;
mod report;
mod requests;
mod restart;
mod spec;
mod strategy;
mod supervisor_ref;
#[cfg(test)]
mod tests;

pub use child::{ChildSpec, ChildTemplate};
pub use error::{
    BadSpec, DeleteError, FailedToStartChild, RestartError, StartChildError, StartError,
    TerminateError,
};
pub use order::Shutdown;
pub(crate) use process::LAST_MOMENT;
pub use process::SupervisorMail;
pub use requests::{ChildCounts, ChildInfo, ChildProcess};
pub use restart::{AutoShutdown, Restart};
pub use spec::{SimpleSpec, SupervisorSpec};
pub use supervisor_ref::{SimpleRef, SupervisorRef};

/// What a child is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChildType {
    /// A process that does the work.
    #[default]
    Worker,
    /// A supervisor of others.
    Supervisor,
}
