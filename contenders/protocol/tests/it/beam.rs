//! The contender in Erlang keeps to the protocol. Compiles it and runs it on the real BEAM.

use std::path::{Path, PathBuf};
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};
use serde_json::Value;

/// The sources, beside this crate.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../beam");

/// Compiles into a directory of its own. `None` if there is no Erlang and none may be installed.
fn compiled(name: &str) -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let sources = std::fs::read_dir(SOURCES).unwrap();
    let sources = sources
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "erl"));
    let compiler = Command::new("erlc")
        .args(["-Wall", "-Werror", "-o"])
        .arg(&directory)
        .args(sources)
        .output();
    match compiler {
        Err(_) if std::env::var_os("PURLIN_NO_INSTALL").is_some_and(|value| value == "1") => {
            println!("skipped: there is no erlc, and PURLIN_NO_INSTALL=1 forbids installing it");
            None
        }
        Err(error) => panic!(
            "erlc cannot be started ({error}): install Erlang, on Debian with `apt-get install erlang-base`, or run `make test`, which does"
        ),
        Ok(output) => {
            assert!(output.status.success(), "erlc: {}", String::from_utf8_lossy(&output.stdout));
            Some(directory)
        }
    }
}

fn erl(flags: &[&str], directory: &Path) -> Command {
    let mut command = Command::new("erl");
    command.args(flags).arg("-noshell").arg("-pa").arg(directory).args(["-s", "contender", "main"]);
    command
}

#[test]
fn the_beam_keeps_to_the_protocol() {
    if let Some(directory) = compiled("beam-conformance") {
        assert_eq!(examine(|| erl(&["+P", "4000000"], &directory)), Ok(Vec::new()));
    }
}

#[test]
fn the_beam_says_which_flag_it_needs_for_many_processes_and_goes_on() {
    let Some(directory) = compiled("beam-limit") else {
        return;
    };
    let mut contender = Contender::start(erl(&["+P", "1024"], &directory)).unwrap();
    let answer =
        contender.ask(r#"{"op":"run","experiment":"fork-join","params":{"n":10000}}"#).unwrap();
    let complaint = answer["error"].as_str().unwrap();
    assert!(complaint.contains("start erl with a larger +P"), "{complaint}");
    let answer =
        contender.ask(r#"{"op":"run","experiment":"fork-join","params":{"n":10}}"#).unwrap();
    assert_eq!(answer["received"], Value::from(10));
    assert_eq!(contender.finish(), Ok(Some(0)));
}
