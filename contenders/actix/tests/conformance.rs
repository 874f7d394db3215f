//! Conformance of the actix contender, and accuracy of its version.

use std::process::Command;

use purlin_contender::conformance::{examine, refuses, tells_version};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-actix"))
}

#[test]
fn actix_contender_conforms_to_the_protocol() {
    let missing = vec![
        "call-deep",
        "reply-deep",
        "selective",
        "monitor-churn",
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
    assert_eq!(tells_version(contender(), lock, "actix"), Ok(()));
}

#[test]
fn any_option_is_refused() {
    assert_eq!(refuses(contender(), &["--workers"]), Ok(()));
}
