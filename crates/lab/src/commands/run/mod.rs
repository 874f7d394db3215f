//! `purlin lab run`: selects, samples, stores and reports; resumes an interrupted run.
//!
//! [`run`] starts a run and [`resume`] continues one; both pass it to an `ActiveRun`, the run in
//! progress, which completes it.

mod active_run;
mod options;
mod resume;
mod selection;
mod start;
mod watcher;

pub use options::{Ended, RunOptions};
pub use resume::{ResumeOptions, resume};
pub use start::run;
