//! A child process: this test binary, running another of its tests, so that its memory can be measured.
#![allow(dead_code, reason = "each test uses some of it")]

use std::env;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::in_time;

/// Environment variable that names the test to run as a child process.
const PROGRAM: &str = "PURLIN_DIST_PROGRAM";

/// A running child process. Dropping it kills it.
pub(crate) struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// Whether this process runs only that test, as a child process.
pub(crate) fn is(test: &str) -> bool {
    env::var_os(PROGRAM).is_some_and(|program| program == test)
}

impl Program {
    pub(crate) fn start(test: &str, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env::current_exe().expect("this is a program"));
        command.args(["--exact", test, "--nocapture"]).env(PROGRAM, test);
        command.envs(settings.iter().copied()).kill_on_drop(true);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("it starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, input, output }
    }

    /// Waits for a line with this prefix and returns the rest of it.
    pub(crate) async fn said(&mut self, about: &str) -> String {
        loop {
            let line = in_time("a line", self.output.next_line()).await.expect("it is text");
            let line = line.unwrap_or_else(|| panic!("it has ended without a word of '{about}'"));
            if let Some(rest) = line.strip_prefix(about) {
                return rest.to_owned();
            }
        }
    }

    /// Writes a line to its standard input.
    pub(crate) async fn send_line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.expect("it listens");
    }

    /// Returns its resident memory in bytes.
    pub(crate) fn resident(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// Returns its peak resident memory in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, which: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id().expect("it lives"));
        let status = std::fs::read_to_string(path).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix(which));
        let size = line.and_then(|line| line.trim().strip_suffix("kB")).expect("it has some");
        size.trim().parse::<u64>().expect("a number") * 1024
    }
}
