//! Least-squares fit of a line, with confidence intervals: N. R. Draper and H. Smith, *Applied
//! Regression Analysis*, 3rd ed., Wiley 1998, chapter 1.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Interval;

/// A line of best fit `y = slope · x + intercept`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The slope, with its 95 % confidence interval from Student's t.
    pub slope: Interval,
    /// The value at x = 0, with its 95 % confidence interval.
    pub intercept: Interval,
    /// The coefficient of determination.
    pub r2: f64,
}

/// Fits a line through points.
///
/// Returns `None` for fewer than three points, whose intervals would be infinite, and for points
/// with a single x.
pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let intercept = mean_y - slope * mean_x;
    let residual: f64 = points.iter().map(|(x, y)| (y - slope * x - intercept).powi(2)).sum();
    let freedom = count - 2.0;
    let variance = residual / freedom;
    let reach = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
    let line = Line {
        slope: around(slope, reach * (variance / xx).sqrt()),
        intercept: around(
            intercept,
            reach * (variance * (1.0 / count + mean_x * mean_x / xx)).sqrt(),
        ),
        // WHY: a constant line explains its points completely; 0/0 would be undefined.
        r2: if yy > 0.0 { (1.0 - residual / yy).max(0.0) } else { 1.0 },
    };
    line.is_finite().then_some(line)
}

impl Line {
    fn is_finite(&self) -> bool {
        [self.slope, self.intercept]
            .iter()
            .all(|end| end.value.is_finite() && end.low.is_finite() && end.high.is_finite())
            && self.r2.is_finite()
    }
}

fn around(value: f64, reach: f64) -> Interval {
    Interval { value, low: value - reach, high: value + reach }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_few_points_or_a_single_x_have_no_line() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    /// Anscombe's first set (*The American Statistician* 27, 1973). Line, R² and standard errors
    /// are published: that of the slope is 0.1179, that of the intercept 1.1247, and t(0.975, 9) =
    /// 2.2622.
    #[test]
    fn anscombes_first_set_has_its_published_line() {
        let points = [
            (10.0, 8.04),
            (8.0, 6.95),
            (13.0, 7.58),
            (9.0, 8.81),
            (11.0, 8.33),
            (14.0, 9.96),
            (6.0, 7.24),
            (4.0, 4.26),
            (12.0, 10.84),
            (7.0, 4.82),
            (5.0, 5.68),
        ];
        let line = fit(&points).unwrap();
        assert!((line.slope.value - 0.5001).abs() < 1e-4);
        assert!((line.intercept.value - 3.0001).abs() < 1e-4);
        assert!((line.r2 - 0.6665).abs() < 1e-4);
        assert!((line.slope.high - line.slope.value - 2.2622 * 0.1179).abs() < 1e-3);
        assert!((line.intercept.value - line.intercept.low - 2.2622 * 1.1247).abs() < 1e-3);
    }

    #[test]
    fn constant_line_has_an_r2_of_one() {
        let line = fit(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]).unwrap();
        assert_eq!((line.slope.value, line.r2), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn points_on_a_line_are_fitted_exactly(
            slope in -1e3f64..1e3, intercept in -1e3f64..1e3, count in 3u32..20
        ) {
            let points: Vec<_> = (0..count)
                .map(|step| (f64::from(step), slope * f64::from(step) + intercept))
                .collect();
            let line = fit(&points).unwrap();
            prop_assert!((line.slope.value - slope).abs() < 1e-6);
            prop_assert!((line.intercept.value - intercept).abs() < 1e-6);
        }

        #[test]
        fn line_goes_through_the_centroid_and_r2_is_a_fraction(
            points in prop::collection::vec((0.0f64..1e3, -1e3f64..1e3), 3..40)
        ) {
            if let Some(line) = fit(&points) {
                let count = points.len() as f64;
                let x = points.iter().map(|point| point.0).sum::<f64>() / count;
                let y = points.iter().map(|point| point.1).sum::<f64>() / count;
                prop_assert!((line.slope.value * x + line.intercept.value - y).abs() < 1e-6);
                prop_assert!((0.0..=1.0 + 1e-12).contains(&line.r2));
                prop_assert!(line.slope.low <= line.slope.value && line.slope.value <= line.slope.high);
            }
        }
    }
}
