//! The serving loop: reads requests and writes answers, one line each.
//!
//! Called once by a contender's `main`. Runs on the calling thread, starts no other thread, and
//! returns on `quit` or at the end of input.

use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::acks::{BEST, EITHER, Load, SYNC_OR_ASYNC, Serve, TAKEN};
use crate::lines::{LINE_MAX, Line, next_line};
use crate::nodes::{NoNodes, Nodes, PAIRED};
use crate::parse::ADAPTIVE;
use crate::request::{LoadRequest, Request};
use crate::run::{EXPERIMENTS, Run};
use crate::running::Running;
use crate::sample::Sample;
use crate::servers::Servers;
use crate::variants::{Callee, Children, Flow, Variants};

/// A contender's answer to `hello`.
#[derive(Clone, Debug)]
pub struct Hello {
    name: String,
    version: String,
    variants: Variants,
    without: Vec<&'static str>,
    serving: Vec<&'static str>,
    to: Vec<&'static str>,
    notes: Vec<String>,
}

impl Hello {
    /// Creates the answer from the contender's name in the lab and the version of its runtime.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Hello {
            name: name.into(),
            version: version.into(),
            variants: Variants::default(),
            without: Vec::new(),
            serving: Vec::new(),
            to: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Sets the supported variants of `call-vs-send`, `throughput` and `fan-in`, the natural one
    /// first.
    #[must_use]
    pub fn flows(mut self, flows: &[Flow]) -> Self {
        self.variants.flows = flows.to_vec();
        self
    }

    /// Sets the supported variants of `fork-join`, the natural one first.
    #[must_use]
    pub fn children(mut self, children: &[Children]) -> Self {
        self.variants.children = children.to_vec();
        self
    }

    /// Sets the supported variants of `call`, the natural one first.
    #[must_use]
    pub fn callees(mut self, callees: &[Callee]) -> Self {
        self.variants.callees = callees.to_vec();
        self
    }

