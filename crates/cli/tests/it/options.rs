//! Options reach a runtime, and an unknown one is reported in one line.

use crate::support;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{contender, list, quick};

/// Runs a short experiment on these contenders.
fn run(folder: &Path, contenders: &[&str]) -> Output {
    let mut command = quick(folder);
    command.args(["-e", "ping-pong"]);
    command.args(contenders.iter().flat_map(|one| ["-c", *one]));
    command.output().unwrap()
}

/// Returns whether the runtime is installed; prints a message if it is not.
fn is_here(program: &str, package: &str) -> bool {
    // WHY not a failure: it is a runtime that purlin is compared with, not a part of purlin.
    let found = Command::new(program).arg("--version").output();
    if let Err(error) = &found {
        println!(
            "skipped: {program} cannot be started ({error}): install it, on Debian with `apt-get install {package}`"
        );
    }
    found.is_ok()
}

/// Returns the one line about a contender that rejects its option; another contender takes part all
/// the same.
fn told_of(label: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &[label, &contender("fake", "")]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = stderr.lines().filter(|line| line.starts_with(label)).collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(!stderr.contains("Usage"), "{stderr}");
    let results = support::json(&folder.path().join("run/results.json"));
    assert_eq!(list(&results, "contenders").len(), 1);
    lines[0].to_owned()
}

#[test]
fn a_flag_rejected_by_the_beam_is_quoted_and_other_contenders_are_measured() {
    if is_here("erlc", "erlang-base") {
        let line = told_of("beam:+sbwt sometimes");
        let words =
            "its last words: bad scheduler busy wait threshold: sometimes; it takes no part";
        assert!(line.ends_with(words), "{line}");
    }
}

#[test]
fn a_flag_rejected_by_elixirs_beam_is_quoted_as_well() {
    if is_here("elixir", "elixir") {
        let line = told_of("elixir:+hms some");
        assert!(line.ends_with("its last words: bad heap size some; it takes no part"), "{line}");
    }
}

#[test]
fn flags_reach_the_beam_and_each_set_is_a_contender() {
    if !is_here("erlc", "erlang-base") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["beam:+sbwt none +swt very_low", "beam:+S 1:1 +spp true"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = support::json(&folder.path().join("run/results.json"));
    let [_, one] = list(&results, "contenders") else { panic!("{results}") };
    assert_eq!(one["label"], "beam:+S 1:1 +spp true");
    assert!(one["notes"][0].as_str().unwrap().starts_with("1 schedulers"), "{one}");
}
