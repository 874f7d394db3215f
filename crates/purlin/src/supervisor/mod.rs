//! Supervisors: processes that start other processes and restart them when they end (G2).
//!
//! The rules are OTP's. What is decided, and in which order, is in files that know no process:
//!
//! | file | decides |
//! |---|---|
//! | `strategy` | which children the end of one concerns |
//! | `restart` | whether a child is restarted; whether its supervisor ends by itself |
//! | `intensity` | when too many restarts are too many |
//! | `order` | how a child is stopped, and whether it ended as it should |
//! | `children` | nothing: it is the table |
//! | `keeper`, `requests` | what happens when, with the hands it is given |

mod children;
mod error;
mod hands;
mod intensity;
mod keeper;
mod order;
mod report;
mod requests;
mod restart;
mod strategy;
#[cfg(test)]
mod tests;

pub use error::{DeleteError, FailedToStartChild, RestartError, StartChildError};
pub use order::Shutdown;
pub use requests::ChildCounts;
pub use restart::{AutoShutdown, Restart};

/// What a child is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChildType {
    /// A process that does the work.
    #[default]
    Worker,
    /// A supervisor of others.
    Supervisor,
}
