//! The contender keeps to the protocol, and says truly what it shows.

use std::process::Command;

use purlin_contender::conformance::{examine, refuses, tells_version};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-actix"))
}

#[test]
fn actix_keeps_to_the_protocol() {
    let missing = vec![
        "call-deep",
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
fn the_version_it_tells_is_the_one_it_was_built_with() {
    let lock = include_str!("../../../Cargo.lock");
    assert_eq!(tells_version(contender(), lock, "actix"), Ok(()));
}

#[test]
fn an_option_is_refused_since_there_is_none() {
    assert_eq!(refuses(contender(), &["--workers"]), Ok(()));
}
