//! The serving loop: requests in, answers out, one line each.
//!
//! Called once by a contender's `main`. Runs on the calling thread, never starts another, and
//! returns when the lab says `quit` or closes the input.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::lines::{LINE_MAX, Line, next_line};
use crate::parse::ADAPTIVE;
use crate::request::Request;
use crate::run::{EXPERIMENTS, Run, Variant};
use crate::sample::Sample;

/// How a contender introduces itself.
#[derive(Clone, Debug)]
pub struct Hello {
    name: String,
    version: String,
    variants: Vec<Variant>,
    without: Vec<&'static str>,
    notes: Vec<String>,
}

impl Hello {
    /// A contender by the name it has in the lab, and the version of the runtime it shows.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Hello {
            name: name.into(),
            version: version.into(),
            variants: Vec::new(),
            without: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The variants of `message-size` and `bandwidth` that it can run, its natural one first.
    #[must_use]
    pub fn variants(mut self, variants: &[Variant]) -> Self {
        self.variants = variants.to_vec();
        self
    }

    /// The experiments that it does not offer: it must answer them with an error.
    #[must_use]
    pub fn without(mut self, experiments: &[&'static str]) -> Self {
        self.without = experiments.to_vec();
        self
    }

    /// One thing more that a reader of the report should know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn to_json(&self) -> Value {
        let variants: Vec<_> = self.variants.iter().map(|v| v.name()).collect();
        let offered: Vec<_> = EXPERIMENTS.iter().filter(|id| !self.without.contains(id)).collect();
        let mut of = json!({"message-size": variants, "bandwidth": variants});
        if offered.contains(&&"signals") {
            of["signals"] = json!([ADAPTIVE]);
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
/// `run` performs one experiment and reports, or says in one line why it could not.
///
/// # Errors
///
/// Only what reading or writing gives; a bad request is answered and is no error here.
pub fn serve(hello: &Hello, run: impl FnMut(Run) -> Result<Sample, String>) -> io::Result<()> {
    serve_on(io::stdin().lock(), io::stdout().lock(), hello, run)
}

/// [`serve`], for the end of `main`: what went wrong is said on standard error.
pub fn serve_program(hello: &Hello, run: impl FnMut(Run) -> Result<Sample, String>) -> ExitCode {
    match serve(hello, run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contender-{}: the lab cannot be heard or told: {error}", hello.name);
            ExitCode::FAILURE
        }
    }
}

/// [`serve`] on any reader and writer.
///
/// # Errors
///
/// Only what reading or writing gives.
pub fn serve_on(
    mut input: impl BufRead,
    mut output: impl Write,
    hello: &Hello,
    mut run: impl FnMut(Run) -> Result<Sample, String>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        let request = match next_line(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => Err(format!("the line is longer than {LINE_MAX} bytes")),
            Line::Whole => Request::parse(&line, &hello.variants),
        };
        let answer = match request {
            Ok(Request::Quit) => return Ok(()),
            Ok(Request::Hello) => Ok(hello.to_json()),
            Ok(Request::Run(asked)) => run(asked).map(|sample| sample.to_json()),
            Err(complaint) => Err(complaint),
        };
        let answer = answer.unwrap_or_else(|complaint| json!({ "error": complaint }));
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
}
