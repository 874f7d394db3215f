//! crates/lab
