//! Runs a command once and waits for it, without a shell, with empty input and discarded output.
//!
//! The timing thread calls [`Child::run`]; an interrupt from any thread kills the running child.
//! Standard error goes to an anonymous file, truncated for each run: a pipe would need a reader
//! thread, whose work would be part of the measured time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shared_child::SharedChild;

use crate::error::Problem;
use crate::interrupt::Interrupt;

/// Number of bytes at the end of standard error searched for the last line.
const TAIL: i64 = 2000;

/// Properties of one run other than its duration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    /// User and system CPU time, where the operating system reports them.
    pub cpu: Option<[Duration; 2]>,
    /// The exit status; `None` if a signal ended the run.
    pub status: Option<i32>,
}

/// Why there are no further runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The user interrupted the runs.
    Interrupted,
    /// The command cannot be started, or failed.
    Failed(Problem),
}

/// A command that can be run repeatedly.
pub(crate) struct Child {
    program: String,
    arguments: Vec<String>,
    stderr: File,
    ignore_failure: bool,
    interrupt: Interrupt,
    running: Arc<Mutex<Option<Arc<SharedChild>>>>,
}

impl Child {
    /// Creates a child from the program and its arguments. With `ignore_failure`, unsuccessful runs
    /// count as well.
    ///
    /// Fails if there are no words, or if the file for standard error cannot be created.
    pub(crate) fn new(
        words: &[String],
        ignore_failure: bool,
        interrupt: &Interrupt,
    ) -> Result<Self, Problem> {
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| Problem::new("there is no command; give it after --"))?;
        let stderr = tempfile::tempfile().map_err(|error| {
            Problem::new(format!("cannot make a file for what the command says: {error}"))
        })?;
        let running = Arc::new(Mutex::new(None::<Arc<SharedChild>>));
        let stopped = Arc::clone(&running);
        interrupt.listen(move || {
            if let Some(child) = &*stopped.lock().unwrap_or_else(PoisonError::into_inner) {
                // WHY: a child that has already exited needs no signal.
                let _ = child.kill();
            }
            true
        });
        let interrupt = interrupt.clone();
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(Self { program, arguments, stderr, ignore_failure, interrupt, running })
    }

    /// Runs the command once, to its end.
    ///
    /// Returns an error if the command cannot be started, exits with a status other than 0, or is
    /// interrupted.
    pub(crate) fn run(&mut self) -> Result<Run, Stop> {
        if self.interrupt.is_raised() {
            return Err(Stop::Interrupted);
        }
        let before = cpu();
        let child = Arc::new(self.start().map_err(Stop::Failed)?);
        self.hold(Some(Arc::clone(&child)));
        if self.interrupt.is_raised() {
            // WHY: an interrupt raised before the child was stored found no child to kill.
            let _ = child.kill();
        }
        let ended = child.wait();
        self.hold(None);
        if self.interrupt.is_raised() {
            return Err(Stop::Interrupted);
        }
        let status = ended.map_err(|error| {
            Stop::Failed(Problem::new(format!("cannot wait for {}: {error}", self.program)))
        })?;
        if !status.success() && !self.ignore_failure {
            return Err(Stop::Failed(self.failure(status)));
        }
        let cpu = before.zip(cpu()).map(|(before, after)| {
            [after[0].saturating_sub(before[0]), after[1].saturating_sub(before[1])]
        });
        Ok(Run { cpu, status: status.code() })
    }

    fn start(&self) -> Result<SharedChild, Problem> {
        let program = &self.program;
        let refused = |error: std::io::Error| {
            Problem::new(format!(
                "cannot start {program}: {error}; give a program and its arguments after --, and \
                 sh -c '…' where a shell is needed"
            ))
        };
        let mut stderr = self.stderr.try_clone().map_err(refused)?;
        stderr.set_len(0).and_then(|()| stderr.rewind()).map_err(refused)?;
        let mut command = Command::new(program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        SharedChild::spawn(&mut command).map_err(refused)
    }

    fn hold(&self, child: Option<Arc<SharedChild>>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = child;
    }

    /// Returns the exit status with the last line of standard error.
    fn failure(&mut self, status: ExitStatus) -> Problem {
        let last = self
            .last_line()
            .map_or_else(|| "it said nothing".to_owned(), |line| format!("it said last: {line}"));
        let advice = "--ignore-failure times it all the same";
        Problem::new(format!("{} ended with {status}; {last}; {advice}", self.program))
    }

    fn last_line(&mut self) -> Option<String> {
        let length = i64::try_from(self.stderr.metadata().ok()?.len()).ok()?;
        self.stderr.seek(SeekFrom::End(-length.min(TAIL))).ok()?;
        let mut tail = Vec::new();
        self.stderr.read_to_end(&mut tail).ok()?;
        let tail = String::from_utf8_lossy(&tail);
        let last = tail.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(last.chars().filter(|letter| !letter.is_control()).collect())
    }
}

/// Returns user and system CPU time of all children that have exited so far.
#[cfg(unix)]
fn cpu() -> Option<[Duration; 2]> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let of =
        |time: TimeVal| Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0));
    Some([of(usage.user_time()), of(usage.system_time())])
}

#[cfg(not(unix))]
fn cpu() -> Option<[Duration; 2]> {
    None
}
