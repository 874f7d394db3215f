//! Child processes of a test: this test binary, running another of its tests. A server or client
//! can thus be killed, stopped, measured, or limited in descriptors.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Environment variable that names the test to run as a child process.
const PROGRAM: &str = "PURLIN_ACK_PROGRAM";

/// A running child process. Dropping it kills it.
pub(crate) struct Program {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stdin: Option<ChildStdin>,
}

/// Whether this process runs only that test, as a child process.
pub(crate) fn is(test: &str) -> bool {
    env::var_os(PROGRAM).is_some_and(|program| program == test)
}

/// Completes a command that takes another command as its last arguments, so that it runs this
/// binary as that test.
pub(crate) fn running(mut command: Command, test: &str) -> Command {
    command.arg(env::current_exe().expect("this is a program"));
    command.args(["--exact", test, "--nocapture"]).env(PROGRAM, test);
    command
}

/// Returns a command that runs this binary as that test, with this descriptor limit, in the syntax
/// of `ulimit`.
pub(crate) fn limited(test: &str, descriptors: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -n {descriptors} && exec \"$0\" \"$@\""));
    running(command, test)
}

/// Returns a command that runs this binary as that test, with the maximum number of descriptors.
pub(crate) fn command(test: &str) -> Command {
    limited(test, "\"$(ulimit -Hn)\"")
}

/// Runs a command to completion. Panics unless its test exists and passes.
pub(crate) fn passes(mut command: Command) {
    let output = command.output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{command:?}: {said}{errors}");
}

impl Program {
    /// Starts the child process with these environment variables.
    pub(crate) fn start(test: &str, settings: &[(&str, &OsStr)]) -> Self {
        let mut command = command(test);
        command.envs(settings.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let stdin = child.stdin.take();
        Self { child, stdout, stdin }
    }

    /// Waits for a line with this prefix and returns the rest of it.
    pub(crate) fn said(&mut self, about: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stdout.read_line(&mut line).expect("it is text");
            assert!(read > 0, "the program has ended without a word of '{about}'");
            if let Some(rest) = line.strip_prefix(about) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Returns the rest of all lines with this prefix, until the process ends.
    pub(crate) fn all_said(&mut self, about: &str) -> Vec<String> {
        let lines = (&mut self.stdout).lines().map_while(Result::ok);
        lines
            .filter_map(|line| line.strip_prefix(about).map(|rest| rest.trim().to_owned()))
            .collect()
    }

    /// Writes a line to its standard input.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it listens");
        writeln!(stdin, "{line}").expect("it listens");
    }

    /// Sends it a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
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
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix(which));
        let size = line.and_then(|line| line.trim().strip_suffix("kB")).expect("it has some");
        size.trim().parse::<u64>().expect("a number") * 1024
    }

    /// Kills it, like a power failure.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Closes its standard input.
    pub(crate) fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes its standard input and waits until it ends.
    pub(crate) fn finish(mut self) {
        self.close_stdin();
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "the program failed: {status}");
    }

    fn end(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(sent.expect("there is a kill").success(), "{name} is not sent");
}

/// Returns the next line of standard input, from the parent process. Returns `None` if the parent
/// has ended.
pub(crate) fn next_line() -> Option<String> {
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().to_owned()),
    }
}