    /// Adds experiments the contender does not offer; it must answer them with an error.
    #[must_use]
    pub fn without(mut self, experiments: &[&'static str]) -> Self {
        self.without.extend(experiments);
        self
    }

    /// Sets the experiments with a server that the contender offers; none by default.
    #[must_use]
    pub fn serving(mut self, experiments: &[&'static str]) -> Self {
        self.serving = experiments.to_vec();
        self
    }

    /// Sets the far nodes this contender supports as the near node in the experiments with two
    /// nodes, as `to-` and a contender's name, its own first. The contender offers these
    /// experiments if the list is not empty.
    #[must_use]
    pub fn paired(mut self, to: &[&'static str]) -> Self {
        self.to = to.to_vec();
        self
    }

    /// Adds a note for the reader of the report.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn to_json(&self) -> Value {
        let offered = EXPERIMENTS.iter().filter(|id| !self.without.contains(id));
        let paired = PAIRED.iter().filter(|_| !self.to.is_empty());
        let offered: Vec<_> = offered.chain(&self.serving).chain(paired).collect();
        let mut of = json!({});
        for (experiment, names) in self.variants.listed() {
            of[experiment] = json!(names);
        }
        if offered.contains(&&"signals") {
            of["signals"] = json!([ADAPTIVE]);
        }
        if offered.contains(&&SYNC_OR_ASYNC) {
            of[SYNC_OR_ASYNC] = json!(EITHER.map(|(name, _)| name));
        }
        if offered.contains(&&BEST) {
            of[BEST] = json!(TAKEN.map(|(name, _)| name));
        }
        for experiment in PAIRED.into_iter().filter(|_| !self.to.is_empty()) {
            of[experiment] = json!(self.to);
        }
        json!({
            "name": self.name,
            "version": self.version,
            "os_pid": std::process::id(),
            "experiments": offered,
            "variants": of,
            "notes": self.notes,
        })
    }
}

/// Serves standard input and output until `quit` or the end of input.
///
/// `run` runs one experiment and returns its sample, or one line with the reason why it could not.
///
/// # Errors
///
/// Returns only errors of reading and writing; an invalid request is answered and is not an error
/// here.
pub fn serve(hello: &Hello, run: impl FnMut(Run) -> Result<Sample, String>) -> io::Result<()> {
    serve_on(io::stdin().lock(), io::stdout().lock(), hello, run)
}

/// Like [`serve`], for the end of `main`: reports errors on standard error.
pub fn serve_program(hello: &Hello, run: impl FnMut(Run) -> Result<Sample, String>) -> ExitCode {
    ended(hello, serve(hello, run))
}

/// Like [`serve_program`], for a contender that also has servers: `start` starts a server and
/// returns its address, or one line with the reason why it could not. At most one server runs at a
/// time.
pub fn serve_program_with_servers(
    hello: &Hello,
    run: impl FnMut(Run) -> Result<Sample, String>,
    start: impl FnMut(Serve) -> Result<Running, String>,
) -> ExitCode {
    ended(hello, serve_with_servers_on(io::stdin().lock(), io::stdout().lock(), hello, run, start))
}

/// Like [`serve_program_with_servers`], for a contender that also is a distribution node.
pub fn serve_program_with_nodes(
    hello: &Hello,
    run: impl FnMut(Run) -> Result<Sample, String>,
    start: impl FnMut(Serve) -> Result<Running, String>,
    nodes: impl Nodes,
) -> ExitCode {
    ended(hello, everything(io::stdin().lock(), io::stdout().lock(), hello, run, start, nodes))
}

/// Like [`serve_program`], for the load client: `load` sends one round and returns its sample,
/// `epmd` returns the address of the epmd for nodes.
pub fn load_program(
    hello: &Hello,
    mut load: impl FnMut(Load) -> Result<Sample, String>,
    mut epmd: impl FnMut() -> Result<SocketAddr, String>,
) -> ExitCode {
    let answered = |line: &[u8]| match LoadRequest::parse(line) {
        Ok(LoadRequest::Hello) => Some(Ok(hello.to_json())),
        Ok(LoadRequest::Load(asked)) => Some(load(asked).map(|sample| sample.to_json())),
        Ok(LoadRequest::Epmd) => Some(epmd().map(|at| json!({"address": at.to_string()}))),
        Ok(LoadRequest::Quit) => None,
        Err(complaint) => Some(Err(complaint)),
    };
    ended(hello, converse(io::stdin().lock(), io::stdout().lock(), answered))
}

fn ended(hello: &Hello, how: io::Result<()>) -> ExitCode {
    match how {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contender-{}: the connection to the lab has failed: {error}", hello.name);
            ExitCode::FAILURE
        }
    }
}

/// Like [`serve`], on any reader and writer.
///
/// # Errors
///
/// Returns only errors of reading and writing.
pub fn serve_on(
    input: impl BufRead,
    output: impl Write,
    hello: &Hello,
    run: impl FnMut(Run) -> Result<Sample, String>,
) -> io::Result<()> {
    let none = |asked: Serve| Err(format!("this contender has no server for {}", asked.experiment));
    serve_with_servers_on(input, output, hello, run, none)
}

/// Like [`serve_on`], for a contender that also has servers, as for [`serve_program_with_servers`].
///
/// # Errors
///
/// Returns only errors of reading and writing.
pub fn serve_with_servers_on(
    input: impl BufRead,
    output: impl Write,
    hello: &Hello,
    run: impl FnMut(Run) -> Result<Sample, String>,
    start: impl FnMut(Serve) -> Result<Running, String>,
) -> io::Result<()> {
    everything(input, output, hello, run, start, NoNodes)
}

/// Serves all requests of the protocol.
fn everything(
    input: impl BufRead,
    output: impl Write,
    hello: &Hello,
    mut run: impl FnMut(Run) -> Result<Sample, String>,
    start: impl FnMut(Serve) -> Result<Running, String>,
    mut nodes: impl Nodes,
) -> io::Result<()> {
    let mut servers = Servers { offered: &hello.serving, start, running: None };
    converse(input, output, |line| match Request::parse(line, &hello.variants) {
        Ok(Request::Hello) => Some(Ok(hello.to_json())),
        Ok(Request::Run(asked)) => Some(run(asked).map(|sample| sample.to_json())),
        Ok(Request::Serve(asked)) => Some(servers.serve(asked)),
        Ok(Request::Take(asked)) => Some(servers.take(&mut nodes, asked)),
        Ok(Request::Send(asked)) => Some(nodes.send(asked).map(|sample| sample.to_json())),
        Ok(Request::Stop) => Some(servers.stop()),
        Ok(Request::Quit) => None,
        Err(complaint) => Some(Err(complaint)),
    })
}

/// Reads lines and writes an answer to each, until a line has no answer or the input ends.
fn converse(
    mut input: impl BufRead,
    mut output: impl Write,
    mut answered: impl FnMut(&[u8]) -> Option<Result<Value, String>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        let answer = match next_line(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => Err(format!("the line is longer than {LINE_MAX} bytes")),
            Line::Whole => match answered(&line) {
                Some(answer) => answer,
                None => return Ok(()),
            },
        };
        let answer = answer.unwrap_or_else(|complaint| json!({ "error": complaint }));
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
}
