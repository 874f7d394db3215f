//! Integration tests of the observer: snapshots, warnings, metrics, and the page over real connections and in a real
//! browser.

mod api;
mod browser;
mod cost;
#[cfg(feature = "metrics")]
mod metrics;
mod mounted;
#[cfg(feature = "metrics")]
#[path = "support/prometheus.rs"]
mod prometheus;
mod questions;
mod safety;
#[cfg(feature = "metrics")]
mod scrape;
mod snapshot;
mod support;
mod warnings;
