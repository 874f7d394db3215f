//! Computes figures from samples, for storage, charts and tables.
//!
//! [`figures`] computes the results of one contender in one experiment, [`ratios`] compares them,
//! [`drifts`] and [`outliers`] return reasons to doubt them, and [`Document`] is the stored whole.
//! Pure: the caller supplies the seed for the ratios' intervals.

mod above;
mod acks;
mod beside;
mod doubts;
mod expiries;
mod figures;
mod frame;
mod over;
mod ratios;
mod schema;
mod signals;
mod slope;
mod trips;

pub use doubts::{drifts, outliers};
pub use figures::figures;
pub use ratios::ratios;
pub use schema::{
    AboutContender, AboutExperiment, Absence, Document, Figures, Fit, Ratio, ResultEntry, Tool,
    Trouble, Verdict,
};
