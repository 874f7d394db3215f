//! Plain programs: each experiment runs, and wrong arguments are refused.

use std::env::{consts::EXE_SUFFIX, current_exe};
use std::process::{Command, Output};

/// Runs the example, which cargo builds next to the folder of the tests without naming its path.
fn plain(words: &[&str]) -> Output {
    let own = current_exe().unwrap();
    let built = own.ancestors().nth(2).unwrap();
    let example = built.join("examples").join(format!("plain{EXE_SUFFIX}"));
    Command::new(example).args(words).output().unwrap()
}

#[test]
fn each_plain_program_prints_its_time_per_operation() {
    for name in ["throughput", "fan-in", "ping-pong", "spawn-chain", "fork-join", "call"] {
        let output = plain(&[name, "1001"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}");
        assert!(printed.trim().parse::<f64>().is_ok_and(|ns| ns > 0.0), "{name}: {printed}");
    }
}

#[test]
fn wrong_arguments_are_refused_in_one_line_with_status_2() {
    for words in [&["ping-pong"][..], &["ping-pong", "0"], &["pong", "1"], &["call", "1", "2"]] {
        let output = plain(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1, "{words:?}");
    }
}
