//! The statistics: means, medians and their intervals, ratios, lines of best fit, what differs,
//! what drifts, what lies apart.
//!
//! The results call these with figures in ns, ms or per second; nothing here
//! knows which. Everything is pure: resampling takes its seed from the caller,
//! so that the same samples always give the same interval. Nothing panics:
//! what cannot be computed is `None`.

mod bootstrap;
mod line;
mod order;
mod outliers;
mod ranks;
mod signs;
mod trend;

pub use bootstrap::{Interval, ratio_of_medians};
pub use line::{Line, fit};
pub use order::{median, median_interval};
pub use outliers::outliers;
pub use purlin_timing::Moments;
pub use ranks::{discoveries, persistence, rank_sum};
pub use signs::sign_test;
pub use trend::{Trend, trend};
