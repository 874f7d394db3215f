//! Contenders of an experiment, and the samples taken from them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::contender::Reply;
use crate::error::Problem;
use crate::experiments::Params;

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
pub struct InvalidSample {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// The round, from 1.
    pub round: usize,
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
    pub invalid: Vec<InvalidSample>,
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
