//! The contender keeps to the protocol.

use std::process::Command;

use purlin_contender::conformance::examine;

#[test]
fn purlin_keeps_to_the_protocol() {
    let missing = examine(|| Command::new(env!("CARGO_BIN_EXE_contender-purlin")));
    assert_eq!(missing, Ok(vec![]));
}
