//! Timing of a command: summary of its runs, and warnings.
//!
//! `child` runs the command once, `report` summarises the runs, `text` renders the summary with
//! warnings. Only `child` performs I/O; the rest is pure.

mod child;
mod report;
mod text;

pub(crate) use child::{Child, Run, Stop};
pub(crate) use report::Report;
pub(crate) use text::text;
