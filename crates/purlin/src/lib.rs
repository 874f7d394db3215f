//! crates/purlin
