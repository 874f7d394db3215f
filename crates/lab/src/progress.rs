//! Progress display on standard error: a bar on a terminal, plain lines otherwise.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::output::print_error;

/// Progress of a run. Used by the sampling thread, between samples.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Hidden if standard error is not a terminal.
    bar: ProgressBar,
    experiment: &'static str,
    began: Instant,
    rounds: usize,
    /// Number of samples since the experiment began.
    sampled: usize,
}

impl Progress {
    /// Creates the display for a run with this number of experiments and rounds.
    pub(crate) fn new(experiments: usize, rounds: usize) -> Self {
        // WHY: each experiment has one step more than rounds, for its calibration.
        let bar = bar((experiments * (rounds + 1)) as u64);
        Self { bar, experiment: "", began: Instant::now(), rounds, sampled: 0 }
    }

    /// Starts an experiment, which begins with its calibration.
    pub(crate) fn begin(&mut self, experiment: &'static str) {
        self.experiment = experiment;
        self.began = Instant::now();
        self.sampled = 0;
        self.bar.set_message(format!("{experiment}: calibrating"));
        self.bar.tick();
    }

    /// Counts a sample.
    pub(crate) fn sampled(&mut self) {
        self.sampled += 1;
    }

    /// Reports completed rounds of the experiment, which may have fewer rounds than the run.
    pub(crate) fn round(&mut self, done: usize, of: usize) {
        let left_out = if done == of { self.rounds - of } else { 0 };
        self.bar.inc((usize::from(done == 1) + 1 + left_out) as u64);
        self.bar.set_message(format!("{}: round {done} of {of}", self.experiment));
        if self.bar.is_hidden() && done == of && self.sampled > 0 {
            let seconds = self.began.elapsed().as_secs_f64();
            let plural = if done == 1 { "" } else { "s" };
            let experiment = self.experiment;
            print_error(&format!("{experiment}: {done} round{plural} in {seconds:.1} s"));
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn print(&mut self, line: &str) {
        self.bar.suspend(|| print_error(line));
    }

    /// Removes the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns a progress bar of this length on standard error, hidden if that is not a terminal.
pub(crate) fn bar(length: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{elapsed_precise} [{bar:16}] {percent:>3} % {wide_msg}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
