//! The `purlin` command: parses arguments and dispatches to the lab, or to `new`, `ack`, `cluster`, `demo`, `observe` or
//! `generated`.
//!
//! Exit status: 0, everything was done; 1, part of it failed; 2, invalid arguments or not possible on this machine;
//! 130, interrupted.

// WHY: `eprintln!` panics if standard error is closed or full; see `output::print_error`.
#![warn(clippy::print_stderr)]

mod ack;
mod arguments;
mod cluster;
mod demo;
mod generated;
mod logging;
mod new;
mod observe;
mod output;
mod shutdown;
mod values;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use purlin_lab::error::Problem;

use arguments::{Arguments, Command};
use output::print_error;

fn main() -> ExitCode {
    let command = match Arguments::try_parse() {
        Ok(Arguments { command }) => command,
        Err(error) => return usage_error(&error),
    };
    let result = match command {
        Command::New(options) => new::new(&options),
        Command::Lab(options) => options.run(),
        Command::Ack { command } => ack::ack(command),
        Command::Node(options) => cluster::node(&options),
        Command::Call(options) => cluster::call(&options),
        Command::Demo(options) => demo::demo(&options),
        Command::Observe(options) => observe::observe(options),
        Command::Completions(options) => generated::completions(&options, Arguments::command()),
        Command::Man(options) => generated::man(&options, Arguments::command()),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(problem) => {
            print_error(&format!("purlin: {problem}"));
            ExitCode::from(2)
        }
    }
}

/// Prints the requested help, or an argument error in one line.
fn usage_error(error: &clap::Error) -> ExitCode {
    let help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if error.use_stderr() && error.kind() != help {
        let problem = Problem::new(one_line(&error.to_string()));
        print_error(&format!("purlin: {problem}; try --help"));
    } else {
        // WHY the result is ignored: a closed pipe is no reason to panic.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Returns the parser's message in one line, without usage and hints.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let lines = message.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    lines.filter(|line| !line.is_empty()).fold(String::new(), |text, line| match text.as_str() {
        "" => line.to_owned(),
        begun if begun.ends_with(':') => format!("{begun} {line}"),
        begun => format!("{begun}; {line}"),
    })
}
