//! Metrics of a node as time series, for Prometheus and any other recorder of the `metrics` facade.
//!
//! Metrics are computed from a snapshot when they are scraped, never on the send or receive path. A node that is not
//! scraped pays nothing.
//!
//! Names follow OpenTelemetry's conventions: words separated by dots, from the general to the specific. The unit is
//! part of the description, not of the name. Instantaneous counts end in `count`, limits in `limit`, ratios from 0 to 1
//! in `utilization`. Counters end in a plural noun. In Prometheus' text format dots become underscores, the unit and
//! `_total` are appended, and ratios end in `_ratio`.
//!
//! The number of series is small: those of [`ALL`] per node, some of them per worker, drop reason, kind of warning,
//! connected node or ack server. Processes are in the table of the [snapshot](crate::snapshot), which can be queried; a
//! series per process would overload a time series database.
//!
//! Ack latency is exported as cumulative counters with the label `le`, as in a Prometheus histogram. The facade's
//! histograms need every single value, of which there may be hundreds of thousands per second.
//!
//! | file | role |
//! |---|---|
//! | `names` | the metrics and their units |
//! | `record` | recording a snapshot in the facade |
//! | `exporter` | exporter from the facade to Prometheus' text format |

mod exporter;
mod names;
mod record;

pub use exporter::{CONTENT_TYPE, Exporter};
pub use names::{ALL, Metric, Type};
pub use record::Recording;
