//! Scripts behind the make targets, run with fake commands on the PATH: nothing is installed, built
//! or measured here.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directory of fake commands; the script finds nothing else on its PATH.
struct StandIns {
    directory: PathBuf,
}

impl StandIns {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scripts").join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory).expect("old stand-ins can be removed");
        }
        fs::create_dir_all(&directory).expect("a directory can be made");
        Self { directory }
    }

    fn command(self, name: &str, body: &str) -> Self {
        let path = self.directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a stand-in can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("it can be made to run");
        self
    }

    fn root(self) -> Self {
        self.command("id", "echo 0")
    }

    /// Adds an `apt-get` that records its arguments and exits with `status`.
    fn apt_get(self, status: u8) -> Self {
        let log = self.directory.join("asked");
        self.command("apt-get", &format!("echo \"$@\" >> '{}'\nexit {status}", log.display()))
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.directory.join("asked")).unwrap_or_default()
    }

    /// Runs `install-missing.sh` and returns its output; it must succeed whatever is missing.
    fn install(&self, commands: &[&str], no_install: bool) -> String {
        let (status, said) = self.run("install-missing.sh", commands, no_install);
        assert_eq!(status, Some(0), "{said}");
        said
    }

    /// Runs a script and returns its exit status and its output.
    fn run(&self, script: &str, options: &[&str], no_install: bool) -> (Option<i32>, String) {
        self.run_with(script, options, no_install, ("FLAGS", ""))
    }

    /// Like [`run`](Self::run), with a variable of the environment and its value.
    fn run_with(
        &self,
        script: &str,
        options: &[&str],
        no_install: bool,
        (name, value): (&str, &str),
    ) -> (Option<i32>, String) {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
        let output = Command::new("/bin/bash")
            .arg(scripts.join(script))
            .args(options)
            .env("PURLIN_NO_INSTALL", if no_install { "1" } else { "" })
            .env_remove("FLAGS")
            .env_remove("ALLOCATOR")
            .env(name, value)
            .env("PATH", &self.directory)
            .env("HOME", &self.directory)
            .env_remove("XDG_CACHE_HOME")
            .env("CARGO_HOME", self.directory.join("cargo-home"))
            .env("CARGO_TARGET_DIR", &self.directory)
            .output()
            .expect("bash runs");
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.code(), said)
    }

    /// Adds the commands that every script may rely on, and an `env` that finds bash.
    fn basics(self) -> Self {
        self.command("dirname", "echo \"${1%/*}\"").command("bash", "exec /bin/bash \"$@\"")
    }
}

#[test]
fn installed_packages_are_not_installed_again() {
    let path =
        StandIns::new("there").root().apt_get(0).command("erlc", "").command("google-chrome", "");
    assert_eq!(path.install(&["erlc", "chromium"], false), "here already: erlc chromium\n");
    assert_eq!(path.asked(), "");
}

#[test]
fn missing_packages_are_installed_and_reported_for_root_on_debian() {
    let path = StandIns::new("root").root().apt_get(0).command("node", "");
    let said = path.install(&["erlc", "go", "node", "cc"], false);
    assert!(said.contains("installing erlang-base golang-go gcc libc6-dev with apt-get"), "{said}");
    let asked = path.asked();
    assert!(asked.lines().next().is_some_and(|line| line.ends_with("update")), "{asked}");
    assert!(
        asked.contains("install -y --no-install-recommends erlang-base golang-go gcc libc6-dev"),
        "{asked}"
    );
}

#[test]
fn a_failing_apt_get_is_reported_and_the_script_continues() {
    let path = StandIns::new("failing").root().apt_get(100);
    let said = path.install(&["erlc"], false);
    assert!(said.contains("apt-get failed"), "{said}");
    assert!(said.contains("going on with what is there"), "{said}");
}

#[test]
fn purlin_no_install_forbids_installing_and_names_the_command() {
    let path = StandIns::new("forbidden").root().apt_get(0);
    let said = path.install(&["erlc"], true);
    assert!(
        said.contains(
            "sudo apt-get update && sudo apt-get install -y --no-install-recommends erlang-base"
        ),
        "{said}"
    );
    assert_eq!(path.asked(), "");
}

#[test]
fn without_root_the_install_command_is_printed() {
    let path = StandIns::new("user").command("id", "echo 1000").apt_get(0);
    let said = path.install(&["npm"], false);
    assert!(said.contains("this would install what is needed: sudo apt-get update"), "{said}");
    assert_eq!(path.asked(), "");
}

