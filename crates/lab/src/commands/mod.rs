//! The commands of `purlin lab`, one function each.
//!
//! Results go to standard output, progress and warnings to standard error. A
//! [`Problem`](crate::error::Problem) is a request that cannot be carried out; the program prints
//! it and exits with status 2.

mod advise;
mod compare;
mod export;
mod list;
mod report;
mod run;
mod time;

pub use advise::{AdviseOptions, Shape, advise};
pub use compare::{CompareOptions, Told, With, compare};
pub use export::{ExportOptions, Format, export};
pub use list::list;
pub use report::{ReportOptions, report};
pub use run::{Ended, ResumeOptions, RunOptions, resume, run};
pub use time::{TimeOptions, time};
