//! The time of a command: what its runs come to, and what a reader is to be warned of.
//!
//! `child` runs the command once, `report` is what the runs came to, `text` shows it, `warning` says
//! what is doubtful. Only `child` touches the system; the rest is pure.

mod child;
mod report;
mod text;
mod warning;

pub use child::{Child, Run, Stop};
pub use report::Report;
pub use text::text;
pub use warning::Warning;
