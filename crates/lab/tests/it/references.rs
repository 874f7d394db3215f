//! Statistics checked against published reference values, to the precision of doubles.

mod lines;
mod univariate;

use purlin_lab::stats::{Moments, fit};

/// Returns the number of digits that agree with the reference; a double has 15.95.
fn digits(found: f64, reference: f64) -> f64 {
    let off = (found - reference).abs();
    let scale = if reference == 0.0 { 1.0 } else { reference.abs() };
    if off == 0.0 { 16.0 } else { -(off / scale).log10() }
}

fn agree(what: &str, found: f64, reference: f64, least: f64) {
    let agreed = digits(found, reference);
    assert!(agreed >= least, "{what}: {found:e}, not {reference:e}: {agreed:.1} digits of {least}");
}

#[test]
fn means_and_deviations_equal_nist_values() {
    for set in univariate::all() {
        let moments: Moments = set.values.iter().copied().collect();
        agree(set.name, moments.mean().unwrap(), set.mean, 14.0);
        agree(set.name, moments.deviation().unwrap(), set.deviation, set.digits);
    }
}

#[test]
fn line_through_norris_equals_nist_values() {
    let line = fit(&lines::NORRIS).unwrap();
    agree("slope", line.slope, lines::NORRIS_SLOPE, 11.0);
    agree("intercept", line.intercept, lines::NORRIS_INTERCEPT, 11.0);
    agree("R²", line.r2, lines::NORRIS_R2, 14.0);
}

#[test]
fn lines_through_ill_conditioned_data_are_exact() {
    let named = |name: &'static str, sets: Vec<Vec<(i128, i128)>>| {
        sets.into_iter().enumerate().map(move |(place, set)| (format!("{name} {}", place + 1), set))
    };
    let sets = named("Longley", lines::longley())
        .chain(named("Wampler", lines::wampler().into()))
        .chain(named("NoInt", vec![lines::NO_INT_1.into(), lines::NO_INT_2.into()]));
    for (name, points) in sets {
        let (slope, intercept, r2) = lines::exact(&points);
        let points: Vec<_> = points.iter().map(|&(x, y)| (x as f64, y as f64)).collect();
        let line = fit(&points).unwrap();
        agree(&name, line.slope, slope, 12.0);
        agree(&name, line.intercept, intercept, 11.0);
        agree(&name, line.r2, r2, 12.0);
    }
}

/// The noise has the residual deviation that NIST certifies for Wampler's third set, so the data
/// above are correct.
#[test]
fn noise_of_wampler_has_the_certified_deviation() {
    let squares: i128 = lines::WAMPLER_NOISE.iter().map(|noise| noise * noise).sum();
    agree("Wampler3", (squares as f64 / 15.0).sqrt(), 2360.14502379268, 14.0);
}
