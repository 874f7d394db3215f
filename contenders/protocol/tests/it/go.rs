//! Conformance of the Go contender, and the plain Go programs, compiled and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};

use crate::built::{built, sources};

/// Experiments that Go cannot express.
const MISSING: [&str; 8] = [
    "call-deep",
    "reply-deep",
    "selective",
    "monitor-churn",
    "link-churn",
    "exit-cascade",
    "restart",
    "signals",
];

/// Returns the compiled Go contender; `None` if Go is not installed.
fn compiled() -> Option<PathBuf> {
    package("contender-go", "go", ".")
}

/// Returns the program of a package of the contender's module.
fn package(name: &str, folder: &str, package: &str) -> Option<PathBuf> {
    let (programs, modules) = (sources(folder, "go"), sources("go", "mod"));
    let folder = built(name, &["go"], &[&programs[..], &modules].concat(), |folder| {
        let compiler = Command::new("go")
            .current_dir(modules[0].parent().unwrap())
            .args(["build", "-buildvcs=false", "-o"])
            .arg(folder.join("contender"))
            .arg(package)
            // WHY not the user's cache: tests write to the target directory only.
            .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"))
            .env("GOFLAGS", "")
            .env("GOPROXY", "off")
            .env("GOTOOLCHAIN", "local")
            .output();
        match compiler {
            // WHY not a failure: Go is only needed for comparisons, not by purlin.
            Err(error) => {
                println!(
                    "skipped: go cannot be started ({error}): install Go, on Debian with `apt-get install golang-go`"
                );
                false
            }
            Ok(output) => {
                assert!(output.status.success(), "go: {}", String::from_utf8_lossy(&output.stderr));
                true
            }
        }
    });
    folder.map(|folder| folder.join("contender"))
}

#[test]
fn go_contender_conforms_to_the_protocol() {
    if let Some(program) = compiled() {
        assert_eq!(examine(|| Command::new(&program)), Ok(MISSING.to_vec()));
    }
}

#[test]
fn go_contender_on_one_processor_conforms_and_notes_it() {
    let Some(program) = compiled() else {
        return;
    };
    let one = || {
        let mut command = Command::new(&program);
        command.env("GOMAXPROCS", "1");
        command
    };
    assert_eq!(examine(one), Ok(MISSING.to_vec()));
    let hello = Contender::start(one()).unwrap().ask(r#"{"op":"hello"}"#).unwrap();
    assert!(hello["notes"][0].as_str().unwrap().contains("GOMAXPROCS of 1"), "{hello}");
}

#[test]
fn exchange_beyond_channel_capacity_does_not_deadlock() {
    let Some(program) = compiled() else {
        return;
    };
    let mut contender = Contender::start(Command::new(program)).unwrap();
    let request =
        r#"{"op":"run","experiment":"exchange","params":{"n":300000,"pieces":1,"work":1}}"#;
    let answer = contender.ask(request).unwrap();
    assert_eq!((&answer["sent"], &answer["received"]), (&600_000.into(), &600_000.into()));
    assert_eq!(contender.finish(), Ok(Some(0)));
}

#[test]
fn each_plain_program_prints_its_time_per_operation_and_refuses_wrong_arguments() {
    let Some(program) = package("plain-go", "go/plain", "./plain") else {
        return;
    };
    for name in ["throughput", "fan-in", "ping-pong", "spawn-chain", "fork-join", "call"] {
        let output = Command::new(&program).args([name, "1001"]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.trim().parse::<f64>().is_ok_and(|ns| ns > 0.0), "{name}: {printed}");
    }
    for words in [&["ping-pong"][..], &["ping-pong", "0"], &["pong", "1"]] {
        let output = Command::new(&program).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}
