//! The page of a node and what it asks, over real connections and in a real browser.

mod api;
mod browser;
mod safety;
mod support;
