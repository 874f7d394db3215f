//! `purlin ack serve`, running.

use std::path::Path;
use std::process::Stdio;

use super::purlin;
use super::running::Running;

/// A server that runs.
pub(crate) struct Serving(Running);

impl Serving {
    pub(crate) fn start(folder: &Path, words: &[&str]) -> Self {
        let mut command = purlin(folder);
        command.args(["ack", "serve"]).args(words).stderr(Stdio::piped());
        Self(Running::start(&mut command))
    }

    /// The next line: which strategy listens where.
    pub(crate) fn listens(&mut self) -> (String, String) {
        let line = self.0.line();
        let (strategy, address) = line.split_once(" listens on ").expect(&line);
        (strategy.to_owned(), address.to_owned())
    }

    /// Ends it, and gives its status, and what it printed in the end.
    pub(crate) fn end(self, signal: &str) -> (Option<i32>, String) {
        self.0.end(signal)
    }
}
