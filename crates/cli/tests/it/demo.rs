//! Tests of `purlin demo`.

#![cfg(unix)]

use crate::support;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use crate::support::running::Running;
use crate::support::{purlin, until};

/// Starts the demo with its page on a free port; returns it with the page's address.
fn demo(folder: &Path) -> (Running, String) {
    let mut command = purlin(folder);
    let mut demo = Running::start(command.args(["demo", "--port", "0"]).stderr(Stdio::piped()));
    assert!(demo.line().starts_with("the demo runs"));
    assert_eq!(demo.line(), "");
    let url = demo.line().trim().to_owned();
    assert!(url.starts_with("http://127.0.0.1:") && url.contains("/#token="), "{url}");
    (demo, url)
}

#[test]
fn the_demo_runs_until_it_is_asked_to_end_and_then_exits_with_status_0() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut demo, _url) = demo(folder.path());
        assert!(demo.goes_on());
        let (status, rest) = demo.end(signal);
        assert_eq!(status, Some(0), "{signal}");
        assert!(rest.contains("purlin observe 'http://"), "{rest}");
    }
}

#[test]
fn the_demos_processes_are_listed_at_the_printed_address() {
    let folder = tempfile::tempdir().unwrap();
    let (_demo, url) = demo(folder.path());
    // A process registers its name when it first runs, which may be after the address was printed.
    let names =
        ["archive", "auditor", "billing", "clerk", "demo", "hog", "meter", "pool", "worker-3"];
    until(&format!("all of {names:?} are seen"), || {
        let words = ["observe", "--once", "--sort", "name", "--rows", "500", &url];
        let output = purlin(folder.path()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        let seen: Vec<_> = seen.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        names.iter().all(|name| seen.contains(name))
    });
}

#[test]
fn the_demo_ends_after_its_time_without_errors() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["demo", "--port", "0", "--for", "0.5"];
    let output = purlin(folder.path()).args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_port_in_use_and_an_invalid_time_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = purlin(folder.path()).args(["demo", "--port", &port]).output().unwrap();
    let due = format!("port {port} is in use: choose another for the page with --port");
    assert!(support::line(&output, 2).contains(&due));
    let output = purlin(folder.path()).args(["demo", "--for", "soon"]).output().unwrap();
    assert!(support::line(&output, 2).contains("give a number above 0"));
}
