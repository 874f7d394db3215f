//! The example of a native node for an Elixir application works as its document says.

use std::path::Path;
use std::process::Command;

use crate::support::Epmd;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/elixir");

/// Returns the Rust program of the example; Cargo builds it with the tests.
fn native() -> std::path::PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let native = own.ancestors().nth(2).expect("it lies in deps").join("examples/shop_native");
    assert!(native.is_file(), "run the tests with `cargo test`, which builds {}", native.display());
    native
}

#[test]
fn an_elixir_application_and_a_native_node_communicate_crash_and_recover() {
    let (epmd, home) = (Epmd::start(), tempfile::tempdir().expect("a folder"));
    let output = Command::new(Path::new(FOLDER).join("run.sh"))
        .env("SHOP_NATIVE", native())
        .env("MIX_BUILD_PATH", home.path().join("build"))
        .env("ERL_EPMD_PORT", epmd.port.to_string())
        .env("HOME", home.path())
        .output()
        .expect("it runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let page = std::fs::read_to_string(Path::new(FOLDER).join("README.md")).expect("a page");
    let (_, rest) = page.split_once("and prints:\n\n```text\n").expect("what it prints");
    let (due, _) = rest.split_once("```").expect("its end");
    // The Elixir compiler may print first.
    let begins = due.lines().next().expect("a line");
    let text = stdout.find(begins).map_or(&*stdout, |place| &stdout[place..]);
    assert_eq!(text, due, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}
