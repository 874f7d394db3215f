//! The contender on the page about one's own runtime keeps to the protocol, and is as short as told.

use std::path::Path;
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};

/// The page.
const PAGE: &str = include_str!("../../../../docs/lab/own-runtime.md");

/// The program on the page.
fn program() -> &'static str {
    let (_, rest) = PAGE.split_once("```python\n").expect("the page holds a program");
    rest.split_once("```").expect("it ends").0
}

/// Writes the program to a file of this name. `None` if there is no Python.
fn written(name: &str) -> Option<impl Fn() -> Command> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, program()).unwrap();
    // WHY not a failure: nothing of purlin needs Python.
    if let Err(error) = Command::new("python3").arg("--version").output() {
        println!(
            "skipped: python3 cannot be started ({error}): install Python, on Debian with `apt-get install python3`"
        );
        return None;
    }
    Some(move || {
        let mut command = Command::new("python3");
        command.arg(&file);
        command
    })
}

#[test]
fn the_program_has_at_most_twenty_lines_that_fit_a_screen() {
    assert!(program().lines().count() <= 20, "{}", program());
    let widest = program().lines().map(str::len).max();
    assert!(widest <= Some(120), "{widest:?}");
}

#[test]
fn a_runtime_in_twenty_lines_keeps_to_the_protocol() {
    let Some(mine) = written("own-runtime.py") else {
        return;
    };
    let missing = examine(mine).unwrap();
    assert!(!missing.contains(&"throughput") && !missing.contains(&"ping-pong"), "{missing:?}");
}

#[test]
fn an_op_that_it_does_not_know_is_named_in_its_answer() {
    let Some(mine) = written("own-runtime-op.py") else {
        return;
    };
    let answer = Contender::start(mine()).unwrap().ask(r#"{"op":"dance"}"#).unwrap();
    assert!(answer["error"].as_str().unwrap().contains("dance"), "{answer}");
}
