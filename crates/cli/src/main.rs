//! The `purlin` command: parses arguments and dispatches to the lab, or to `ack`, `cluster`, `demo` or `observe`.
//!
//! Exit status: 0, everything was done; 1, part of it failed; 2, invalid arguments or not possible on this machine;
//! 130, interrupted.

mod ack;
mod advise;
mod arguments;
mod cluster;
mod demo;
mod export;
mod logging;
mod observe;
mod output;
mod shutdown;
mod time;
mod values;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use purlin_lab::commands::{self, Ended};
use purlin_lab::contender::Surroundings;
use purlin_lab::error::Problem;
use purlin_lab::interrupt::Interrupt;

use arguments::{Arguments, Command, Lab};
use output::print;

fn main() -> ExitCode {
    let command = match Arguments::try_parse() {
        Ok(Arguments { command }) => command,
        Err(error) => return usage_error(&error),
    };
    let result = match command {
        Command::Lab { command } => lab(command),
        Command::Ack { command } => ack::ack(command),
        Command::Node(options) => cluster::node(&options),
        Command::Call(options) => cluster::call(&options),
        Command::Demo(options) => demo::demo(&options),
        Command::Observe(options) => observe::observe(options),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(problem) => {
            eprintln!("purlin: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Prints the requested help, or an argument error in one line.
fn usage_error(error: &clap::Error) -> ExitCode {
    let help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if error.use_stderr() && error.kind() != help {
        let problem = Problem::new(one_line(&error.to_string()));
        eprintln!("purlin: {problem}; try --help");
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

fn lab(command: Lab) -> Result<u8, Problem> {
    match command {
        Lab::List => print(&commands::list(&Surroundings::from_environment()))?,
        Lab::Report(options) => {
            let page = commands::report(&options.into())?;
            print(&format!("{}\n", page.display()))?;
        }
        Lab::Export(options) => {
            if let Some(text) = commands::export(&options.into())? {
                print(&text)?;
            }
        }
        Lab::Compare(options) => {
            let comparison = commands::compare(&options.into())?;
            print(&comparison.text)?;
            if let Some(failure) = comparison.failure {
                eprintln!("purlin: {failure}");
                return Ok(1);
            }
        }
        Lab::Advise(options) => print(&commands::advise(&options.into())?)?,
        Lab::Time(options) => {
            let interrupt = Interrupt::default();
            interrupt.at_signals()?;
            let ended = commands::time(&options.into(), &interrupt, &mut io::stdout())?;
            return Ok(status(ended));
        }
        Lab::Run(options) => {
            let interrupt = Interrupt::default();
            interrupt.at_signals()?;
            let surroundings = Surroundings::from_environment();
            let out = &mut io::stdout();
            let ended = match options.resumed() {
                Some(resumed) => commands::resume(&resumed, &surroundings, &interrupt, out),
                None => commands::run(&options.into(), &surroundings, &interrupt, out),
            };
            return ended.map(status);
        }
    }
    Ok(0)
}

fn status(ended: Ended) -> u8 {
    match ended {
        Ended::Well => 0,
        Ended::WithLosses => 1,
        Ended::Interrupted => 130,
    }
}
