//! `purlin ack serve`, running.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::purlin;

/// A server that runs.
pub(crate) struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Serving {
    pub(crate) fn start(folder: &Path, words: &[&str]) -> Self {
        let mut command = purlin(folder);
        command.args(["ack", "serve"]).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("purlin runs");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, out }
    }

    /// The next line: which strategy listens where.
    pub(crate) fn listens(&mut self) -> (String, String) {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("there is a line");
        let (strategy, address) = line.trim_end().split_once(" listens on ").expect(&line);
        (strategy.to_owned(), address.to_owned())
    }

    /// Ends it, and gives its status, and what it printed in the end.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("it is text");
        (self.child.wait().expect("it ends").code(), text)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
