//! Whether a 95 % interval holds the truth in 95 of 100 cases: by simulation, with a fixed seed.
//!
//! Of 2000 cases each of which is held with probability 0.95, all but one in a thousand such counts
//! lie within 3.3 standard deviations, which is 0.016.

use purlin_lab::stats::{Interval, fit, median_interval, ratio_of_medians};

/// How values are spread about their median.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Evenly to both sides.
    Normal,
    /// With a long tail.
    LogNormal,
    /// Three of ten a quarter above the others, as on a machine of two speeds.
    Bimodal,
}

const SPREADS: [Spread; 3] = [Spread::Normal, Spread::LogNormal, Spread::Bimodal];
const COUNTS: [usize; 3] = [11, 15, 21];

/// By Box and Muller.
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

    /// Half of all values lie below it. Of the two speeds it is where 5/7 of the faster ones do, of
    /// which the normal quantile is 0.565949.
    fn median(self) -> f64 {
        match self {
            Self::Normal | Self::LogNormal => 100.0,
            Self::Bimodal => 100.0 * (0.01 * 0.565_949f64).exp(),
        }
    }
}

/// The share of cases in which an interval holds the truth.
fn share(cases: u32, truth: f64, mut interval: impl FnMut(u64) -> Option<Interval>) -> f64 {
    let held = (0..cases).filter(|&case| {
        let interval = interval(u64::from(case)).expect("there are values");
        !interval.excludes(truth)
    });
    held.count() as f64 / f64::from(cases)
}

#[test]
fn the_interval_of_a_median_holds_it_as_often_as_it_says() {
    let mut dice = fastrand::Rng::with_seed(1);
    for spread in SPREADS {
        for count in COUNTS {
            let share =
                share(2000, spread.median(), |_| median_interval(&spread.many(count, &mut dice)));
            assert!((share - 0.95).abs() <= 0.016, "{spread:?}, {count} values: {share}");
        }
    }
}

/// Resampling gives ratios somewhat more room than they need, and never less: 80 cases at 0.95
/// spread by 0.081 at the same bound, and all 720 together by 0.027. At 0.97, which is what resampling
/// gives, all together spread by 0.021.
#[test]
fn the_interval_of_a_ratio_holds_it_at_least_as_often_as_it_says() {
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

/// Five points in each round, as a quick sweep has them; the slope of all of them together.
#[test]
fn the_interval_of_a_slope_holds_it_as_often_as_it_says() {
    let mut dice = fastrand::Rng::with_seed(3);
    for spread in SPREADS {
        // What is noise about a line has its mean, not its median, at zero.
        let mean = match spread {
            Spread::Normal => 100.0,
            Spread::LogNormal => 100.0 * (0.09f64 / 2.0).exp(),
            Spread::Bimodal => 107.5 * (0.0001f64 / 2.0).exp(),
        };
        for rounds in COUNTS {
            let points = |dice: &mut fastrand::Rng| -> Vec<(f64, f64)> {
                let xs = (0..rounds).flat_map(|_| (0..5).map(f64::from));
                xs.map(|x| (x, 7.0 * x + spread.draw(dice) - mean)).collect()
            };
            let slopes = share(2000, 7.0, |_| fit(&points(&mut dice)).map(|line| line.slope));
            assert!((slopes - 0.95).abs() <= 0.016, "{spread:?}, {rounds} rounds: slope {slopes}");
            let starts = share(2000, 0.0, |_| fit(&points(&mut dice)).map(|line| line.intercept));
            assert!((starts - 0.95).abs() <= 0.016, "{spread:?}, {rounds} rounds: start {starts}");
        }
    }
}
