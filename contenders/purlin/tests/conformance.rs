//! The contender keeps to the protocol, with its default settings and with those it is told.

use std::process::Command;

use purlin_contender::conformance::{examine, obeys_workers, refuses};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-purlin"))
}

fn on_one_worker() -> Command {
    let mut command = contender();
    command.args(["--workers", "1"]);
    command
}

#[test]
fn purlin_keeps_to_the_protocol() {
    assert_eq!(examine(contender), Ok(vec![]));
}

#[test]
fn purlin_on_one_worker_keeps_to_the_protocol_and_says_so() {
    assert_eq!(examine(on_one_worker), Ok(vec![]));
    assert_eq!(obeys_workers(contender), Ok(()));
}

#[test]
fn what_is_no_option_is_refused() {
    assert_eq!(refuses(contender(), &["--worker"]), Ok(()));
}
