//! Tests of `purlin new`.

#![cfg(unix)]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::running::Running;
use crate::support::{line, purlin};
use serde_json::Value;

fn checkout() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate lies in a checkout")
}

fn new(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).arg("new").args(words).output().expect("purlin runs")
}

/// Makes a project in `demo`.
fn demo(folder: &Path, words: &[&str]) -> PathBuf {
    let output = new(folder, &[&["demo"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.starts_with("created demo; run it with") && printed.contains("cargo run"));
    folder.join("demo")
}

fn cargo(project: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command.current_dir(project).env("CARGO_NET_OFFLINE", "true");
    command
}

#[test]
fn project_depends_on_the_checkout_and_resolves_offline() {
    let folder = tempfile::tempdir().unwrap();
    let project = demo(folder.path(), &[]);
    // WHY without checking the lock: cargo first removes what the project does not use.
    let output = cargo(&project).args(["metadata", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let find = |name: &str| packages.iter().find(|package| package["name"] == name);
    let target = &find("demo").unwrap()["targets"][0];
    assert_eq!((&target["name"], &target["kind"][0]), (&"demo".into(), &"bin".into()));
    let manifest = checkout().join("crates/purlin/Cargo.toml");
    assert_eq!(find("purlin").unwrap()["manifest_path"], manifest.to_str().unwrap());
    // Only what the project uses.
    assert!(find("purlin-testkit").is_some() && find("purlin-lab").is_none());
}

#[test]
fn no_placeholder_is_left_and_the_sources_are_those_of_the_tested_example() {
    let folder = tempfile::tempdir().unwrap();
    let project = demo(folder.path(), &[]);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/new/project/src");
    let mut count = 0;
    for entry in fs::read_dir(sources).unwrap() {
        let entry = entry.unwrap();
        let made = fs::read(project.join("src").join(entry.file_name())).unwrap();
        assert_eq!(made, fs::read(entry.path()).unwrap(), "{}", entry.path().display());
        count += 1;
    }
    assert_eq!(count, fs::read_dir(project.join("src")).unwrap().count());
    for entry in fs::read_dir(&project).unwrap().map(Result::unwrap) {
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        assert!(!text.contains("@name@") && !text.contains("@checkout@"), "{text}");
    }
    let dockerfile = fs::read_to_string(project.join("Dockerfile")).unwrap();
    assert!(dockerfile.contains(&format!("[\"crates\", \"{}/crates\"]", checkout().display())));
}

#[test]
fn existing_file_or_folder_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "kept").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for name in ["file", "empty"] {
        let line = line(&new(folder.path(), &[name]), 2);
        assert!(line.contains(&format!("\"{name}\" exists here: choose another name")), "{line}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path().join("empty")).unwrap().count(), 0);
}

#[test]
fn invalid_names_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, due) in [
        ("", "give lower-case letters"),
        ("Demo", "give lower-case letters"),
        ("a/b", "give lower-case letters"),
        ("../demo", "give lower-case letters"),
        ("fn", "it is reserved"),
        ("purlin", "it is reserved"),
    ] {
        let line = line(&new(folder.path(), &[name]), 2);
        assert!(line.contains(due), "{line}");
    }
    assert!(line(&new(folder.path(), &[]), 2).contains("<NAME>"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn folder_without_a_checkout_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let none = line(&new(folder.path(), &["demo", "--path", "nowhere"]), 2);
    assert!(none.contains("no checkout of purlin in nowhere: give the folder"), "{none}");
    // A checkout that lacks a file, found while the project is written.
    let broken = folder.path().join("broken");
    fs::create_dir(&broken).unwrap();
    symlink(checkout().join("crates"), broken.join("crates")).unwrap();
    let incomplete = line(&new(folder.path(), &["demo", "--path", "broken"]), 2);
    let due = "cannot create \"demo\": ";
    assert!(incomplete.contains(due) && incomplete.contains("broken/Cargo.lock: "), "{incomplete}");
    // A path that cannot stand between quotes.
    fs::rename(&broken, folder.path().join("a\"b")).unwrap();
    let quote = line(&new(folder.path(), &["demo", "--path", "a\"b"]), 2);
    assert!(quote.contains("has a quote"), "{quote}");
    assert!(!folder.path().join("demo").exists());
}

#[test]
#[ignore = "compiles purlin for a minute: scripts/test-new.sh, which make prove runs"]
fn project_runs_stops_at_ctrl_c_and_passes_its_test() {
    let folder = tempfile::tempdir().unwrap();
    // The parts of a checkout that the Dockerfile copies, and the versions.
    let parts = folder.path().join("checkout");
    fs::create_dir(&parts).unwrap();
    for part in ["Cargo.toml", "Cargo.lock", "crates"] {
        symlink(checkout().join(part), parts.join(part)).unwrap();
    }
    let project = demo(folder.path(), &["--path", parts.to_str().unwrap()]);
    let target = folder.path().join("target");
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" run --quiet 2>&1"]).arg(cargo(&project).get_program());
    command.current_dir(&project).env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", &target);
    let mut running = Running::start(&mut command);
    loop {
        let line = running.line();
        assert!(!line.is_empty(), "it counts: {:?}", running.wait());
        if line.contains("counted total=2") {
            break;
        }
    }
    let (status, rest) = running.end("-INT");
    assert_eq!(status, Some(0), "{rest}");
    assert!(
        rest.contains("stopping") && !rest.contains("ERROR") && !rest.contains("panic"),
        "{rest}"
    );
    // As in the image: with the lock that the first build has written.
    let output = cargo(&project)
        .args(["test", "--locked"])
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("2 passed"), "{printed}");
}
