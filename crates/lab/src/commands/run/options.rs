//! Options and outcome of `purlin lab run`.

use std::path::PathBuf;
use std::time::Duration;

use crate::profile::Profile;

/// Options of `purlin lab run`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Experiment ids; all experiments if empty.
    pub experiments: Vec<String>,
    /// Contenders as the user wrote them; all that can run here if empty.
    pub contenders: Vec<String>,
    /// The profile: number of rounds and duration of samples.
    pub profile: Profile,
    /// Seed of the sample order; taken from the clock if absent.
    pub seed: Option<u64>,
    /// The folder of the run.
    pub dir: Option<PathBuf>,
    /// An additional output file for the results.
    pub json: Option<PathBuf>,
    /// Number of rounds, overriding the profile.
    pub samples: Option<usize>,
    /// Milliseconds per sample, overriding the profile.
    pub sample_ms: Option<f64>,
    /// Time limit per answer, overriding the profile.
    pub limit: Option<Duration>,
    /// Whether every round starts fresh programs.
    pub fresh: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every requested measurement produced results.
    Well,
    /// A contender failed or samples are invalid; the rest produced results.
    WithLosses,
    /// The user interrupted the run.
    Interrupted,
}
