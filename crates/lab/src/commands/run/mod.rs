//! `purlin lab run`: selects, samples, stores and reports; resumes an interrupted run.
//!
//! [`run`] starts or resumes a run and passes it to an `ActiveRun`, the run in progress, which
//! completes it.

mod active_run;
mod resume;
mod selection;
mod start;
mod watcher;

use std::io::Write;

use super::output::Ended;
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::interrupt::Interrupt;
use crate::options::RunOptions;

/// Runs the experiments, or the rest of an interrupted run; prints the table and the path of the
/// page to `out`.
pub(super) fn run(
    options: RunOptions,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    match &options.resume {
        Some(folder) => resume::resume(folder, options.json.as_ref(), surroundings, interrupt, out),
        None => start::start(options, surroundings, interrupt, out),
    }
}
