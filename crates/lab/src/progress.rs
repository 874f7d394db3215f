//! How far a run is: a bar on a terminal, plain lines elsewhere; on standard error.

use std::io::{self, IsTerminal};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far a run is. Used by the thread that samples, between samples.
#[derive(Debug)]
pub struct Progress {
    /// None where there is no terminal.
    bar: Option<ProgressBar>,
    experiment: &'static str,
    began: Instant,
    rounds: usize,
    /// The samples since the experiment began.
    sampled: usize,
}

impl Progress {
    /// For a run of so many experiments of so many rounds.
    #[must_use]
    pub fn new(experiments: usize, rounds: usize) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            // WHY: one beyond the rounds of each experiment stands for its calibration.
            let bar = ProgressBar::new((experiments * (rounds + 1)) as u64);
            let style = ProgressStyle::with_template(
                "{elapsed_precise} [{bar:16}] {percent:>3} % {wide_msg}",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, experiment: "", began: Instant::now(), rounds, sampled: 0 }
    }

    /// An experiment begins with its calibration.
    pub fn begin(&mut self, experiment: &'static str) {
        self.experiment = experiment;
        self.began = Instant::now();
        self.sampled = 0;
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{experiment}: calibrating"));
            bar.tick();
        }
    }

    /// A sample was taken.
    pub fn sampled(&mut self) {
        self.sampled += 1;
    }

    /// So many rounds of it are done; it may have fewer than the run.
    pub fn round(&mut self, done: usize, of: usize) {
        if let Some(bar) = &self.bar {
            let left_out = if done == of { self.rounds - of } else { 0 };
            bar.inc((usize::from(done == 1) + 1 + left_out) as u64);
            bar.set_message(format!("{}: round {done} of {of}", self.experiment));
        } else if done == of && self.sampled > 0 {
            let seconds = self.began.elapsed().as_secs_f64();
            let plural = if done == 1 { "" } else { "s" };
            eprintln!("{}: {done} round{plural} in {seconds:.1} s", self.experiment);
        }
    }

    /// A line that stays.
    pub fn say(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    /// Takes the bar away.
    pub fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
