//! Live observer of a node: snapshots, warnings, metrics, traces and a web page.
//!
//! Off by default. A dedicated thread samples the node. It never takes a lock that the node's processes wait for, uses
//! about a hundredth of one core while a watcher is connected, and is parked otherwise. Each snapshot states its cost
//! and what is missing in it.
//!
//! | module | role |
//! |---|---|
//! | [`snapshot`] | snapshots: figures of the node, process table, queries |
//! | [`warnings`] | rules that detect problems in a sequence of snapshots, and advice |
//! | [`metrics`] | time series; behind the feature `metrics`, which is on by default |
//! | [`trace`] | traced events as a sequence diagram and in Chrome's trace format |
//! | `web` | the page and its HTTP API, served by a dedicated thread |

// WHY: `eprintln!` panics if standard error is closed or full.
#![warn(clippy::print_stderr)]

#[cfg(feature = "metrics")]
pub mod metrics;
pub mod snapshot;
pub mod trace;
pub mod warnings;
mod web;

pub use web::{Observed, Observer};

/// The guide, whose examples are doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/observer.md")]
    struct Observer;
}
