//! `purlin demo`, started and ended.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod support;

use std::process::Stdio;

use support::purlin;
use support::running::Running;

#[test]
fn it_lives_until_it_is_asked_to_end_and_then_ends_well() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut demo = Running::start(purlin(folder.path()).arg("demo").stderr(Stdio::piped()));
        assert!(demo.line().starts_with("A small living system runs"));
        assert!(demo.goes_on());
        let (status, _rest) = demo.end(signal);
        assert_eq!(status, Some(0), "{signal}");
    }
}

#[test]
fn it_ends_by_itself_when_its_time_is_over_and_has_complained_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = purlin(folder.path()).args(["demo", "--for", "1.5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_time_that_is_none_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = purlin(folder.path()).args(["demo", "--for", "soon"]).output().unwrap();
    assert!(support::line(&output, 2).contains("give a number above 0"));
}
