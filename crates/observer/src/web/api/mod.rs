//! Request handlers, a file per endpoint or two.
//!
//! | file | endpoints |
//! |---|---|
//! | `live`, `overview` | properties of the page, event stream and overview of the node; their figures |
//! | `processes`, `process`, `tree` | process table; one process; supervision tree |
//! | `cluster`, `servers` | connected nodes; ack servers |
//! | `trace` | traces of chosen processes |
//! | `warnings`, `metrics` | warnings; metrics for Prometheus |
//! | `values` | values that several of them share |

pub(crate) mod cluster;
pub(crate) mod live;
#[cfg(feature = "metrics")]
pub(crate) mod metrics;
mod overview;
pub(crate) mod process;
pub(crate) mod processes;
pub(crate) mod servers;
pub(crate) mod trace;
pub(crate) mod tree;
mod values;
pub(crate) mod warnings;
