//! Executor: takes one sample per request.

use crate::contender::{Failure, Reply};
use crate::experiments::{Params, SamplingMode};

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
    pub mode: SamplingMode,
}

/// Takes samples.
pub trait Executor {
    /// Takes one sample from the contender at this position.
    ///
    /// Returns why there is no answer.
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure>;
}
