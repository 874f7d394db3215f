//! Integration tests of the observer: census, warnings, metrics, and the page over real connections and in a real browser.

mod api;
mod browser;
mod census;
mod cost;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "metrics")]
#[path = "support/prometheus.rs"]
mod prometheus;
mod questions;
mod safety;
#[cfg(feature = "metrics")]
mod scrape;
mod support;
mod warnings;
