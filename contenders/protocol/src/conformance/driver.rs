//! Client of a running contender, with a timeout for answers.
//!
//! Used by one thread at a time. Starts one thread, which reads the answers and ends with the
//! program. The program is killed when the driver is dropped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// Timeout for an answer. WHY: a guard against hanging, 100 times the duration of the longest run
/// of the conformance test.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A running contender.
#[derive(Debug)]
pub struct Contender {
    program: String,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Contender {
    /// Starts the program; it inherits standard error.
    ///
    /// # Errors
    ///
    /// Returns one line if the program cannot be started.
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
    /// Returns one line if there is no answer, or if it is not JSON.
    pub fn ask(&mut self, request: &str) -> Result<Value, String> {
        self.send(format!("{request}\n").as_bytes())?;
        self.answer().map_err(|fault| format!("{request}: {fault}"))
    }

    /// Sends bytes unchanged.
    ///
    /// # Errors
    ///
    /// Returns one line if the program does not accept them.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Some(input) = &mut self.input else {
            return Err(format!("{} was already asked to end", self.program));
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
    /// Returns one line if there is no answer, or if it is not JSON.
    pub fn answer(&mut self) -> Result<Value, String> {
        let line = self.answers.recv_timeout(ANSWER_TIMEOUT).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("{} has not answered in time", self.program),
            RecvTimeoutError::Disconnected => format!("{} has ended", self.program),
        })?;
        serde_json::from_str(&line).map_err(|error| format!("{line:?} is no JSON: {error}"))
    }

    /// Closes the program's input, waits for it to exit and returns its exit status; `None` after a
    /// signal.
    ///
    /// # Errors
    ///
    /// Returns one line if the program writes another line or does not exit.
    pub fn finish(mut self) -> Result<Option<i32>, String> {
        drop(self.input.take());
        match self.answers.recv_timeout(ANSWER_TIMEOUT) {
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
        // Both fail only if the program has exited and been waited for, which is the desired state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
