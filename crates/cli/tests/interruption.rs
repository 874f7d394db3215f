//! A run that is stopped in its middle keeps what it sampled and leaves nobody running.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::{contender, quick, samples};

/// A run whose contender hangs in its second experiment, stopped there by a signal.
fn stopped_by(signal: &str, folder: &Path) -> Child {
    let hanging = contender("hanging", "--pid-file pid hangs@throughput");
    let mut run = quick(folder)
        .args(["-e", "ping-pong,throughput", "--limit", "600", "-c", &hanging])
        .stderr(Stdio::piped())
        .spawn()
        .expect("purlin runs");
    let mut lines = BufReader::new(run.stderr.take().expect("it is piped")).lines();
    let first_done =
        lines.any(|line| line.is_ok_and(|line| line.starts_with("ping-pong: 3 rounds")));
    assert!(first_done, "the first experiment came to its end");
    let sent = Command::new("kill").args([signal, &run.id().to_string()]).status();
    assert!(sent.expect("there is kill").success());
    // Until the end of its output: a pipe that nobody reads could stop it.
    lines.for_each(drop);
    run
}

fn first_experiment_is_on_disk(folder: &Path) {
    let stored = samples(&folder.join("run/samples.jsonl"));
    let of_first = stored
        .iter()
        .filter(|sample| sample["experiment"] == "ping-pong" && sample["kind"] == "sample");
    assert_eq!(of_first.count(), 3);
}

#[test]
fn samples_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    stopped_by("-KILL", folder.path()).wait().unwrap();
    first_experiment_is_on_disk(folder.path());
}

#[test]
fn ctrl_c_ends_the_run_and_its_contenders_and_keeps_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let status = stopped_by("-INT", folder.path()).wait().unwrap();
    assert_eq!(status.code(), Some(130));
    first_experiment_is_on_disk(folder.path());
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    let alive = Command::new("kill").args(["-0", &pid]).stderr(Stdio::null()).status();
    assert!(!alive.unwrap().success(), "the contender {pid} still runs");
}
