//! contenders/tokio
fn main() {}
