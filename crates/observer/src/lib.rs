//! What runs on a node, seen live.
//!
//! Off unless asked for. What is seen is sampled by a thread of its own, which never locks what the
//! node's users wait for, takes about a hundredth of one core while somebody looks, and rests while
//! nobody does. What sampling costs, and what it had to leave out, is part of every sample.
//!
//! | module | role |
//! |---|---|
//! | [`census`] | the samples: figures of the node, a table of its processes, and how to ask it |
//! | [`warnings`] | what looks wrong in a sample and those before it, and what to do about it |
//! | [`metrics`] | its figures as time series; a feature of that name, on unless it is switched off |
//! | [`trace`] | what was seen of processes that were followed, as a diagram and for Chrome's viewer |
//! | `web` | the page, and what it asks: a server on a thread of its own |

pub mod census;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod trace;
pub mod warnings;
mod web;

pub use web::{Observed, Observer};

/// The document whose examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/observer.md")]
    struct Observer;
}
