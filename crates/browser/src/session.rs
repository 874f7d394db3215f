//! Connection to the driver script: runs scenarios one after the other, with a line protocol.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;

/// A connection to the script. The script closes the pages of a connection that ends.
pub(crate) struct Session {
    stream: UnixStream,
    answers: BufReader<UnixStream>,
}

impl Session {
    /// Returns `None` if the script does not send its greeting because it is about to exit.
    pub(crate) fn begin(stream: UnixStream) -> Option<Self> {
        let answers = BufReader::new(stream.try_clone().ok()?);
        let mut session = Self { stream, answers };
        (session.read()?["ready"] == true).then_some(session)
    }

    /// Runs a scenario and returns its failure, if any. Returns `None` if the script has exited.
    pub(crate) fn ask(
        &mut self,
        request: &Value,
        act: &mut dyn FnMut(&str),
    ) -> Option<Option<String>> {
        writeln!(self.stream, "{request}").ok()?;
        loop {
            let answer = self.read()?;
            let Some(wish) = answer["do"].as_str() else {
                return Some(answer["problem"].as_str().map(str::to_owned));
            };
            act(wish);
            writeln!(self.stream, "{{}}").ok()?;
        }
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}
