//! Sampling: number and order of the samples.
//!
//! [`sample`] takes one experiment through calibration and rounds. It addresses contenders by
//! position and runs them through an [`Executor`], which tests replace by a simulated one. It
//! starts no programs, writes no files and prints nothing.
//!
//! # Order of samples
//!
//! 1. Calibration, one contender after the other: one or more runs at each point, which warm the
//!    contender up and set the calibrated parameters.
//! 2. Rounds. Each round runs every contender once at every point. The order is shuffled for each
//!    round from the seed, so that drift of the machine affects all contenders alike.
//!
//! A contender that fails or starves is not asked again in this experiment, because each further
//! request would cost its time limit or several seconds. If a variant other than the natural one
//! fails, only that variant is dropped.
//!
//! The seed and the answers determine the order, so an interrupted run resumes by replaying its
//! recorded answers: see [`Replay`] and [`Retold`].

mod calibrate;
mod replay;
mod session;
mod shuffle;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::contender::{Failure, Reply};
use crate::error::Problem;
use crate::experiments::{Experiment, Manner, Params};
use crate::profile::{Budget, Profile};
pub use replay::{Past, Replay, Retold};
use session::Session;

/// A request for one sample.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The experiment's id.
    pub experiment: &'a str,
    /// The parameters.
    pub params: &'a Params,
    /// The seed; equal for all contenders in a round.
    pub seed: u64,
    /// The round, from 1; `None` for calibration.
    pub round: Option<usize>,
    /// The sampling mode: which program takes the sample, and which memory figures are read from
    /// outside and added to the answer, in bytes: `resident_before` and `resident_after` for a
    /// fresh process, `resident_peak` for a watched one.
    pub manner: Manner,
}

/// Takes samples.
pub trait Executor {
    /// Takes one sample from the contender at this position.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer.
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure>;
}

/// A record of one answer or failure, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct Record<'a> {
    /// `sample`; before the rounds, `warm-up` or `step`.
    pub kind: &'static str,
    /// The experiment's id.
    pub experiment: &'a str,
    /// The contender's label.
    pub contender: &'a str,
    /// The round, from 1; absent for calibration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<usize>,
    /// Position in the order of the round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// Whether the program was started for this sample, or for its round.
    pub afresh: bool,
    /// Time from request to answer as measured by the lab, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// Processor time the hypervisor gave to other guests during the sample, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_ms: Option<u64>,
    /// The parameters of the request.
    pub params: &'a Params,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<&'a Map<String, Value>>,
    /// Why the sample is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<&'a str>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'a str>,
}

/// Observer of the sampling.
pub trait Watch {
    /// Stores one record.
    ///
    /// # Errors
    ///
    /// Returns one line if the record cannot be stored; the run ends then.
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Problem>;

    /// Prints a message.
    fn say(&mut self, line: &str);

    /// Reports the number of completed rounds of this experiment.
    fn round(&mut self, done: usize, of: usize);
}

/// A contender that takes part in an experiment.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Position of the contender in the executor.
    pub place: usize,
    /// The contender's label.
    pub label: String,
    /// Variants by experiment, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
}

/// A contender, or a variant of one, with its answers.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The contender's label.
    pub label: String,
    /// The variant, if the contender has several.
    pub variant: Option<String>,
    /// Whether this is the contender's natural variant.
    pub natural: bool,
    /// The samples at each point.
    pub points: Vec<Taken>,
}

/// The samples of a lane at one point.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The swept value.
    pub x: Option<u64>,
    /// The complete parameters.
    pub params: Params,
    /// The valid answers, each with its round.
    pub replies: Vec<(usize, Reply)>,
}

/// An invalid sample.
#[derive(Debug, Clone, Serialize)]
pub struct VoidSample {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// The parameters of the request.
    pub params: Params,
    /// Why the sample is invalid.
    pub reason: String,
}

/// A step by which `call-vs-send` found its n.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// `local` or `remote`.
    pub mode: String,
    /// The target duration; `None` for the first step.
    pub target_ns: Option<f64>,
    /// The measured duration.
    pub elapsed_ns: u64,
    /// The number of calls.
    pub n: u64,
    /// Calls per microsecond.
    pub calls_per_us: f64,
    /// Microseconds per call.
    pub us_per_call: f64,
    /// Whether the duration lies within 10 % of the target.
    pub hit: bool,
}

/// The samples of an experiment.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The lanes, without contenders that failed or starve.
    pub lanes: Vec<Lane>,
    /// The invalid samples.
    pub void: Vec<VoidSample>,
    /// The contenders that failed, by label, each with the reason.
    pub lost: Vec<(String, String)>,
    /// The contenders that starve, by label, each with the number of round trips completed.
    pub starved: Vec<(String, String)>,
    /// The steps of the calibration.
    pub steps: Vec<Step>,
}

/// Why an experiment was not completed.
#[derive(Debug, Clone)]
pub enum Stop {
    /// The user interrupted the run. Holds the outcome of the completed rounds, if there are at
    /// least [`FEWEST`](crate::profile::FEWEST).
    Interrupted(Option<Box<Outcome>>),
    /// The samples cannot be stored.
    Problem(Problem),
}

/// Calibrates one experiment and takes its samples in rounds.
///
/// # Errors
///
/// Returns an error on interruption, or if samples cannot be stored. A failing contender is not an
/// error; it is listed in `lost`.
pub fn sample(
    experiment: &'static Experiment,
    entrants: &[Entrant],
    profile: Profile,
    budget: &Budget,
    seed: u64,
    executor: &mut dyn Executor,
    watch: &mut dyn Watch,
) -> Result<Outcome, Stop> {
    let mut session = Session::new(experiment, entrants, profile, budget, seed, executor, watch);
    match session.calibrate().and_then(|()| session.rounds()) {
        Ok(()) => Ok(session.finish()),
        Err(Stop::Interrupted(_)) => Err(Stop::Interrupted(session.so_far())),
        Err(problem) => Err(problem),
    }
}
