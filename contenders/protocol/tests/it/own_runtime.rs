//! Conformance and length of the example contender in `docs/lab/own-runtime.md`.

use std::path::Path;
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};

/// The text of the page.
const PAGE: &str = include_str!("../../../../docs/lab/own-runtime.md");

/// Returns the program on the page.
fn program() -> &'static str {
    let (_, rest) = PAGE.split_once("```python\n").expect("the page holds a program");
    rest.split_once("```").expect("it ends").0
}

/// Writes the program to a file of this name; returns `None` if Python is not installed.
fn written(name: &str) -> Option<impl Fn() -> Command> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, program()).unwrap();
    // WHY not a failure: purlin does not need Python.
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
fn example_program_has_at_most_twenty_lines_of_screen_width() {
    assert!(program().lines().count() <= 20, "{}", program());
    let widest = program().lines().map(str::len).max();
    assert!(widest <= Some(120), "{widest:?}");
}

#[test]
fn example_program_conforms_to_the_protocol() {
    let Some(mine) = written("own-runtime.py") else {
        return;
    };
    let missing = examine(mine).unwrap();
    assert!(!missing.contains(&"throughput") && !missing.contains(&"ping-pong"), "{missing:?}");
}

#[test]
fn example_program_names_an_unknown_op() {
    let Some(mine) = written("own-runtime-op.py") else {
        return;
    };
    let answer = Contender::start(mine()).unwrap().ask(r#"{"op":"dance"}"#).unwrap();
    assert!(answer["error"].as_str().unwrap().contains("dance"), "{answer}");
}
