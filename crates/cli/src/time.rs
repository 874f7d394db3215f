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
      twenty runs, after two that do not count
  purlin lab time -t 10 -n 100 --json times.json -- sh -c 'sort words | uniq -c'
      for ten seconds or a hundred runs, whichever comes first; a shell where one is wanted

How to read it:
  A run is started without a shell, with nothing to read; what it writes is thrown away.
  Its time is from before its start to its end, so starting the program is part of it.
  Runs that lie apart are told of and count. The file has every time, in seconds, under the
  names of hyperfine's export.

Exit status:
  0  timed
  2  the command cannot be started or failed; what was timed before is printed
  130  interrupted; what was timed is printed and written";

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
    fn from(asked: Time) -> Self {
        let limit = match (asked.seconds.map(Duration::from_secs_f64), asked.count.map(u64::from)) {
            (Some(time), Some(count)) => Limit::from((time, count)),
            (None, Some(count)) => Limit::from(count),
            (time, None) => Limit::from(time.unwrap_or(DEFAULT)),
        };
        Self {
            command: asked.command,
            limit,
            warmup: u64::from(asked.warmup),
            ignore_failure: asked.ignore_failure,
            json: asked.json,
        }
    }
}
