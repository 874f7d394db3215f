//! An examination of programs that are no contenders fails, and says why.
#![cfg(unix)]

use std::process::Command;

use purlin_contender::conformance::examine;

#[test]
fn a_program_that_is_not_there_is_named() {
    let fault = examine(|| Command::new("no-such-contender")).unwrap_err();
    assert!(fault.starts_with("no-such-contender cannot be started: "), "{fault}");
}

#[test]
fn a_program_that_ends_at_once_is_caught() {
    assert!(examine(|| Command::new("true")).is_err());
}

#[test]
fn a_program_that_only_repeats_what_it_hears_is_caught() {
    let fault = examine(|| Command::new("cat")).unwrap_err();
    assert_eq!(fault, r#"hello has no name: {"op":"hello"}"#);
}
