//! crates/raw
