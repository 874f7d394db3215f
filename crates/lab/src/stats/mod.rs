//! Statistics: means, medians and confidence intervals, ratios, least-squares lines, tests for
//! difference and trend, outliers.
//!
//! The functions are independent of units. All are pure: resampling takes its seed from the caller,
//! so that the same samples always give the same interval. None panics: a value that cannot be
//! computed is `None`.

mod bootstrap;
mod interval;
mod line;
mod order;
mod outliers;
mod ranks;
mod signs;
mod trend;

pub use bootstrap::ratio_of_medians;
pub use interval::Interval;
pub use line::{Line, fit};
pub use order::{median, median_interval};
pub use outliers::outliers;
pub use purlin_timing::Moments;
pub use ranks::{discoveries, persistence, rank_sum};
pub use signs::sign_test;
pub use trend::{Trend, trend};
