//! The command `purlin lab`: arguments and implementation of its subcommands.
//!
//! Results go to standard output, progress and warnings to standard error.

mod advise;
mod compare;
mod export;
mod list;
pub(crate) mod output;
mod report;
mod run;
mod time;

use std::io;

use clap::{Args, Subcommand};

pub use self::output::{print, print_error};
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::interrupt::Interrupt;
use crate::options::RunOptions;

/// Measure the cost of processes and messages on several runtimes
#[derive(Debug, Args)]
pub struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the experiments and the contenders, and which of them can run on this machine
    List(list::ListOptions),
    /// Run experiments on contenders and write a report page
    Run(RunOptions),
    /// Write the report page from stored results, or from the output of OTP's benchmark
    Report(report::ReportOptions),
    /// List the metrics that changed beyond their noise between two runs
    Compare(compare::CompareOptions),
    /// Estimate the share of a core that a design costs on each measured runtime
    Advise(advise::AdviseOptions),
    /// Convert stored results to JSON, CSV, Markdown or OTP's text
    Export(export::ExportOptions),
    /// Time a command over many runs
    Time(time::TimeOptions),
}

impl Lab {
    /// Carries out the command. Returns the exit status.
    ///
    /// # Errors
    ///
    /// Returns one line if the request cannot be carried out; the command exits with status 2 then.
    pub fn run(self) -> Result<u8, Problem> {
        match self.command {
            Command::List(options) => {
                print(&list::list(&options, &Surroundings::from_environment()))?
            }
            Command::Report(options) => {
                print(&format!("{}\n", report::report(&options)?.display()))?
            }
            Command::Export(options) => export::export(&options)?,
            Command::Compare(options) => return compare::compare(&options),
            Command::Advise(options) => print(&advise::advise(&options)?)?,
            Command::Time(options) => {
                let ended = time::time(&options, &interrupt()?, &mut io::stdout())?;
                return Ok(ended.status());
            }
            Command::Run(options) => {
                let surroundings = Surroundings::from_environment();
                let ended = run::run(options, &surroundings, &interrupt()?, &mut io::stdout())?;
                return Ok(ended.status());
            }
        }
        Ok(0)
    }
}

fn interrupt() -> Result<Interrupt, Problem> {
    let interrupt = Interrupt::default();
    interrupt.at_signals()?;
    Ok(interrupt)
}
