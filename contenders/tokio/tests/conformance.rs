//! Conformance of the tokio contender, and accuracy of its version and notes.

use std::process::Command;

use purlin_contender::conformance::{examine, obeys_workers, tells_version};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-tokio"))
}

#[test]
fn tokio_contender_conforms_to_the_protocol() {
    let missing = vec![
        "call-deep",
        "reply-deep",
        "selective",
        "link-churn",
        "exit-cascade",
        "restart",
        "signals",
    ];
    assert_eq!(examine(contender), Ok(missing));
}

#[test]
fn reported_version_matches_the_lock_file() {
    let lock = include_str!("../../../Cargo.lock");
    assert_eq!(tells_version(contender(), lock, "tokio"), Ok(()));
}

#[test]
fn workers_option_sets_the_number_of_workers_and_the_note() {
    assert_eq!(obeys_workers(contender), Ok(()));
}
