//! Profiles: number of rounds and duration of samples.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Minimum number of samples whose range contains the median with 95 % probability.
pub const FEWEST: usize = 6;

/// Thoroughness of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// About 40 ms of work per sample, and fewer points per sweep
    Quick,
    /// The counts with which the experiments were published
    Full,
}

/// Rounds and time limits of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Number of rounds, which is the number of samples per point.
    pub rounds: usize,
    /// Duration of a sample, over all points of a sweep, in ns.
    pub sample_ns: f64,
    /// Durations of the steps by which `call-vs-send` finds its n, in ns.
    pub steps_ns: [f64; 4],
    /// Time limit for one answer of a contender.
    pub limit: Duration,
    /// Whether every round starts fresh programs; false by default.
    pub fresh: bool,
}

impl Budget {
    /// Returns the budget of a profile, with the user's overrides.
    ///
    /// `sample_ms` also scales the steps of `call-vs-send`; there is at least one round.
    pub fn new(
        profile: Profile,
        rounds: Option<usize>,
        sample_ms: Option<f64>,
        limit: Option<Duration>,
    ) -> Self {
        let (own_rounds, own_ms, steps_ms, own_limit) = match profile {
            Profile::Quick => (11, 40.0, [1.0, 10.0, 30.0, 100.0], 60),
            Profile::Full => (15, 1000.0, [1.0, 500.0, 3000.0, 10_000.0], 600),
        };
        let ms = sample_ms.unwrap_or(own_ms);
        let steps_ns = steps_ms.map(|step| step * 1e6 * ms / own_ms);
        Self {
            rounds: rounds.unwrap_or(own_rounds).max(1),
            sample_ns: ms * 1e6,
            steps_ns,
            limit: limit.unwrap_or(Duration::from_secs(own_limit)),
            fresh: false,
        }
    }
}
