//! The `differential` command: runs random programs on the BEAM and on purlin, and says where they
//! come to what the clauses do not allow.
//!
//! Ends with status 0 if nothing differed, 1 if something did, and 2 if it could not run.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use purlin_differential::campaign::{self, Campaign, Until};
use purlin_differential::spread::{self, Spread};

/// Random process programs on the BEAM and on purlin, judged by a model of the clauses.
#[derive(Parser)]
struct Options {
    /// How many programs to run
    #[arg(long, default_value_t = 3000)]
    programs: u32,
    /// Run for so many seconds instead
    #[arg(long)]
    seconds: Option<u64>,
    /// The number of the first program; chosen at random unless told
    #[arg(long)]
    seed: Option<u32>,
    /// How many workers the node has
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Spread each program over a node of purlin's and one of the BEAM's
    #[arg(long)]
    spread: bool,
    /// Print the programs and run none
    #[arg(long)]
    show: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let first = u64::from(options.seed.unwrap_or_else(|| fastrand::u32(..)));
    let programs = u64::from(options.programs);
    if options.show {
        for seed in first..first + programs {
            let show = if options.spread { spread::show } else { campaign::show };
            println!("program {seed}:\n{}", show(seed));
        }
        return ExitCode::SUCCESS;
    }
    println!("the first program is {first}");
    let until = match options.seconds {
        Some(seconds) => Until::Time(Duration::from_secs(seconds)),
        None => Until::Programs(programs),
    };
    let ran = match options.spread {
        true => Spread::start(options.workers)
            .and_then(|mut spread| spread.run(first, until))
            .map(|report| (report.to_string(), report.differences.is_empty())),
        false => Campaign::start(options.workers)
            .and_then(|mut campaign| campaign.run(first, until))
            .map(|report| (report.to_string(), report.differences.is_empty())),
    };
    match ran {
        Ok((report, is_well)) => {
            print!("{report}");
            if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::from(2)
        }
    }
}
