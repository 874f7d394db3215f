//! Tests of `purlin lab time` on real commands.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{json, purlin, until};
use serde_json::Value;

fn time(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).args(["lab", "time"]).args(words).output().expect("purlin runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the result in a file and its times.
fn stored(path: &Path) -> (Value, Vec<f64>) {
    let document = json(path);
    let result = document["results"][0].clone();
    let times = result["times"].as_array().expect("there are times");
    let times = times.iter().map(|time| time.as_f64().expect("a time is a number")).collect();
    (result, times)
}

#[test]
fn the_given_number_of_runs_is_made_and_each_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = time(
        folder.path(),
        &["-n", "7", "--warmup", "2", "--json", "x.json", "--", "sh", "-c", "echo x >> runs"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let runs = std::fs::read_to_string(folder.path().join("runs")).unwrap();
    assert_eq!(runs.lines().count(), 9);
    let (result, times) = stored(&folder.path().join("x.json"));
    assert_eq!(times.len(), 7);
    assert_eq!(result["command"], "sh -c 'echo x >> runs'");
    let mean = times.iter().sum::<f64>() / 7.0;
    assert!((result["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-9);
    assert!(result["exit_codes"].as_array().unwrap().iter().all(|status| status == 0));
    let text = stdout(&output);
    assert!(text.contains("of 7 runs") && text.contains("95 % interval"), "{text}");
}

// CLOCK: the machine's; the timed command sleeps, and its duration is what is tested.
// WHY real time: each run takes at least the sleep, so the first four runs use up the given time.
#[test]
fn a_sleeping_command_takes_at_least_its_sleep_and_is_repeated_until_the_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let output = time(folder.path(), &["-t", "0.2", "--json", "x.json", "--", "sleep", "0.05"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (_, times) = stored(&folder.path().join("x.json"));
    assert!((1..=4).contains(&times.len()), "{times:?}");
    assert!(times.iter().all(|&time| time >= 0.05), "{times:?}");
}

#[test]
fn a_computing_command_has_its_time_reported_as_user_time() {
    let folder = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    let output = time(folder.path(), &["-n", "2", "--json", "x.json", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (result, _) = stored(&folder.path().join("x.json"));
    let (user, system) = (result["user"].as_f64().unwrap(), result["system"].as_f64().unwrap());
    // A single thread cannot use more processor time than elapses; the kernel's two clocks may differ slightly.
    assert!(user > 0.0 && user + system <= 1.2 * result["max"].as_f64().unwrap(), "{result}");
    assert!(stdout(&output).contains("2 runs are too few"), "{}", stdout(&output));
}

#[test]
fn a_failing_command_ends_the_runs_with_its_last_output_and_earlier_times_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "[ -e a ] && [ -e b ] && { echo no more >&2; exit 3; }; [ -e a ] && touch b; touch a";
    let output = time(folder.path(), &["-n", "9", "--json", "x.json", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(2));
    let printed = stderr(&output);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(
        printed.contains("exit status: 3") && printed.contains("it said last: no more"),
        "{printed}"
    );
    assert_eq!(stored(&folder.path().join("x.json")).1.len(), 2);
    assert!(stdout(&output).contains("of 2 runs"), "{}", stdout(&output));
}

#[test]
fn ignored_failures_are_timed_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let output = time(
        folder.path(),
        &["-n", "6", "--ignore-failure", "--json", "x.json", "--", "sh", "-c", "exit 4"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("6 runs failed"), "{}", stdout(&output));
    let (result, _) = stored(&folder.path().join("x.json"));
    assert!(result["exit_codes"].as_array().unwrap().iter().all(|status| status == 4));
}

#[test]
fn invalid_timings_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (words, reason) in [
        (&["--", "no-such-program-anywhere"][..], "cannot start no-such-program-anywhere"),
        (&["-n", "3"][..], "COMMAND"),
        (&["-n", "0", "--", "true"][..], "whole number from 1"),
        (&["-t", "-1", "--", "true"][..], "number above 0"),
        (&["--json", "no/such/place.json", "--", "true"][..], "cannot write no/such/place.json"),
    ] {
        let output = time(folder.path(), words);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(reason) && printed.lines().count() == 1, "{printed}");
    }
}

#[test]
fn ctrl_c_keeps_the_results_and_leaves_no_process_running() {
    let folder = tempfile::tempdir().unwrap();
    // The third run signals its start and would last ten minutes.
    let script =
        "[ -e a ] && [ -e b ] && { echo $$ > pid; exec sleep 600; }; [ -e a ] && touch b; touch a";
    let timing = purlin(folder.path())
        .args(["lab", "time", "-n", "9", "--json", "x.json", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("purlin runs");
    let mut pid = String::new();
    until("the third run has begun", || {
        pid = std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
        pid.ends_with('\n')
    });
    let sent = Command::new("kill").args(["-INT", &timing.id().to_string()]).status();
    assert!(sent.expect("there is kill").success());
    let output = timing.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let (result, times) = stored(&folder.path().join("x.json"));
    assert_eq!((times.len(), &result["interrupted"]), (2, &Value::Bool(true)));
    assert!(stdout(&output).contains("interrupted"), "{}", stdout(&output));
    let alive = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status();
    assert!(!alive.unwrap().success(), "the command {pid} still runs");
}
