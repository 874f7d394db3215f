//! From samples to figures: what is stored, drawn and printed.
//!
//! [`figures`] makes the results of one contender in one experiment,
//! [`ratios`] compares them, [`drifts`] and [`outliers`] say what is against them, [`Document`] is
//! all of it as it is written. Pure: the seed of the ratios' intervals comes from the caller.

mod above;
mod acks;
mod beside;
mod doubts;
mod figures;
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
    AboutContender, AboutExperiment, Absence, Document, Fit, Ratio, ResultEntry, Tool, Trouble,
    Verdict,
};
