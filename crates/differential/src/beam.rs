//! Driver of the real BEAM: compiles the interpreter, starts a virtual machine, and runs programs
//! in batches.
//!
//! A [`Beam`] owns one virtual machine and stops it when dropped. A batch is sent in one packet and
//! answered in one; the caller blocks while the BEAM works. A packet is an Erlang term: programs and
//! outcomes have the form that `serde` gives them, which `erlang/` reads and writes.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use purlin_term::{Term, from_bytes, from_term, to_bytes};
use serde::Serialize;
use tempfile::TempDir;

use crate::language::Program;
use crate::outcome::Outcome;
use crate::tree::{Event, Tree};

const SOURCES: [(&str, &str); 6] = [
    ("differential.erl", include_str!("../erlang/differential.erl")),
    ("differential_code.erl", include_str!("../erlang/differential_code.erl")),
    ("differential_log.erl", include_str!("../erlang/differential_log.erl")),
    ("differential_process.erl", include_str!("../erlang/differential_process.erl")),
    ("differential_spread.erl", include_str!("../erlang/differential_spread.erl")),
    ("differential_tree.erl", include_str!("../erlang/differential_tree.erl")),
];

/// A batch of programs of one kind.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Batch<'a> {
    /// Programs of processes, each with the seed for its yields.
    Programs(&'a [(Program, u32)]),
    Trees(&'a [Tree]),
    /// The OTP release of the machine.
    Release,
}

/// A virtual machine that runs programs.
pub(crate) struct Beam {
    machine: Child,
    /// Standard input of the machine. Closing it stops the machine.
    input: Option<ChildStdin>,
    /// Standard output of the machine, unless [`Beam::output`] has taken it.
    output: Option<ChildStdout>,
    /// Holds the compiled modules as long as the machine may load them.
    _code: TempDir,
}

impl Beam {
    /// Compiles the interpreter and starts a machine.
    ///
    /// # Errors
    ///
    /// Returns an error if `erlc` or `erl` cannot be started, or the compilation fails.
    pub(crate) fn start() -> io::Result<Self> {
        Self::run_with("differential", &[], &[])
    }

    /// Like [`Beam::start`], with another start module and more options and environment variables.
    pub(crate) fn run_with(
        module: &str,
        options: &[&str],
        environment: &[(&str, &str)],
    ) -> io::Result<Self> {
        let code = tempfile::tempdir()?;
        compile(code.path())?;
        let mut machine = Command::new("erl")
            // WHY: one scheduler, because rest is detected by priority (see differential.erl).
            .args(["+S", "1:1", "+SDcpu", "1:1", "+SDio", "1", "+A", "1", "+sbwt", "none"])
            .args(["-noinput", "-boot", "start_clean", "-pa"])
            .arg(code.path())
            .args(options)
            .args(["-s", module, "main"])
            .env("ERL_CRASH_DUMP_SECONDS", "0")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| named("cannot start erl", &error))?;
        let input = machine.stdin.take();
        let output = machine.stdout.take();
        Ok(Self { machine, input, output, _code: code })
    }

    /// Runs the programs one after the other, each with the seed for its yields.
    ///
    /// # Errors
    ///
    /// Returns an error if the machine has ended, or if an answer is not a valid outcome; the error
    /// has the first such program.
    pub(crate) fn run(&mut self, programs: &[(Program, u32)]) -> io::Result<Vec<Outcome>> {
        let answers = self.batch(&Batch::Programs(programs))?;
        let outcome = |((program, _), answer): (&(Program, u32), Term)| {
            read_outcome(&answer, program).ok_or_else(|| cannot_be(program))
        };
        programs.iter().zip(answers).map(outcome).collect()
    }

    /// Returns the OTP release of the machine.
    ///
    /// # Errors
    ///
    /// Returns an error if the machine has ended.
    pub(crate) fn release(&mut self) -> io::Result<u32> {
        let answer = self.batch(&Batch::Release)?;
        let release = answer.first().and_then(|release| from_term(release).ok());
        release.ok_or_else(|| io::Error::other("the BEAM does not tell its release"))
    }

    /// Runs the orders of each tree.
    ///
    /// # Errors
    ///
    /// The same as for [`Beam::run`].
    pub(crate) fn run_trees(&mut self, trees: &[Tree]) -> io::Result<Vec<Vec<Event>>> {
        let answers = self.batch(&Batch::Trees(trees))?;
        let events =
            |(tree, answer): (&Tree, Term)| from_term(&answer).map_err(|_| cannot_be(tree));
        trees.iter().zip(answers).map(events).collect()
    }

    fn batch(&mut self, batch: &Batch<'_>) -> io::Result<Vec<Term>> {
        self.write(&to_bytes(batch).map_err(io::Error::other)?)?;
        let output = self.output.as_mut().ok_or_else(|| io::Error::other("erl has no output"))?;
        from_bytes(&packet(output)?).map_err(io::Error::other)
    }

    /// Writes a packet.
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        let input = self.input.as_mut().ok_or_else(|| io::Error::other("the BEAM has ended"))?;
        input.write_all(&(packet.len() as u32).to_be_bytes())?;
        input.write_all(packet)?;
        input.flush()
    }

    /// Takes the output of the machine, for callers that read packets themselves.
    pub(crate) fn output(&mut self) -> Option<ChildStdout> {
        self.output.take()
    }
}

/// Reads a packet.
pub(crate) fn packet(output: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut size = [0; 4];
    output.read_exact(&mut size).map_err(|error| named("the BEAM has ended", &error))?;
    let mut packet = vec![0; u32::from_be_bytes(size) as usize];
    output.read_exact(&mut packet)?;
    Ok(packet)
}

impl Drop for Beam {
    fn drop(&mut self) {
        // The machine stops when its input is closed.
        drop(self.input.take());
        let _ = self.machine.wait();
    }
}

fn compile(folder: &Path) -> io::Result<()> {
    for (name, source) in SOURCES {
        std::fs::write(folder.join(name), source)?;
    }
    let output = Command::new("erlc")
        .arg("-o")
        .arg(folder)
        .args(SOURCES.map(|(name, _)| folder.join(name)))
        .output()
        .map_err(|error| named("cannot start erlc", &error))?;
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    Err(io::Error::other(format!("erlc cannot compile the interpreter: {output}")))
}

/// Reads the outcome of a program; returns `None` unless it has a trace for each process.
pub(crate) fn read_outcome(answer: &Term, program: &Program) -> Option<Outcome> {
    let outcome: Outcome = from_term(answer).ok()?;
    (outcome.0.len() == program.scripts.len()).then_some(outcome)
}

/// Returns the error for an invalid outcome of a program.
pub(crate) fn cannot_be(program: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("invalid outcome of the BEAM:\n{program}"))
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
