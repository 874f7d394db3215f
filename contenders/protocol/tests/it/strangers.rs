//! The conformance test fails with a reason for programs that are not contenders.
#![cfg(unix)]

use std::process::Command;

use purlin_contender::conformance::examine;

#[test]
fn a_program_that_is_not_there_is_named() {
    let fault = examine(|| Command::new("no-such-contender")).unwrap_err();
    assert!(fault.starts_with("no-such-contender cannot be started: "), "{fault}");
}

#[test]
fn program_that_exits_immediately_is_detected() {
    assert!(examine(|| Command::new("true")).is_err());
}

#[test]
fn program_that_echoes_its_input_is_detected() {
    let fault = examine(|| Command::new("cat")).unwrap_err();
    assert_eq!(fault, r#"hello has no name: {"op":"hello"}"#);
}
