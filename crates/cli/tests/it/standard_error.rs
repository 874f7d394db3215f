//! A full standard error changes neither what a command does nor its exit status.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::{Command, Stdio};

use crate::support::{contender, json, list, of, purlin, quick};

/// Lets every write of the command to standard error fail. Returns the exit status.
fn status(command: &mut Command) -> Option<i32> {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    command.stdout(Stdio::null()).stderr(full).status().expect("purlin runs").code()
}

#[test]
fn bad_input_is_refused_with_status_2() {
    let folder = tempfile::tempdir().unwrap();
    for words in
        [&["nonsense"][..], &["lab", "compare", "one", "two"], &["ack", "log", "info", "."]]
    {
        assert_eq!(status(purlin(folder.path()).args(words)), Some(2), "{words:?}");
    }
}

#[test]
fn a_run_goes_on_and_its_results_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let contenders = [contender("one", "")];
    assert_eq!(status(quick(folder.path()).args(of("ping-pong", &contenders))), Some(0));
    let results = json(&folder.path().join("run/results.json"));
    assert!(!list(&results, "results").is_empty());
}
