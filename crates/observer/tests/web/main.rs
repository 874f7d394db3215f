//! The page of a node and what it asks, over real connections and in a real browser.

mod api;
mod browser;
#[cfg(feature = "metrics")]
#[path = "../support/prometheus.rs"]
mod prometheus;
mod questions;
mod safety;
#[cfg(feature = "metrics")]
mod scrape;
mod support;
