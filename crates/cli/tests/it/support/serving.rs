//! A running `purlin ack serve`.

use std::path::Path;
use std::process::Stdio;

use super::purlin;
use super::running::Running;

/// A running server.
pub(crate) struct Serving(Running);

impl Serving {
    pub(crate) fn start(folder: &Path, words: &[&str]) -> Self {
        let mut command = purlin(folder);
        command.args(["ack", "serve"]).args(words).stderr(Stdio::piped());
        Self(Running::start(&mut command))
    }

    /// Returns the strategy and the address in the next line.
    pub(crate) fn listens(&mut self) -> (String, String) {
        let line = self.0.line();
        let (strategy, address) = line.split_once(" listens on ").expect(&line);
        (strategy.to_owned(), address.to_owned())
    }

    /// Sends the signal. Returns the exit status and the remaining output.
    pub(crate) fn end(self, signal: &str) -> (Option<i32>, String) {
        self.0.end(signal)
    }
}
