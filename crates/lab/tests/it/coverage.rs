//! Coverage of the 95 % confidence intervals, by simulation with a fixed seed.
//!
//! With 2000 cases at a coverage of 0.95, all but 1 in 1000 observed coverages lie within 3.3
//! standard deviations, which is 0.016.

use purlin_lab::stats::{Interval, fit, median_interval, ratio_of_medians};

/// Distribution of values around their median.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Normal.
    Normal,
    /// Log-normal, with a long tail.
    LogNormal,
    /// Three of ten values a quarter above the others, as on a machine with two speeds.
    Bimodal,
}

const SPREADS: [Spread; 3] = [Spread::Normal, Spread::LogNormal, Spread::Bimodal];
const COUNTS: [usize; 3] = [11, 15, 21];

/// Draws a standard normal value (Box-Muller).
fn gauss(dice: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - dice.f64()).ln()).sqrt() * (std::f64::consts::TAU * dice.f64()).cos()
}

impl Spread {
    fn draw(self, dice: &mut fastrand::Rng) -> f64 {
        match self {
            Self::Normal => 100.0 + 2.0 * gauss(dice),
            Self::LogNormal => 100.0 * (0.3 * gauss(dice)).exp(),
            Self::Bimodal => {
                let slow = if dice.f64() < 0.3 { 1.25 } else { 1.0 };
                100.0 * slow * (0.01 * gauss(dice)).exp()
            }
        }
    }

    fn many(self, count: usize, dice: &mut fastrand::Rng) -> Vec<f64> {
        (0..count).map(|_| self.draw(dice)).collect()
    }

    /// Returns the true median. Of the bimodal distribution it is the 5/7 quantile of the faster
    /// values, for which the normal quantile is 0.565949.
    fn median(self) -> f64 {
        match self {
            Self::Normal | Self::LogNormal => 100.0,
            Self::Bimodal => 100.0 * (0.01 * 0.565_949f64).exp(),
        }
    }
}

/// Returns the share of cases in which an interval contains the true value.
fn share(cases: u32, truth: f64, mut interval: impl FnMut(u64) -> Option<Interval>) -> f64 {
    let held = (0..cases).filter(|&case| {
        let interval = interval(u64::from(case)).expect("there are values");
        !interval.excludes(truth)
    });
    held.count() as f64 / f64::from(cases)
}

#[test]
fn interval_of_a_median_has_nominal_coverage() {
    let mut dice = fastrand::Rng::with_seed(1);
    for spread in SPREADS {
        for count in COUNTS {
            let share =
                share(2000, spread.median(), |_| median_interval(&spread.many(count, &mut dice)));
            assert!((share - 0.95).abs() <= 0.016, "{spread:?}, {count} values: {share}");
        }
    }
}

/// The bootstrap intervals of ratios are conservative. At a coverage of 0.95, 80 cases deviate by
/// up to 0.081 at the same bound, and all 720 together by 0.027. At 0.97, the bootstrap's actual
/// coverage, all together deviate by 0.021.
#[test]
fn interval_of_a_ratio_has_at_least_nominal_coverage() {
    let mut dice = fastrand::Rng::with_seed(2);
    let mut shares = Vec::new();
    for spread in SPREADS {
        for count in COUNTS {
            let share = share(80, 1.0, |seed| {
                let (over, under) = (spread.many(count, &mut dice), spread.many(count, &mut dice));
                ratio_of_medians(&over, &under, seed)
            });
            assert!(share >= 0.95 - 0.081, "{spread:?}, {count} values: {share}");
            shares.push(share);
        }
    }
    let all = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((0.95 - 0.027..=0.97 + 0.021).contains(&all), "{all} of all");
}

/// Five points per round, as in a sweep of the quick profile; a line is fitted to each round. The
/// slope of noise around a line is symmetric about 0 for any distribution of the noise.
#[test]
fn interval_of_a_slope_has_nominal_coverage() {
    let mut dice = fastrand::Rng::with_seed(3);
    for spread in SPREADS {
        for rounds in COUNTS {
            let slope = |dice: &mut fastrand::Rng| {
                let points = (0..5).map(f64::from).map(|x| (x, 7.0 * x + spread.draw(dice)));
                fit(&points.collect::<Vec<_>>()).expect("there are five points").slope
            };
            let share = share(2000, 7.0, |_| {
                let slopes: Vec<f64> = (0..rounds).map(|_| slope(&mut dice)).collect();
                median_interval(&slopes)
            });
            assert!((share - 0.95).abs() <= 0.016, "{spread:?}, {rounds} rounds: {share}");
        }
    }
}
