//! How much is measured: the two profiles and what they give a sample in time.

use std::time::Duration;

/// The fewest samples whose range holds the median in 95 of 100 cases.
pub const FEWEST: usize = 6;

/// How thorough a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// About 100 ms of work per sample, fewer points in a sweep.
    Quick,
    /// The counts at which the experiments were published.
    Full,
}

impl Profile {
    /// As it is written in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// The one that is written so.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Quick, Self::Full].into_iter().find(|profile| profile.word() == word)
    }
}

/// What a run may spend.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Rounds, and so the samples of each point.
    pub rounds: usize,
    /// The time a sample is to take, over all points of a sweep, in ns.
    pub sample_ns: f64,
    /// The steps by which `call-vs-send` finds its n, in ns.
    pub steps_ns: [f64; 4],
    /// How long one sample of `call-vs-send` takes in each mode, in ns.
    pub stepped_sample_ns: f64,
    /// How long a contender may take for one answer.
    pub limit: Duration,
    /// Whether each round has programs of its own; not unless asked for.
    pub fresh: bool,
}

impl Budget {
    /// The budget of a profile, with what the user set otherwise.
    ///
    /// `sample_ms` scales the steps of `call-vs-send` with it; at least one round is made.
    #[must_use]
    pub fn new(
        profile: Profile,
        rounds: Option<usize>,
        sample_ms: Option<f64>,
        limit: Option<Duration>,
    ) -> Self {
        let (own_rounds, own_ms, steps_ms, own_limit) = match profile {
            Profile::Quick => (11, 100.0, [1.0, 20.0, 60.0, 200.0], 60),
            Profile::Full => (15, 1000.0, [1.0, 500.0, 3000.0, 10_000.0], 600),
        };
        let ms = sample_ms.unwrap_or(own_ms);
        let steps_ns = steps_ms.map(|step| step * 1e6 * ms / own_ms);
        Self {
            rounds: rounds.unwrap_or(own_rounds).max(1),
            sample_ns: ms * 1e6,
            steps_ns,
            stepped_sample_ns: match profile {
                Profile::Quick => ms * 1e6,
                Profile::Full => steps_ns[3],
            },
            limit: limit.unwrap_or(Duration::from_secs(own_limit)),
            fresh: false,
        }
    }
}
