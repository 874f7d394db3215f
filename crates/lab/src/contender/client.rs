//! Client of one running contender: sends a request, returns the answer, enforces the time limit.
//!
//! Used by one thread. A client that failed is not used again: dropping it ends its program, and
//! [`Runtimes`](super::Runtimes) starts a fresh process.

use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::answer::{Failure, Hello, Reply, object, one_line, quoted};
use super::find::CommandLine;
use super::lines::{Event, LINE_LIMIT, LastWords, watch};
use super::resident::{Peak, resident};
use super::settings::without_settings;
use super::stopwatch::Stopwatch;
use crate::interrupt::Interrupt;
use crate::sampling::Request;

/// How long a contender may take to exit after `quit`.
const FAREWELL: Duration = Duration::from_secs(2);

/// A running contender.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    words: LastWords,
    errors_read: Receiver<()>,
    limit: Duration,
    /// The process id the contender reported.
    os_pid: Option<u32>,
    /// Whether the program is killed instead of being asked to quit.
    broken: bool,
}

impl Client {
    /// Starts a contender and sends `hello`.
    ///
    /// # Errors
    ///
    /// Returns why the contender could not be started, or what is wrong with its answer to `hello`.
    pub fn start(
        command: &CommandLine,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<(Self, Hello), Failure> {
        let mut program = without_settings(&command.program);
        program
            .args(&command.arguments)
            .envs(command.variables.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // WHY: Ctrl-C at a terminal signals the whole process group, and only the lab may end its
        // contenders: one that exits without being asked counts as failed.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut program, 0);
        let mut child = program.spawn().map_err(|error| {
            let program = command.program.display();
            Failure::Broken(format!("could not be started: {program}: {error}"))
        })?;
        let (send, events) = mpsc::channel();
        let stop = send.clone();
        interrupt.listen(move || stop.send(Event::Interrupted).is_ok());
        if let Some(output) = child.stdout.take() {
            watch(output, send);
        }
        let words = LastWords::default();
        let (done, errors_read) = mpsc::channel();
        if let Some(errors) = child.stderr.take() {
            words.capture(errors, done);
        }
        let mut client = Self {
            input: child.stdin.take(),
            child,
            events,
            words,
            errors_read,
            limit,
            os_pid: None,
            broken: false,
        };
        if interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        let raw = client.ask(&json!({"op": "hello"}))?;
        let hello = Hello::read(&raw)
            .map_err(|what| client.nonsense(&format!("greeted wrongly: {what}")))?;
        client.os_pid = hello.os_pid;
        Ok((client, hello))
    }

    /// Sends `hello` and returns the time until the answer, in ns: the overhead of a request.
    ///
    /// # Errors
    ///
    /// As [`Client::run`].
    pub fn round_trip(&mut self) -> Result<f64, Failure> {
        let asked = Instant::now();
        self.ask(&json!({"op": "hello"}))?;
        Ok(asked.elapsed().as_nanos() as f64)
    }

    /// Requests one sample.
    ///
    /// # Errors
    ///
    /// Returns why there is no sample; after [`Failure::Broken`] this client answers no further
    /// request.
    pub fn run(&mut self, request: &Request<'_>) -> Result<Reply, Failure> {
        let Request { experiment, params, seed, .. } = request;
        let line = json!({"op": "run", "experiment": experiment, "params": params, "seed": seed});
        let stopwatch = Stopwatch::start();
        let raw = self.ask(&line)?;
        match Reply::read(raw) {
            Ok(reply) => Ok(stopwatch.stop(reply)),
            Err(what) => Err(self.nonsense(&format!("answered nonsense: {what}"))),
        }
    }

    /// Requests one sample and adds to the answer the peak resident memory during the sample, in
    /// bytes, where it can be read.
    ///
    /// # Errors
    ///
    /// As [`Client::run`].
    pub fn run_and_watch(&mut self, request: &Request<'_>) -> Result<Reply, Failure> {
        let peak = self.os_pid.and_then(Peak::watch);
        let mut reply = self.run(request)?;
        set_extra(&mut reply, "resident_peak", peak.and_then(|peak| peak.bytes()));
        Ok(reply)
    }

    /// Requests one sample and adds to the answer the resident memory of the program before and
    /// after, in bytes, where it can be read.
    ///
    /// A run with a hundredth of `n` precedes it, so that one-time allocations are already made.
    /// The program keeps what the run allocated, so it is killed without `quit`.
    ///
    /// # Errors
    ///
    /// As [`Client::run`].
    pub fn run_and_weigh(&mut self, request: &Request<'_>) -> Result<Reply, Failure> {
        let mut less = request.params.clone();
        let n = less.get("n").and_then(Value::as_u64).unwrap_or(0);
        less.insert("n".into(), (n / 100).into());
        self.run(&Request { params: &less, ..*request })?;
        let before = self.os_pid.and_then(resident);
        let mut reply = self.run(request)?;
        let after = self.os_pid.and_then(resident);
        set_extra(&mut reply, "resident_before", before);
        set_extra(&mut reply, "resident_after", after);
        self.broken = true;
        Ok(reply)
    }

    /// Sends any request and returns the answer.
    ///
    /// As [`Client::run`].
    pub(super) fn ask(&mut self, request: &Value) -> Result<Map<String, Value>, Failure> {
        match self.events.try_recv() {
            Err(_) => {}
            Ok(Event::Line(line)) => {
                let line = quoted(&line);
                return Err(self.nonsense(&format!("wrote {line} without being asked")));
            }
            Ok(event) => return Err(self.unless_line(event)),
        }
        let written = self
            .input
            .as_mut()
            .map(|input| writeln!(input, "{request}").and_then(|()| input.flush()));
        if !matches!(written, Some(Ok(()))) {
            return Err(self.ended());
        }
        let raw = match self.events.recv_timeout(self.limit) {
            Ok(Event::Line(line)) => object(&line).map_err(|what| self.nonsense(&what))?,
            Ok(event) => return Err(self.unless_line(event)),
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.limit.as_secs_f64();
                return Err(
                    self.nonsense(&format!("gave no answer within {seconds} s and was ended"))
                );
            }
        };
        match raw.get("error") {
            None => Ok(raw),
            Some(Value::String(error)) => Err(Failure::Refused(one_line(error))),
            Some(other) => Err(Failure::Refused(one_line(&other.to_string()))),
        }
    }

    /// Returns the failure for an event that is not a line.
    fn unless_line(&mut self, event: Event) -> Failure {
        match event {
            Event::Interrupted => {
                self.broken = true;
                Failure::Interrupted
            }
            Event::TooLong => {
                self.nonsense(&format!("wrote a line of more than {LINE_LIMIT} bytes"))
            }
            Event::Line(_) | Event::Ended => self.ended(),
        }
    }

    /// Marks the contender as failed; it is killed when the client is dropped.
    pub(super) fn nonsense(&mut self, what: &str) -> Failure {
        self.broken = true;
        Failure::Broken(what.to_owned())
    }

    /// Returns the failure of a contender that exited, with its last line on standard error.
    fn ended(&mut self) -> Failure {
        self.broken = true;
        let how = match self.wait(FAREWELL) {
            Some(status) => format!("ended by itself ({status})"),
            None => "closed its output".to_owned(),
        };
        // WHY: a grandchild may hold standard error open indefinitely.
        let _ = self.errors_read.recv_timeout(FAREWELL);
        Failure::Broken(match self.words.last() {
            Some(words) => format!("{how}; its last words: {words}"),
            None => how,
        })
    }

    /// Waits for the program to exit, up to a timeout.
    fn wait(&mut self, at_most: Duration) -> Option<std::process::ExitStatus> {
        let until = Instant::now() + at_most;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

/// Adds a value the lab has read; a value the program reported under the same name is discarded.
fn set_extra(reply: &mut Reply, name: &str, bytes: Option<u64>) {
    reply.raw.remove(name);
    reply.raw.extend(bytes.map(|bytes| (name.to_owned(), bytes.into())));
}

/// Kills a program and what it has started. WHY its whole process group: the program may be a script.
#[cfg(unix)]
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // An error says that no process of the group is left.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(mut input) = self.input.take()
            && !self.broken
        {
            let _ = writeln!(input, "{}", json!({"op": "quit"}));
        }
        if self.broken || self.wait(FAREWELL).is_none() {
            kill(&mut self.child);
            let _ = self.child.wait();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use purlin_polling::until;

    use super::*;

    // WHY real time: the wrapper is killed when it has ignored `quit` for two seconds.
    #[test]
    fn a_program_that_a_script_has_started_is_killed_with_it() {
        let script = r#"read -r hello; sleep 100000 & echo "{\"version\": \"1\", \"experiments\": [], \"os_pid\": $!}"; wait"#;
        let arguments = ["-c", script].map(Into::into).into();
        let command = CommandLine { program: "sh".into(), arguments, variables: Vec::new() };
        // WHY long: a failed start would hide the fault.
        let limit = Duration::from_secs(600);
        let started = Client::start(&command, limit, &Interrupt::default());
        let (client, hello) = started.unwrap_or_else(|failure| panic!("{failure:?}"));
        let stat = format!("/proc/{}/stat", hello.os_pid.expect("the process id of sleep"));
        let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
        assert!(runs());
        drop(client);
        until("the program is killed", || !runs());
    }
}
