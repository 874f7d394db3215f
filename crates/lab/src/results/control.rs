//! A/A control: comparison of contenders that run the same function.
//!
//! In `tail-call` several contenders run one function of the crate `purlin-contender`, so a
//! difference between them is not the runtimes'. It is that of the programs: where the compiler and
//! the loader placed the code, and what else the machine did.

use serde::Serialize;

use super::ratios::ratio;
use super::schema::{Ratio, ResultEntry, Verdict};
use super::verdict::{Rounds, judge};
use crate::contender::runs_control;
use crate::warning::Warning;

/// The experiment of the control.
const EXPERIMENT: &str = "tail-call";

/// The control of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Control {
    /// The experiment's id.
    pub experiment: &'static str,
    /// The contenders that run the same function.
    pub contenders: Vec<String>,
    /// The largest ratio of two medians.
    pub spread: f64,
    /// The ratio of each two contenders, judged together.
    pub ratios: Vec<Ratio>,
}

/// Compares the contenders that run the same function, each with each; `None` for fewer than two.
pub fn control(results: &[ResultEntry]) -> Option<Control> {
    let own: Vec<&ResultEntry> = results.iter().filter(|result| is_of_control(result)).collect();
    let (first, _) = own.split_first().filter(|(_, others)| !others.is_empty())?;
    let medians = || own.iter().map(|result| result.median);
    let least = medians().fold(first.median, f64::min);
    let most = medians().fold(first.median, f64::max);
    let pairs: Vec<(&ResultEntry, &ResultEntry)> = own
        .iter()
        .enumerate()
        .flat_map(|(place, one)| own[place + 1..].iter().map(move |other| (*one, *other)))
        .collect();
    let moved = judge(&pairs, Rounds::Shared);
    let ratios = pairs.into_iter().zip(moved);
    Some(Control {
        experiment: EXPERIMENT,
        contenders: own.iter().map(|result| result.contender.clone()).collect(),
        spread: if least > 0.0 { most / least } else { 1.0 },
        ratios: ratios.filter_map(|((one, other), moved)| ratio(one, other, moved)).collect(),
    })
}

/// Returns whether a figure is that of a contender that runs the same function as others.
pub(crate) fn is_of_control(result: &ResultEntry) -> bool {
    result.primary && result.experiment == EXPERIMENT && runs_control(&result.contender)
}

impl Control {
    /// Returns the number of ratios that are called different.
    pub fn differing(&self) -> usize {
        self.ratios.iter().filter(|ratio| ratio.verdict != Verdict::Indistinguishable).count()
    }

    /// Describes the control in one line.
    pub fn line(&self) -> String {
        let of = self.ratios.len();
        let called = match (self.differing(), of) {
            (_, 0) => "too few rounds to judge".to_owned(),
            (count, of) => format!("{count} of {of} comparisons called different"),
        };
        format!(
            "control: {EXPERIMENT} is the same function in {}; medians within {:.2} times, {called}",
            self.contenders.join(", "),
            self.spread
        )
    }

    /// Returns a warning if the same function is called different.
    pub fn warning(&self) -> Option<Warning> {
        let message = format!(
            "the same function differs between programs: {} of {} comparisons in {EXPERIMENT}, by up to {:.2} times",
            self.differing(),
            self.ratios.len(),
            self.spread
        );
        let advice =
            "do not ascribe smaller differences of short loops to a runtime; run with --fresh";
        let warning = Warning::new("control", message, advice).about(EXPERIMENT, None);
        (self.differing() > 0).then_some(warning)
    }
}
