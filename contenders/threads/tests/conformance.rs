//! Conformance of the threads contender.

use std::process::Command;

use purlin_contender::EXPERIMENTS;
use purlin_contender::conformance::{examine, refuses};

fn contender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-threads"))
}

#[test]
fn threads_contender_conforms_to_the_protocol() {
    assert_eq!(examine(contender), Ok(EXPERIMENTS.to_vec()));
}

#[test]
fn any_option_is_refused() {
    assert_eq!(refuses(contender(), &["--workers"]), Ok(()));
}
