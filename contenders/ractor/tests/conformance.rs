//! Conformance of the ractor contender, and accuracy of its version and notes.

use std::process::Command;

use purlin_contender::conformance::{examine, obeys_workers, tells_version};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-ractor"))
}

#[test]
fn ractor_contender_conforms_to_the_protocol() {
    assert_eq!(
        examine(contender),
        Ok(vec!["call-deep", "reply-deep", "selective", "exit-cascade", "signals"])
    );
}

#[test]
fn reported_version_matches_the_lock_file() {
    let lock = include_str!("../../../Cargo.lock");
    assert_eq!(tells_version(contender(), lock, "ractor"), Ok(()));
}

#[test]
fn workers_option_sets_the_number_of_workers_and_the_note() {
    assert_eq!(obeys_workers(contender), Ok(()));
}
