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
//! recorded answers: see [`Replay`] and [`ReplayCheck`].

mod calibrate;
mod executor;
mod outcome;
mod record;
mod replay;
mod session;
mod shuffle;

use crate::experiments::Experiment;
use crate::profile::{Budget, Profile};

pub use executor::{Executor, Request};
pub use outcome::{Entrant, InvalidSample, Lane, Outcome, Step, Stop, Taken};
pub use record::{Record, Watch};
pub use replay::{Past, Replay, ReplayCheck};
use session::Session;

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
