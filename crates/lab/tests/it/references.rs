//! Statistics checked against published reference values, to the precision of doubles.

mod lines;
mod univariate;

use purlin_lab::stats::{Interval, Moments, fit};

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

/// Returns the 0.975 quantile of Student's t, from the cosine series of its distribution for
/// integer degrees of freedom: Abramowitz and Stegun, *Handbook of Mathematical Functions*,
/// 26.7.3–4.
fn t(freedom: u32) -> f64 {
    let within = |t: f64| {
        let angle = (t / f64::from(freedom).sqrt()).atan();
        let (sine, cosine) = angle.sin_cos();
        let even = freedom.is_multiple_of(2);
        let mut term = if even { 1.0 } else { cosine };
        let mut sum = 0.0;
        let mut power = u32::from(!even);
        while power + 2 <= freedom {
            sum += term;
            power += 2;
            term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
        }
        if even { sine * sum } else { (angle + sine * sum) * 2.0 / std::f64::consts::PI }
    };
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if within(middle) < 0.95 { low = middle } else { high = middle }
    }
    low
}

/// Returns half the width of an interval.
fn reach(interval: Interval) -> f64 {
    (interval.high - interval.low) / 2.0
}

#[test]
fn line_through_norris_equals_nist_values() {
    let line = fit(&lines::NORRIS).unwrap();
    for (name, found, (estimate, error)) in [
        ("slope", line.slope, lines::NORRIS_SLOPE),
        ("intercept", line.intercept, lines::NORRIS_INTERCEPT),
    ] {
        agree(name, found.value, estimate, 11.0);
        agree(name, reach(found) / t(34), error, 9.0);
    }
    agree("R²", line.r2, lines::NORRIS_R2, 14.0);
    let x: Moments = lines::NORRIS.iter().map(|point| point.0).collect();
    let spread = x.deviation().unwrap() * 35f64.sqrt();
    agree("residual", reach(line.slope) / t(34) * spread, lines::NORRIS_RESIDUAL, 9.0);
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
        agree(&name, line.slope.value, slope, 12.0);
        agree(&name, line.intercept.value, intercept, 11.0);
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

/// Quantiles of Student's t as printed in statistical tables: 0.975, two-sided 95 %.
#[test]
fn quantiles_of_t_equal_printed_tables() {
    for (freedom, printed) in [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (5, 2.5706),
        (9, 2.2622),
        (10, 2.2281),
        (20, 2.0860),
        (30, 2.0423),
        (60, 2.0003),
        (120, 1.9799),
    ] {
        assert!((t(freedom) - printed).abs() < 6e-5, "t({freedom}) = {}", t(freedom));
        // Points about a constant line, in a number that leaves these degrees of freedom. The
        // slope's standard error follows from the residuals alone.
        let count = freedom + 2;
        let points: Vec<_> = (0..count).map(|x| (f64::from(x), f64::from(x * x * 7 % 5))).collect();
        let line = fit(&points).unwrap();
        let x: Moments = points.iter().map(|point| point.0).collect();
        let left =
            points.iter().map(|(x, y)| (y - line.slope.value * x - line.intercept.value).powi(2));
        let variance = left.sum::<f64>() / f64::from(freedom);
        let error = variance.sqrt() / (x.deviation().unwrap() * f64::from(count - 1).sqrt());
        agree(&format!("t({freedom})"), reach(line.slope) / error, t(freedom), 9.0);
    }
}
