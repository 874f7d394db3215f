//! Computes figures from samples, for storage, charts and tables.
//!
//! [`figures`] computes the results of one contender in one experiment, [`ratios`] compares them,
//! [`control`] compares programs that run the same function, [`drifts`] and [`outliers`] return
//! reasons to doubt them, and [`Document`] is the stored whole. All verdicts are those of the module
//! `verdict`. Pure.

mod above;
mod acks;
mod beside;
mod control;
mod doubts;
mod expiries;
mod figures;
mod frame;
mod over;
mod over_perfect;
mod ratios;
mod schema;
mod signals;
mod slope;
mod trips;
mod verdict;

pub(crate) use control::is_of_control;
pub use control::{Control, control};
pub use doubts::{drifts, outliers};
pub use figures::figures;
pub use ratios::ratios;
pub use schema::{
    AboutContender, AboutExperiment, Absence, Document, Figures, Fit, Ratio, ResultEntry, SCHEMA,
    Tool, Trouble, Verdict,
};
pub use verdict::Moved;
pub(crate) use verdict::{Rounds, VERDICT, judge};
