//! Conformance of the purlin contender, with default settings and with options.

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
fn purlin_contender_conforms_to_the_protocol() {
    assert_eq!(examine(contender), Ok(vec![]));
}

#[test]
fn purlin_contender_on_one_worker_conforms_and_notes_it() {
    assert_eq!(examine(on_one_worker), Ok(vec![]));
    assert_eq!(obeys_workers(contender), Ok(()));
}

#[test]
fn unknown_option_is_refused() {
    assert_eq!(refuses(contender(), &["--worker"]), Ok(()));
}
