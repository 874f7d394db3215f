//! The `differential` command: runs random programs on the BEAM and on purlin, and reports outcomes
//! that the clauses do not allow.
//!
//! Exit status: 0 if there is no difference, 1 if there is one, 2 if the programs could not be run.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use purlin_differential::campaign::{self, Campaign, Until};
use purlin_differential::spread;

/// Run random process programs on the BEAM and on purlin and judge them by a model of the clauses
#[derive(Parser)]
struct Options {
    /// Number of programs to run
    #[arg(long, default_value_t = 3000)]
    programs: u32,
    /// Run for this many seconds instead of a number of programs
    #[arg(long)]
    seconds: Option<u64>,
    /// Number of the first program; random if not given
    #[arg(long)]
    seed: Option<u32>,
    /// Number of worker threads of the purlin node
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Spread each program over a purlin node and a BEAM node
    #[arg(long)]
    spread: bool,
    /// Number of pairs of nodes that run spread programs at the same time
    #[arg(long, default_value_t = 2, requires = "spread")]
    pairs: usize,
    /// Delay everything that the nodes of spread programs send each other by this many milliseconds
    #[arg(long, default_value_t = 0, requires = "spread")]
    latency: u64,
    /// Print the programs without running them
    #[arg(long)]
    show: bool,
    /// With --show, print the programs for OTP 28 and later, half of which have priority messages
    #[arg(long, requires = "show")]
    priority: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let first = u64::from(options.seed.unwrap_or_else(|| fastrand::u32(..)));
    let programs = u64::from(options.programs);
    if options.show {
        for seed in first..first + programs {
            let show = if options.spread { spread::show } else { campaign::show };
            println!("program {seed}:\n{}", show(seed, options.priority));
        }
        return ExitCode::SUCCESS;
    }
    println!("the first program is {first}");
    let until = match options.seconds {
        Some(seconds) => Until::Time(Duration::from_secs(seconds)),
        None => Until::Programs(programs),
    };
    let ran = match options.spread {
        true => {
            let latency = Duration::from_millis(options.latency);
            spread::run(options.pairs, options.workers, latency, first, until)
                .map(|report| (report.to_string(), report.differences.is_empty()))
        }
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
