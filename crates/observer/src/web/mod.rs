//! The web page of a node: an HTTP server on a dedicated thread.
//!
//! [`Observed::observer`] adds it to a program. Requests are answered from the last census, which is immutable, so
//! sorting a million rows blocks no process. Only the details of a single process, such as its links, are reported by
//! the process itself in its next turn. The server holds no strong reference to the node.
//!
//! | file | role |
//! |---|---|
//! | `observer`, `board`, `site` | public interface; what else the page shows; state shared by handlers |
//! | `server` | the thread, its connections and their limits |
//! | `token`, `guard` | access control |
//! | `answer`, `routes`, `assets` | error responses; routes; static files |
//! | `live`, `look` | event stream of the node's figures |
//! | `processes`, `process`, `tree` | process table; one process; supervision tree |
//! | `cluster`, `round_trips` | connected nodes; their round-trip times |
//! | `servers`, `lately` | ack servers; their recent latency |
//! | `trace` | traces of chosen processes |
//! | `warnings`, `metrics` | warnings; metrics for Prometheus |
//!
//! The responses are specified in `docs/internals/observer-api.md`.

mod answer;
mod assets;
mod board;
mod cluster;
mod guard;
mod lately;
mod live;
mod look;
#[cfg_attr(not(feature = "metrics"), path = "no_metrics.rs")]
mod metrics;
mod observer;
mod process;
mod processes;
mod round_trips;
mod routes;
mod server;
mod servers;
mod site;
mod token;
mod trace;
mod tree;
mod warnings;

pub use observer::{Observed, Observer};