#[test]
fn on_other_systems_their_install_command_or_the_packages_are_printed() {
    let brew = StandIns::new("brew").root().command("brew", "exit 1");
    let said = brew.install(&["erlc", "elixir", "go", "node"], false);
    assert!(said.contains("brew install erlang elixir go node"), "{said}");

    let bare = StandIns::new("bare").root();
    let said = bare.install(&["erlc"], false);
    assert!(said.contains("your system's package manager, for: erlc"), "{said}");
}

#[test]
fn without_cargo_one_line_explains_how_to_install_it() {
    let path = StandIns::new("no-cargo").basics();
    for script in ["lab.sh", "test.sh", "check-house.sh"] {
        let (status, said) = path.run(script, &[], true);
        assert_eq!(status, Some(2), "{script}: {said}");
        assert_eq!(said.lines().count(), 1, "{script}: {said}");
        assert!(said.contains("install Rust 1.88 or later with: curl"), "{script}: {said}");
    }
}

#[test]
fn the_lab_receives_its_options_unchanged_and_prints_last() {
    let path = StandIns::new("lab")
        .basics()
        .command("cargo", "echo \"cargo $*\"")
        .command("cc", "")
        .command("erlc", "");
    fs::create_dir(path.directory.join("release")).expect("a directory can be made");
    let path = path.command("release/purlin", "printf '[%s]' \"$@\"; exit 3");
    let (status, said) = path.run("lab.sh", &["-c", "beam:+sbwt none"], false);
    assert!(said.contains("cargo build --release --locked -p purlin-cli"), "{said}");
    assert!(said.ends_with("[lab][run][-c][beam:+sbwt none]"), "{said}");
    assert_eq!(status, Some(3), "the status is the lab's own: {said}");
}

#[test]
fn the_lab_measures_both_builds_of_a_rust_contender_side_by_side() {
    let path = StandIns::new("lab-flags")
        .basics()
        .command("cargo", "echo \"cargo $*\"")
        .command("cc", "")
        .command("erlc", "");
    fs::create_dir(path.directory.join("release")).expect("a directory can be made");
    let path = path.command("release/purlin", "printf '[%s]' \"$@\"");
    for (name, build, suffix, folder) in [
        ("FLAGS", "--profile release-default --locked", "flags", "release-default"),
        (
            "ALLOCATOR",
            "--release --locked --no-default-features --target-dir",
            "allocator",
            "default-allocator/release",
        ),
    ] {
        let (status, said) = path.run_with("lab.sh", &["-e", "call"], false, (name, "both"));
        assert!(said.contains(&format!("cargo build {build}")), "{said}");
        assert!(said.contains(&format!("[-c][tokio][-c][tokio-default-{suffix}=")), "{said}");
        assert!(said.contains(&format!("/{folder}/contender-tokio]")), "{said}");
        assert!(said.ends_with("[-e][call]"), "{said}");
        assert_eq!(status, Some(0), "{said}");
        let (status, said) = path.run_with("lab.sh", &[], false, (name, "all"));
        assert!(said.contains(&format!("{name} is \"all\"; set it to \"both\"")), "{said}");
        assert_eq!(status, Some(2), "{said}");
    }
}

#[test]
fn an_unavailable_sanitizer_is_skipped_with_a_message() {
    let elsewhere = |name, system: &str| {
        StandIns::new(name)
            .basics()
            .command("uname", &format!("echo {system}"))
            .command("cargo", "exit 1")
            .command("cargo-nextest", "")
            .command("rustc", "echo /nowhere")
            .command("rm", "")
    };
    let (status, said) = elsewhere("asan-elsewhere", "Darwin arm64").run("asan.sh", &[], true);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("left out: rustc's sanitizers run on Linux on x86-64"), "{said}");

    let (status, said) = elsewhere("tsan-bare", "Linux x86_64").run("tsan.sh", &[], true);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("this would add it: rustup component add rust-src"), "{said}");
    assert!(said.contains("left out: without the sources of the standard library"), "{said}");
}

