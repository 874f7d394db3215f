//! The contender in Elixir keeps to the protocol. Compiles it and runs it on the real BEAM.

use std::path::{Path, PathBuf};
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};

/// Where the contenders' sources are.
const CONTENDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Compiles into a directory of its own. `None` if there is no Elixir.
fn compiled(name: &str) -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier test compiled would be told of as defined twice.
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let shared = ["mini_json.erl", "params.erl"].map(|file| format!("{CONTENDERS}/beam/{file}"));
    let sources = std::fs::read_dir(format!("{CONTENDERS}/elixir")).unwrap();
    let sources = sources.map(|entry| entry.unwrap().path());
    let mut erlc = Command::new("erlc");
    let mut elixirc = Command::new("elixirc");
    erlc.args(["-Wall", "-Werror", "-o"]).arg(&directory).args(shared);
    elixirc.args(["--warnings-as-errors", "-pa"]).arg(&directory);
    elixirc.arg("-o").arg(&directory).args(sources);
    for mut compiler in [erlc, elixirc] {
        let name = compiler.get_program().to_string_lossy().into_owned();
        match compiler.output() {
            // WHY not a failure: it is one of those that purlin is compared with, and no part of it.
            Err(error) => {
                println!(
                    "skipped: {name} cannot be started ({error}): install Elixir, on Debian with `apt-get install elixir`"
                );
                return None;
            }
            Ok(output) => {
                let said = [output.stdout, output.stderr].concat();
                assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&said));
            }
        }
    }
    Some(directory)
}

fn elixir(flags: &str, directory: &Path) -> Command {
    let mut command = Command::new("elixir");
    command.args(["--erl", flags, "-pa"]).arg(directory).args(["-e", "Contender.main()"]);
    command
}

#[test]
fn elixir_keeps_to_the_protocol() {
    if let Some(directory) = compiled("elixir-conformance") {
        assert_eq!(examine(|| elixir("+P 4000000", &directory)), Ok(Vec::new()));
    }
}

#[test]
fn elixir_says_which_versions_it_runs_on() {
    let Some(directory) = compiled("elixir-version") else {
        return;
    };
    let mut contender = Contender::start(elixir("+P 4000000", &directory)).unwrap();
    let hello = contender.ask(r#"{"op":"hello"}"#).unwrap();
    let version = hello["version"].as_str().unwrap();
    assert!(version.starts_with("Elixir 1.") && version.contains(" on Erlang/OTP "), "{version}");
}
