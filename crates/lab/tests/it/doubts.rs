//! Warnings derived from samples: reported where they apply, with a low rate of false positives.

use crate::noise::{Machine, QUIET, entry};
use purlin_lab::results::{ResultEntry, drifts, outliers};

/// A machine without autocorrelation between rounds.
const STEADY: Machine = Machine { drift: (0.0, 0.0), ..QUIET };

/// Returns a primary metric with these samples.
fn figure(contender: &str, samples: &[f64]) -> ResultEntry {
    let rounds = (1..=samples.len()).collect();
    ResultEntry { rounds, samples: samples.to_vec(), ..entry("call", contender) }
}

#[test]
fn rising_figure_drifts_and_a_level_one_does_not() {
    let rising: Vec<f64> = (0..11).map(|round| 100.0 + f64::from(round)).collect();
    let level = [3.0, 9.0, 1.0, 10.0, 4.0, 0.0, 7.0, 2.0, 8.0, 5.0, 6.0].map(|part| 100.0 + part);
    let results = [figure("a", &rising), figure("b", &level)];
    let [drift] = &drifts(&results)[..] else { panic!("{:?}", drifts(&results)) };
    assert_eq!(drift.contender.as_deref(), Some("a"));
    assert_eq!(drift.message, "call a drifted by +10 % over its 11 rounds");
    // A change of 1 % is within the difference of two runs of the same program.
    let little: Vec<f64> = rising.iter().map(|sample| 1000.0 + sample).collect();
    assert!(drifts(&[figure("a", &little)]).is_empty());
    // Five samples are too few for a warning.
    assert!(drifts(&[figure("a", &rising[..5])]).is_empty());
}

/// The false discovery rate is 5 %: of 200 runs of 24 figures without drift, 10 ± 2·3.1 have a
/// warning.
#[test]
fn drift_is_rarely_reported_on_a_steady_machine() {
    let mut dice = fastrand::Rng::with_seed(7);
    let names: Vec<String> = (0..24).map(|number| number.to_string()).collect();
    let costs: Vec<_> = names.iter().map(|name| (name.as_str(), "a", 100.0)).collect();
    let noisy = Machine { spread: 0.05, ..STEADY };
    let alarms =
        (0..200).filter(|_| !drifts(&noisy.run(&costs, 11, &mut dice).results).is_empty()).count();
    assert!(alarms <= 16, "{alarms} of 200");
}

#[test]
fn outliers_are_counted_by_contender_and_kept() {
    let some = [100.0, 101.0, 99.0, 100.5, 99.5, 150.0, 170.0];
    let none = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8];
    let results = [figure("a", &some), figure("b", &none)];
    let found = outliers(&results).expect("a has outliers");
    assert_eq!(
        (found.experiment.as_deref(), found.contender.as_deref()),
        (Some("call"), Some("a"))
    );
    assert_eq!(found.message, "call: outliers: a (2 of 7)");
    assert_eq!(outliers(&results[1..]), None);
    assert_eq!(outliers(&[]), None);
}
