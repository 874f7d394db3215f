//! contenders/purlin
fn main() {}
