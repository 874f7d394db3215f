//! Metrics: a node's figures as time series, for Prometheus and for whatever else the `metrics` facade
//! reaches.
//!
//! They are made from a census when somebody scrapes, never where a message is sent or received. So a
//! node that nobody scrapes pays nothing for them.
//!
//! Names follow OpenTelemetry's conventions: words between dots, from the general to the particular; the
//! unit is not part of the name but of the description; what is counted at a moment ends in `count`,
//! what there may be at most in `limit`, a part of a whole is a `utilization` from 0 to 1; what only ever
//! grows is a counter of things in the plural. In Prometheus' text dots become underscores, the unit and
//! `_total` are added as its conventions want, and a part of a whole is a `_ratio`.
//!
//! There are few series: for each node those of [`ALL`], some of them for each worker, each reason of a
//! drop, each kind of warning, each connected node or each server that acknowledges. Processes are in the table of the [census](crate::census), which can be
//! asked; a series for each would be the end of whoever stores them.
//!
//! How long acks took is counted as Prometheus' histograms are, in series that each have all acks below a limit, the
//! label `le`. The facade's own histograms want each single time, of which there may be hundreds of thousands in a
//! second.
//!
//! | file | role |
//! |---|---|
//! | `names` | what there is, with its unit |
//! | `record` | from censuses to the facade |
//! | `exporter` | from the facade to Prometheus' text |

mod exporter;
mod names;
mod record;

pub use exporter::{CONTENT_TYPE, Exporter};
pub use names::{ALL, Metric, Type};
pub use record::Recording;