#[test]
fn a_release_of_otp_that_cannot_be_provided_is_refused_in_one_line() {
    let path = StandIns::new("otp-elsewhere")
        .basics()
        .command("uname", "echo Darwin")
        .command("mkdir", "/bin/mkdir \"$@\"");
    for (release, due) in [
        ("26", "'26' is not a release that is known here, 25, 27 or 29"),
        ("29", "Erlang/OTP 29 is installed by debootstrap as root on Linux; run as root"),
    ] {
        let (status, said) = path.run("otp.sh", &[release], true);
        assert_eq!((status, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(due), "{said}");
    }
}

#[test]
fn a_linked_release_of_otp_precedes_the_installed_one_if_it_is_the_requested_one() {
    let path = StandIns::new("otp-linked").basics();
    let bin = path.directory.join(".cache/purlin/otp/29/bin");
    fs::create_dir_all(&bin).expect("a directory can be made");
    let erl = bin.join("erl").display().to_string();
    let path = path.command(".cache/purlin/otp/29/bin/erl", "printf 29");
    assert_eq!(path.run("otp.sh", &["29"], true), (Some(0), format!("{erl}\n")));
    let (status, said) = path.run("otp.sh", &["29", "erl"], true);
    assert_eq!((status, said.as_str()), (Some(0), "29"));

    let path = path.command(".cache/purlin/otp/29/bin/erl", "printf 27");
    let (status, said) = path.run("otp.sh", &["29"], true);
    assert_eq!((status, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("is Erlang/OTP 27, not 29"), "{said}");
}

#[test]
fn a_missing_suite_of_otp_is_refused_in_one_line() {
    let path = StandIns::new("otp-suite").basics();
    for options in [&[][..], &["messages_SUITE.erl"]] {
        let (status, said) = path.run("otp-suite.sh", options, true);
        assert_eq!((status, said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("name the file in erts/test of a checkout"), "{said}");
    }
}

#[test]
fn installed_tools_are_not_installed_again() {
    let path = StandIns::new("tool-there").command("cargo-deny", "").command("cargo", "exit 1");
    assert_eq!(path.run("add-tool.sh", &["cargo-deny"], false), (Some(0), String::new()));
}

#[test]
fn a_missing_tool_is_built_at_a_pinned_version_unless_forbidden() {
    let path = || StandIns::new("tool-missing").command("cargo", "echo \"built: $*\"");
    let (status, said) = path().run("add-tool.sh", &["cargo-nextest"], false);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("built: install --locked --debug cargo-nextest --version 0."), "{said}");

    let (status, said) = path().run("add-tool.sh", &["cargo-nextest"], true);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.starts_with("missing: cargo-nextest; PURLIN_NO_INSTALL=1 forbids"), "{said}");
    assert!(!said.contains("built"), "{said}");
}

#[test]
fn a_check_without_its_tool_is_skipped_with_a_message_and_the_others_run() {
    let path = StandIns::new("tools-forbidden")
        .basics()
        .root()
        .command("cargo", "echo \"cargo $*\"")
        .command("cargo-deny", "");
    let (status, said) = path.run("check-tools.sh", &[], true);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("left out: typos"), "{said}");
    assert!(said.contains("left out: shellcheck"), "{said}");
    assert!(said.contains("cargo deny --locked"), "{said}");
    assert!(said.contains("cargo package --workspace"), "{said}");
}

#[test]
fn compiler_warnings_fail_and_languages_without_a_compiler_are_skipped() {
    let languages = |name: &str| {
        StandIns::new(name)
            .basics()
            .command("mktemp", "echo \"$HOME/made\"")
            .command("mkdir", "")
            .command("rm", "")
            .command("escript", "")
    };
    let (status, said) = languages("languages-none").run("check-languages.sh", &[], true);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("left out: Erlang, because erlc is missing"), "{said}");
    assert!(said.contains("left out: Go, because go is missing"), "{said}");

    let warns = languages("languages-warn").command("erlc", "[ $1 != -Werror ]");
    let (status, said) = warns.run("check-languages.sh", &[], true);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("with status 1: erlang"), "{said}");
}

#[test]
fn a_failing_step_ends_the_checks_and_is_printed() {
    let path = StandIns::new("failing-step")
        .basics()
        .command("mktemp", "echo /nowhere")
        .command("cmp", "exit 1")
        .command("rm", "")
        .command("cargo", "case $* in *--all-targets*) exit 7;; esac; echo \"cargo $*\"");
    let (status, said) = path.run("check.sh", &[], true);
    assert_eq!(status, Some(7), "{said}");
    assert!(said.contains("cargo test -p purlin-checks"), "{said}");
    assert!(said.contains("with status 7: scripts/check-lints.sh"), "{said}");
    assert!(!said.contains("== docs"), "{said}");
}

// With the commands of this machine: the changes are made with `sed`.
#[test]
fn every_planted_mistake_of_the_log_applies_to_the_code() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/mutate-log.sh");
    let output = Command::new(script).arg("--check").output().expect("bash is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
