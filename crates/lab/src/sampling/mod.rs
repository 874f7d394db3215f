//! How much is asked of the contenders, and in which order.
//!
//! [`sample`] takes one experiment through its calibration and its rounds. It
//! knows contenders by their place and an [`Executor`] that runs them, so that a
//! test can put a made-up one in their stead; it never starts a program, writes
//! a file or prints.
//!
//! # The order of things
//!
//! 1. Calibration, contender by contender: a run or two at each point, which
//!    warm it up and set what is set by time.
//! 2. Rounds. Each runs every contender at every point once, in an order that
//!    is shuffled anew from the seed: the machine drifts, and what drifts must
//!    hit all of them alike.
//!
//! A contender that fails, or says that it was starved, is not asked again in
//! this experiment: the one would cost its limit each time, the other seconds.
//! Where it did so in another way than its natural one, only that way is left out.
//!
//! The order is fixed by the seed and the answers, so a run that was interrupted
//! goes on by being told its answers again: see [`Replay`] and [`Retold`].

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

/// One question to one contender.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The experiment's id.
    pub experiment: &'a str,
    /// Its parameters.
    pub params: &'a Params,
    /// The same for all contenders of a round.
    pub seed: u64,
    /// The round of a sample, from 1; none before them.
    pub round: Option<usize>,
    /// From which program, and what is read of it from outside into the answer, in bytes:
    /// `resident_before` and `resident_after` where the program is started afresh,
    /// `resident_peak` where it is watched.
    pub manner: Manner,
}

/// Runs samples.
pub trait Executor {
    /// Runs one on the contender in this place.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure>;
}

/// One answer, or its absence, as it goes to disk.
#[derive(Debug, Clone, Serialize)]
pub struct Record<'a> {
    /// `sample`, or `warm-up` and `step` before them.
    pub kind: &'static str,
    /// The experiment's id.
    pub experiment: &'a str,
    /// The contender's label.
    pub contender: &'a str,
    /// The round of a sample, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<usize>,
    /// Its place in the order of that round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// Whether the program was started for it, or for its round.
    pub afresh: bool,
    /// The time from the request to the answer as the lab saw it, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// The processor time that the hypervisor gave to others meanwhile, in ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_ms: Option<u64>,
    /// What was asked.
    pub params: &'a Params,
    /// What was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<&'a Map<String, Value>>,
    /// Why it counts for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<&'a str>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'a str>,
}

/// Is told what happens, when it happens.
pub trait Watch {
    /// Keeps one answer.
    ///
    /// # Errors
    ///
    /// One line, if it cannot be kept; the run ends then.
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Problem>;

    /// Something worth a line.
    fn say(&mut self, line: &str);

    /// So many rounds of this experiment are done.
    fn round(&mut self, done: usize, of: usize);
}

/// A contender that takes part in an experiment.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Its place with the executor.
    pub place: usize,
    /// Its label.
    pub label: String,
    /// By experiment, the variants it runs, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
}

/// A contender, or a variant of one, with what it answered.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The contender's label.
    pub label: String,
    /// The variant, where the contender has several ways.
    pub variant: Option<String>,
    /// Whether this is its natural way.
    pub natural: bool,
    /// What it answered at each point.
    pub points: Vec<Taken>,
}

/// The samples of a lane at a point.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The swept value.
    pub x: Option<u64>,
    /// Everything that was asked.
    pub params: Params,
    /// What counts, with its round.
    pub replies: Vec<(usize, Reply)>,
}

/// A sample that counts for nothing.
#[derive(Debug, Clone, Serialize)]
pub struct VoidSample {
    /// The experiment's id.
    pub experiment: String,
    /// The contender's label.
    pub contender: String,
    /// What was asked.
    pub params: Params,
    /// Why.
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
    /// The time it was to take; none for the first.
    pub target_ns: Option<f64>,
    /// The time it took.
    pub elapsed_ns: u64,
    /// Its calls.
    pub n: u64,
    /// Calls in a microsecond.
    pub calls_per_us: f64,
    /// Microseconds for a call.
    pub us_per_call: f64,
    /// Whether it lies within 10 % of its target.
    pub hit: bool,
}

/// All that an experiment gave.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What was answered; a contender that failed or starves is not among them.
    pub lanes: Vec<Lane>,
    /// The samples that count for nothing.
    pub void: Vec<VoidSample>,
    /// The contenders that failed, by label, each with why.
    pub lost: Vec<(String, String)>,
    /// The contenders that starve, by label, each with what came back.
    pub starved: Vec<(String, String)>,
    /// The steps of the calibration.
    pub steps: Vec<Step>,
}

/// Why an experiment did not come to its end.
#[derive(Debug, Clone)]
pub enum Stop {
    /// The user wants to stop. With what its whole rounds gave, if they are
    /// [`FEWEST`](crate::profile::FEWEST) or more.
    Interrupted(Option<Box<Outcome>>),
    /// The samples cannot be kept.
    Problem(Problem),
}

/// Calibrates one experiment and samples it in rounds.
///
/// # Errors
///
/// An interruption, or samples that cannot be kept. A contender that fails is
/// no error: it is among the lost.
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
