//! `purlin lab time`: times a command.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use purlin_timing::{Keep, Limit, Summary, try_time_into};
use serde_json::json;

use super::Ended;
use crate::error::Problem;
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::progress::bar;
use crate::stopwatch::{Child, Report, Run, Stop, text};
use crate::store;

/// Number of steps of the progress bar.
const STEPS: u64 = 1000;

/// Options of `purlin lab time`.
#[derive(Debug, Clone)]
pub struct TimeOptions {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When to stop.
    pub limit: Limit,
    /// Warm-up runs before the first timed run.
    pub warmup: u64,
    /// Whether a run that exits unsuccessfully counts like any other.
    pub ignore_failure: bool,
    /// An additional output file for the figures, as JSON.
    pub json: Option<PathBuf>,
}

/// Runs the command until the limit is reached, and prints the summary of its runs.
///
/// If the command fails or is interrupted, the runs so far are still printed and written.
///
/// # Errors
///
/// Returns one line if the command cannot be started or fails, or if the file cannot be written.
pub fn time(
    options: &TimeOptions,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    if let Some(json) = &options.json {
        store::probe(json)?;
    }
    let host = Host::snapshot();
    let mut child = Child::new(&options.command, options.ignore_failure, interrupt)?;
    let mut kept = Runs::new(options.limit);
    let warm = try_time_into(options.warmup, &mut Summary::default(), || child.run());
    let ended = warm.and_then(|()| {
        kept.began = Instant::now();
        try_time_into(options.limit, &mut kept, || child.run())
    });
    kept.end();
    if let Some(mut report) = Report::new(&options.command, &kept.runs, options.warmup, host) {
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
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
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

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Keep<Run> for Runs {
    fn keep(&mut self, time: Duration, run: Run) {
        self.runs.push((time, run));
        if let Some(bar) = &self.bar {
            bar.set_position((self.share() * STEPS as f64) as u64);
            bar.set_message(format!("{} runs, the last took {time:.2?}", self.runs.len()));
        }
    }
}
