//! crates/cli
fn main() {}
