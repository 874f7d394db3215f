//! Simulated runs with realistic noise, with a fixed seed.

#![allow(dead_code, reason = "each test file uses its own part")]

use purlin_lab::host::Host;
use purlin_lab::results::ResultEntry;
use purlin_lab::stored::Figures;

/// Noise model of a machine.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// Standard deviation of independent noise per sample.
    pub(crate) spread: f64,
    /// Probability and mean duration of interference by other programs.
    pub(crate) tail: (f64, f64),
    /// Size of the drift, and its autocorrelation from round to round.
    pub(crate) drift: (f64, f64),
    /// Probability of the slower mode, and its slowdown.
    pub(crate) modes: (f64, f64),
}

/// A mostly idle machine.
pub(crate) const QUIET: Machine =
    Machine { spread: 0.01, tail: (0.1, 0.2), drift: (0.0075, 0.8), modes: (0.0, 0.0) };

/// A shared virtual machine: two speeds, long tails.
pub(crate) const LOUD: Machine =
    Machine { spread: 0.08, tail: (0.15, 0.5), drift: (0.05, 0.8), modes: (0.4, 0.25) };

/// A machine whose speed drifts over minutes.
pub(crate) const DRIFTING: Machine =
    Machine { spread: 0.005, tail: (0.1, 0.2), drift: (0.05, 0.95), modes: (0.0, 0.0) };

/// Samples of a full run on two shared cores, in thousandths above the median of their figure:
/// `ping-pong`, `throughput`, `call`, `spawn-chain` and `fan-in`, each of purlin, the BEAM, tokio and
/// Go, in the order of the rounds.
const STORED: [[i16; 7]; 20] = [
    [-2, 0, -10, 94, 181, -160, 276],
    [-18, 86, 89, 0, 452, -93, -15],
    [-20, -42, 133, 0, 28, 48, -77],
    [-87, -5, 94, 0, 14, -83, 18],
    [-137, 361, -159, -65, 100, 0, 306],
    [71, 143, -12, -35, 1, -165, 0],
    [584, 673, -106, -13, 0, -15, 910],
    [0, 80, 23, 73, -267, -26, -88],
    [-33, -111, 111, 49, 46, -245, 0],
    [0, 277, -131, 24, -41, 74, -172],
    [7, -56, 52, -4, 4, 0, -18],
    [-128, 25, 0, -83, 2, -236, 10],
    [-110, 12, 0, 21, -198, 7, -144],
    [106, 0, -28, 61, -139, 132, -53],
    [-68, 281, -8, 76, -17, 0, 65],
    [-142, 57, 36, -58, 0, 53, -19],
    [-33, -35, -51, 19, 47, 0, 370],
    [-147, 299, -278, -114, 623, 0, 267],
    [-65, -72, 74, 482, 100, -294, 0],
    [-119, 211, 140, -79, -288, 0, 79],
];

/// Simulates a run with noise of the shape of stored samples: each contender's series is put together
/// from pieces of stored ones, in their order, so that speeds, skew and autocorrelation are kept.
pub(crate) fn of_stored_shape(
    costs: &[Cost<'_>],
    rounds: usize,
    dice: &mut fastrand::Rng,
) -> Figures {
    let figure = |&(experiment, contender, cost): &Cost<'_>| {
        let mut samples = Vec::with_capacity(rounds);
        while samples.len() < rounds {
            let piece = &STORED[dice.usize(..STORED.len())];
            let from = dice.usize(..piece.len());
            samples.extend(piece[from..].iter().map(|part| cost * (1.0 + f64::from(*part) / 1e3)));
        }
        samples.truncate(rounds);
        ResultEntry { rounds: (1..=rounds).collect(), samples, ..entry(experiment, contender) }
    };
    run(costs.iter().map(figure).collect())
}

/// A figure to simulate: experiment, contender, true cost.
pub(crate) type Cost<'a> = (&'a str, &'a str, f64);

impl Machine {
    /// Simulates a run; all contenders share the drift, as in interleaved rounds.
    pub(crate) fn run(
        &self,
        costs: &[Cost<'_>],
        rounds: usize,
        dice: &mut fastrand::Rng,
    ) -> Figures {
        let mut drift = self.drift.0 * gauss(dice);
        let mut results: Vec<ResultEntry> =
            costs.iter().map(|&(experiment, contender, _)| entry(experiment, contender)).collect();
        for round in 1..=rounds {
            let (size, kept) = self.drift;
            drift = kept * drift + size * (1.0 - kept * kept).sqrt() * gauss(dice);
            for (result, (.., cost)) in results.iter_mut().zip(costs) {
                result.rounds.push(round);
                result.samples.push(cost * (drift + self.disturbance(dice)).exp());
            }
        }
        run(results)
    }

    fn disturbance(&self, dice: &mut fastrand::Rng) -> f64 {
        let ((often, long), (slow, slower)) = (self.tail, self.modes);
        let tail = if dice.f64() < often { -long * (1.0 - dice.f64()).ln() } else { 0.0 };
        let mode = if dice.f64() < slow { slower } else { 0.0 };
        self.spread * gauss(dice) + tail + mode
    }
}

/// Draws a standard normal value (Box-Muller).
fn gauss(dice: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - dice.f64()).ln()).sqrt() * (std::f64::consts::TAU * dice.f64()).cos()
}

/// Returns a primary metric in ns without samples.
pub(crate) fn entry(experiment: &str, contender: &str) -> ResultEntry {
    ResultEntry {
        experiment: experiment.into(),
        contender: contender.into(),
        variant: None,
        graph: None,
        params: purlin_lab::experiments::Params::new(),
        x: None,
        metric: "time".into(),
        unit: "ns".into(),
        better: "lower".into(),
        rounds: Vec::new(),
        samples: Vec::new(),
        median: 0.0,
        low: 0.0,
        high: 0.0,
        fit: None,
        primary: true,
    }
}

/// Returns a run with these figures.
pub(crate) fn run(results: Vec<ResultEntry>) -> Figures {
    Figures {
        started: "2026-11-21T09:00:00Z".into(),
        interrupted: false,
        profile: "quick".into(),
        host: Some(Host {
            os: "Linux".into(),
            kernel: "6.1".into(),
            cpu: "made up".into(),
            cores: 2,
            memory_bytes: 8 << 30,
            load_before: 0.0,
            is_virtual: Some(false),
            fitness: None,
        }),
        contenders: Vec::new(),
        results,
    }
}
