//! crates/macros
