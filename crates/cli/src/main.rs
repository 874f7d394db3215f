//! The `purlin` command: reads what was asked and hands it to the lab.
//!
//! Exit status: 0, all that was asked for was done; 1, some of it failed;
//! 2, it was asked wrongly or cannot be done here; 130, it was interrupted.

#![forbid(unsafe_code)]

mod arguments;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use purlin_lab::commands::{self, Ended};
use purlin_lab::contender::Surroundings;
use purlin_lab::error::Problem;
use purlin_lab::interrupt::Interrupt;

use arguments::{Arguments, Command, Lab};

fn main() -> ExitCode {
    let Command::Lab { command } = Arguments::parse().command;
    match obey(command) {
        Ok(status) => ExitCode::from(status),
        Err(problem) => {
            eprintln!("purlin: {problem}");
            ExitCode::from(2)
        }
    }
}

fn obey(command: Lab) -> Result<u8, Problem> {
    match command {
        Lab::List => {
            print(&commands::list(&Surroundings::from_environment()));
            Ok(0)
        }
        Lab::Report(asked) => {
            let page = commands::report(&asked.into())?;
            print(&format!("{}\n", page.display()));
            Ok(0)
        }
        Lab::Run(asked) => {
            let interrupt = Interrupt::default();
            interrupt.at_signals()?;
            let surroundings = Surroundings::from_environment();
            let ended = commands::run(&asked.into(), &surroundings, &interrupt, &mut io::stdout())?;
            Ok(match ended {
                Ended::Well => 0,
                Ended::WithLosses => 1,
                Ended::Interrupted => 130,
            })
        }
    }
}

/// Prints; a reader that went away is no reason to panic.
fn print(text: &str) {
    let _ = io::Write::write_all(&mut io::stdout(), text.as_bytes());
}
