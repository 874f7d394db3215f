//! Warnings: a linter for live systems.
//!
//! A [`Linter`] checks each snapshot and reports problems: the kind, the subject, the start and advice. It keeps a
//! bounded amount of state between snapshots. It reads neither a clock nor a node: the same snapshots give the same
//! warnings. It can be used from any thread.
//!
//! | rule | detects |
//! |---|---|
//! | [`growing`] | a mailbox that grows faster than it is drained |
//! | [`hogging`] | a process that does not await |
//! | [`cycle`] | a cycle of pending calls: a deadlock |
//! | [`storm`] | a supervisor close to or past its restart intensity |
//! | [`lost_name`] | a registered name that has lost its process |
//! | [`drops`] | dropped messages, and processes missing in the observer's table |
//! | [`full_table`] | a process table that is nearly full |
//!
//! # Hysteresis
//!
//! Each rule raises a warning at a higher threshold than it clears it: it requires several consecutive detections
//! first, and clears only well below the level that raised it. The remaining fluctuation is smoothed in one place,
//! [`steady`]: a warning stays until its cause has not been detected for five periods, five seconds by default. One
//! that returns within that time is the same warning, with the same start.
//!
//! COST: a pass over the column of mailbox lengths and over the names per table; the rest is proportional to the number
//! of problems.

pub mod cycle;
pub mod drops;
pub mod full_table;
pub mod growing;
pub mod hogging;
mod linter;
pub mod lost_name;
mod rule;
pub mod steady;
pub mod storm;
mod warning;

pub use linter::Linter;
pub use rule::MOST_OF_A_KIND;
pub use warning::{Kind, Subject, Warning};
