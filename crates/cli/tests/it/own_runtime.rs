//! The program in the document on custom runtimes is measured as described.

use crate::support;
use std::process::Command;

use crate::support::{list, principals, quick};

/// The document.
const PAGE: &str = include_str!("../../../../docs/lab/own-runtime.md");

/// The documented arguments of `purlin lab run`, without the contender that is not part of this test.
const TYPED: [&str; 4] = ["-e", "throughput,ping-pong", "-c", "mine=python3 mine.py"];

#[test]
fn the_documented_runtime_in_twenty_lines_is_measured_as_described() {
    let line = "purlin lab run -e throughput,ping-pong -c purlin -c 'mine=python3 mine.py'";
    assert!(PAGE.contains(line), "the page says something else");
    // WHY not a failure: no part of purlin needs Python.
    if let Err(error) = Command::new("python3").arg("--version").output() {
        println!(
            "skipped: python3 cannot be started ({error}): install Python, on Debian with `apt-get install python3`"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = PAGE.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    std::fs::write(folder.path().join("mine.py"), program.unwrap()).unwrap();
    let output = quick(folder.path()).args(TYPED).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = support::json(&folder.path().join("run/results.json"));
    assert!(list(&results, "void").is_empty() && list(&results, "problems").is_empty());
    for experiment in ["throughput", "ping-pong"] {
        assert_eq!(principals(&results, experiment, "mine"), 1, "{experiment}");
    }
    let version = list(&results, "contenders")[0]["version"].as_str().unwrap();
    assert!(version.starts_with("Python 3"), "{version}");
}

#[test]
fn help_and_list_refer_to_the_document_on_custom_runtimes() {
    let folder = tempfile::tempdir().unwrap();
    for words in [["lab", "run", "--help"].as_slice(), &["lab", "list"]] {
        let output = support::purlin(folder.path()).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("docs/lab/own-runtime.md"), "{text}");
    }
}
