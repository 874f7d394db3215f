//! A running contender: lines in, lines out, and no waiting for ever.
//!
//! Used by one thread at a time. Starts one thread of its own, which reads the answers and ends
//! with the program; the program is killed when the driver is dropped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take. WHY: a guard against hanging, a hundred times what the longest of the runs of an
/// examination takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A contender that was started and answers.
#[derive(Debug)]
pub struct Contender {
    program: String,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Contender {
    /// Starts the program; its standard error goes where ours goes.
    ///
    /// # Errors
    ///
    /// One line if it cannot be started.
    pub fn start(mut command: Command) -> Result<Contender, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program} cannot be started: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let (found, answers) = channel();
        thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                let Ok(line) = line else { return };
                if found.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Contender { program, child, input, answers })
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    ///
    /// One line if there is no answer or it is no JSON.
    pub fn ask(&mut self, request: &str) -> Result<Value, String> {
        self.tell(format!("{request}\n").as_bytes())?;
        self.answer().map_err(|fault| format!("{request}: {fault}"))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// One line if it does not take them.
    pub fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Some(input) = &mut self.input else {
            return Err(format!("{} was already told to end", self.program));
        };
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .map_err(|error| format!("{} takes no more input: {error}", self.program))
    }

    /// Waits for the next answer.
    ///
    /// # Errors
    ///
    /// One line if there is none or it is no JSON.
    pub fn answer(&mut self) -> Result<Value, String> {
        let line = self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("{} has not answered in time", self.program),
            RecvTimeoutError::Disconnected => format!("{} has ended", self.program),
        })?;
        serde_json::from_str(&line).map_err(|error| format!("{line:?} is no JSON: {error}"))
    }

    /// Closes its input, waits for its end and gives its exit status, `None` after a signal.
    ///
    /// # Errors
    ///
    /// One line if it says something more or does not end.
    pub fn finish(mut self) -> Result<Option<i32>, String> {
        drop(self.input.take());
        match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => return Err(format!("{} says {line:?} unasked", self.program)),
            Err(RecvTimeoutError::Timeout) => return Err(format!("{} does not end", self.program)),
            Err(RecvTimeoutError::Disconnected) => {}
        }
        let status = self.child.wait().map_err(|error| format!("{}: {error}", self.program))?;
        Ok(status.code())
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // Both fail only if it has ended and been waited for, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
