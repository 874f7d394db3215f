//! Test support: runs the `purlin` program on contenders that measure nothing.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod certificates;
#[cfg(unix)]
pub(crate) mod nodes;
#[cfg(unix)]
pub(crate) mod running;
#[cfg(unix)]
pub(crate) mod serving;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
pub(crate) use purlin_polling::{HANG, until};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpSocket;

/// Returns an address at which connections are refused while the socket exists.
///
/// WHY bound and not listening: meanwhile the system assigns the port to no other program.
pub(crate) fn refusing() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
    let address = socket.local_addr().expect("an address").to_string();
    (socket, address)
}

/// Returns the path of the contender that computes its answers; Cargo builds it with the tests.
pub(crate) fn fake() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let built = own.ancestors().nth(2).expect("it lies in deps");
    let fake =
        built.join("examples").join(format!("fake_contender{}", std::env::consts::EXE_SUFFIX));
    assert!(fake.is_file(), "run the tests with `cargo test`, which builds {}", fake.display());
    fake
}

/// Returns `NAME=COMMAND` for the fake contender with these options.
pub(crate) fn contender(name: &str, orders: &str) -> String {
    format!("{name}='{}' {orders}", fake().display())
}

/// A temporary folder, and the result of `purlin` run in it.
pub(crate) struct Bench {
    folder: TempDir,
    /// Exit status and output of the command.
    pub(crate) output: Output,
}

impl Bench {
    /// Runs `purlin lab run` with these arguments, six short samples per point, in `run/`.
    pub(crate) fn run(words: &[&str]) -> Self {
        Self::in_folder(tempfile::tempdir().expect("a folder can be made"), words)
    }

    /// Like [`Bench::run`], in an existing folder.
    pub(crate) fn in_folder(folder: TempDir, words: &[&str]) -> Self {
        let output = quick(folder.path()).args(words).output().expect("purlin runs");
        Self { folder, output }
    }

    /// Runs these experiments on these contenders, with the fake contender as the client of
    /// servers.
    #[cfg(unix)]
    pub(crate) fn served(experiments: &str, contenders: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let client = folder.path().join("contender-load");
        std::os::unix::fs::symlink(fake(), client).expect("the folder is writable");
        Self::in_folder(folder, &of(experiments, contenders))
    }

    /// Runs these experiments on these contenders.
    pub(crate) fn of(experiments: &str, contenders: &[String]) -> Self {
        Self::run(&of(experiments, contenders))
    }

    /// Like [`Bench::of`], with this number of samples per point.
    pub(crate) fn rounds(count: &str, experiments: &str, contenders: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let words = of(experiments, contenders);
        let output = run(folder.path(), count).args(words).output().expect("purlin runs");
        Self { folder, output }
    }

    pub(crate) fn status(&self) -> i32 {
        self.output.status.code().expect("it was not killed")
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the stored results.
    pub(crate) fn results(&self) -> Value {
        json(&self.path("run/results.json"))
    }

    /// Returns the stored samples.
    pub(crate) fn samples(&self) -> Vec<Value> {
        samples(&self.path("run/samples.jsonl"))
    }

    /// Returns the lines of standard error about a contender.
    pub(crate) fn lines_about(&self, contender: &str) -> Vec<String> {
        let about = |line: &&str| {
            line.contains(&format!(" {contender}:")) || line.starts_with(&format!("{contender}:"))
        };
        self.stderr().lines().filter(about).map(str::to_owned).collect()
    }
}

/// Returns the arguments for these experiments on these contenders.
pub(crate) fn of<'a>(experiments: &'a str, contenders: &'a [String]) -> Vec<&'a str> {
    let mut words = vec!["--limit", "600", "--seed", "1"];
    if !experiments.is_empty() {
        words.extend(["-e", experiments]);
    }
    for contender in contenders {
        words.extend(["-c", contender]);
    }
    words
}

/// Returns the command `purlin lab run` with six short samples per point, with `folder` for all
/// files.
pub(crate) fn quick(folder: &Path) -> Command {
    run(folder, "6")
}

/// Returns the command `purlin lab run` with this number of short samples per point.
fn run(folder: &Path, samples: &str) -> Command {
    let mut command = purlin(folder);
    command.args(["lab", "run", "--samples", samples, "--sample-ms", "2", "--dir", "run"]);
    command
}

/// Returns the command `purlin` in a folder without built-in contenders.
pub(crate) fn purlin(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin"));
    command
        .current_dir(folder)
        .env_remove("JAVA_HOME")
        .env("PURLIN_CONTENDERS", folder)
        .env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

pub(crate) fn json(path: &Path) -> Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("it is JSON")
}

/// Returns the one line on standard error of a command that has exited with that status.
pub(crate) fn line(output: &Output, status: i32) -> String {
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert!(line.lines().count() == 1 && line.starts_with("purlin: "), "{line}");
    line
}

/// Decodes the results embedded in a page.
pub(crate) fn drawn(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).expect("there is a page");
    let (_, rest) = page.split_once(r#"id="purlin-results">"#).expect("it holds results");
    let (packed, _) = rest.split_once("</script>").expect("they end");
    let bytes = STANDARD.decode(packed).expect("they are base64");
    serde_json::from_reader(GzDecoder::new(bytes.as_slice())).expect("they are JSON in gzip")
}

pub(crate) fn samples(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("there are samples");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

/// Returns the elements of a list in the results.
pub(crate) fn list<'a>(results: &'a Value, name: &str) -> &'a [Value] {
    results[name].as_array().unwrap_or_else(|| panic!("{name} is a list"))
}

/// Returns the number of primary results of this contender in this experiment.
pub(crate) fn principals(results: &Value, experiment: &str, contender: &str) -> usize {
    let own = |result: &&Value| {
        result["experiment"] == experiment
            && result["contender"] == contender
            && result["principal"] == true
    };
    list(results, "results").iter().filter(own).count()
}
