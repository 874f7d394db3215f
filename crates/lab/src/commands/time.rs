//! `purlin lab time`: times a command.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::ProgressBar;
use purlin_timing::{Collector, Limit, Summary, try_time_into};
use serde_json::json;

use super::output::Ended;
use crate::error::Problem;
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::progress::bar;
use crate::stopwatch::{Child, Report, Run, Stop, text};
use crate::store;
use crate::values::{count, count_or_zero, positive};

/// Number of steps of the progress bar.
const STEPS: u64 = 1000;

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
pub(super) struct TimeOptions {
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

impl TimeOptions {
    /// Returns when to stop.
    fn limit(&self) -> Limit {
        match (self.seconds.map(Duration::from_secs_f64), self.count.map(u64::from)) {
            (Some(time), Some(count)) => Limit::from((time, count)),
            (None, Some(count)) => Limit::from(count),
            (time, None) => Limit::from(time.unwrap_or(DEFAULT)),
        }
    }
}

/// Runs the command until the limit is reached, and prints the summary of its runs.
///
/// If the command fails or is interrupted, the runs so far are still printed and written.
pub(super) fn time(
    options: &TimeOptions,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    if let Some(json) = &options.json {
        store::probe(json)?;
    }
    let host = Host::snapshot();
    let mut child = Child::new(&options.command, options.ignore_failure, interrupt)?;
    let (limit, warmup) = (options.limit(), u64::from(options.warmup));
    let mut runs = Runs::new(limit);
    let warm = try_time_into(warmup, &mut Summary::default(), || child.run());
    let ended = warm.and_then(|()| {
        runs.began = Instant::now();
        try_time_into(limit, &mut runs, || child.run())
    });
    runs.bar.finish_and_clear();
    if let Some(mut report) = Report::new(&options.command, &runs.runs, warmup, host) {
        report.interrupted = ended == Err(Stop::Interrupted);
        if let Some(path) = &options.json {
            let document = json!({"results": [&report]});
            store::write(path, &format!("{document:#}\n"))?;
        }
        // WHY: a reader that closed the pipe is not an error; the file is already written.
        let _ = out.write_all(text(&report).as_bytes()).and_then(|()| out.flush());
    }
    match ended {
        Ok(()) => Ok(Ended::Well),
        Err(Stop::Interrupted) => Ok(Ended::Interrupted),
        Err(Stop::Failed(problem)) => Err(problem),
    }
}

/// Stores the runs, and advances the progress bar between runs.
struct Runs {
    runs: Vec<(Duration, Run)>,
    limit: Limit,
    began: Instant,
    bar: ProgressBar,
}

impl Runs {
    fn new(limit: Limit) -> Self {
        Self { runs: Vec::new(), limit, began: Instant::now(), bar: bar(STEPS) }
    }

    /// Returns the share of the limit reached so far, from 0 to 1.
    fn share(&self) -> f64 {
        let elapsed = self.began.elapsed().as_secs_f64();
        let time = self.limit.time().map_or(0.0, |time| elapsed / time.as_secs_f64());
        let calls = self.limit.calls().map_or(0.0, |most| self.runs.len() as f64 / most as f64);
        time.max(calls).min(1.0)
    }
}

impl Collector<Run> for Runs {
    fn record(&mut self, time: Duration, run: Run) {
        self.runs.push((time, run));
        self.bar.set_position((self.share() * STEPS as f64) as u64);
        self.bar.set_message(format!("{} runs, the last took {time:.2?}", self.runs.len()));
    }
}
