//! The contender keeps to the protocol, and says truly what it shows.

use std::process::Command;

use purlin_contender::conformance::{examine, obeys_workers, tells_version};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-ractor"))
}

#[test]
fn ractor_keeps_to_the_protocol() {
    assert_eq!(examine(contender), Ok(vec!["call-deep", "selective", "exit-cascade", "signals"]));
}

#[test]
fn the_version_it_tells_is_the_one_it_was_built_with() {
    let lock = include_str!("../../../Cargo.lock");
    assert_eq!(tells_version(contender(), lock, "ractor"), Ok(()));
}

#[test]
fn it_has_as_many_workers_as_it_is_told_and_says_so() {
    assert_eq!(obeys_workers(contender), Ok(()));
}
