//! Arguments of `purlin lab time`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use purlin_lab::commands::TimeOptions;
use purlin_lab::timing::Limit;

use crate::values::{count, count_or_zero, positive};

/// Duration if neither a duration nor a count is given.
const DEFAULT: Duration = Duration::from_secs(3);

const HELP: &str = "\
Examples:
  purlin lab time -- sleep 0.1
      for 3 seconds
  purlin lab time -n 20 --warmup 2 -- ./server --self-test
      20 runs after 2 warm-up runs
  purlin lab time -t 10 -n 100 --json times.json -- sh -c 'sort words | uniq -c'
      for 10 seconds or 100 runs, whichever comes first; the shell is explicit

How to read it:
  The command runs without a shell, without standard input, and its output is discarded.
  Its time is from before its start to its end, so it includes starting the program.
  Outliers are reported and included. The file has every time in seconds, in the format of
  hyperfine's export.

Exit status:
  0    timed
  2    the command cannot be started or failed; the times measured before are printed
  130  interrupted; the times measured before are printed and written";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Time {
    /// Run for this many seconds; the run in progress is completed [default: 3, without -n]
    #[arg(short = 't', long = "time", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    seconds: Option<f64>,

    /// Run this many times; with -t, whichever limit comes first
    #[arg(short = 'n', long = "count", value_name = "COUNT", allow_negative_numbers = true, value_parser = count)]
    count: Option<u32>,

    /// Run this many times before the first timed run
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = count_or_zero)]
    warmup: u32,

    /// Count runs with a nonzero exit status
    #[arg(long)]
    ignore_failure: bool,

    /// Also write the statistics and every time to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Program and arguments, after --
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl From<Time> for TimeOptions {
    fn from(options: Time) -> Self {
        let limit =
            match (options.seconds.map(Duration::from_secs_f64), options.count.map(u64::from)) {
                (Some(time), Some(count)) => Limit::from((time, count)),
                (None, Some(count)) => Limit::from(count),
                (time, None) => Limit::from(time.unwrap_or(DEFAULT)),
            };
        Self {
            command: options.command,
            limit,
            warmup: u64::from(options.warmup),
            ignore_failure: options.ignore_failure,
            json: options.json,
        }
    }
}
