//! A child process whose output the test reads.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A child process that is killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    input: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Running {
    /// Starts the program; its standard error goes where the command specifies.
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it is there");
        let input = child.stdin.take().expect("it is piped");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, out }
    }

    /// Returns whether the program is still running.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to the program and returns the next line it prints.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("it reads");
        self.line()
    }

    /// Returns the next line that the program prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("there is a line");
        line.trim_end().to_owned()
    }

    /// Sends the signal. Returns the exit status and the remaining output.
    pub(crate) fn end(self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
        self.wait()
    }

    /// Waits until the program ends. Returns the exit status and the remaining output.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("it is text");
        (self.child.wait().expect("it ends").code(), text)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
