//! Least-squares fit of a line: N. R. Draper and H. Smith, *Applied Regression Analysis*, 3rd ed.,
//! Wiley 1998, chapter 1.
//!
//! The fit has no interval: that of Student's t takes the residuals for independent, and all samples
//! of a round share the state of the machine. The interval of a slope is that of the median of the
//! rounds' slopes.

/// A line of best fit `y = slope · x + intercept`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The slope.
    pub slope: f64,
    /// The value at x = 0.
    pub intercept: f64,
    /// The coefficient of determination.
    pub r2: f64,
}

/// Fits a line through points.
///
/// Returns `None` for fewer than three points, which any line fits, and for points with a single x.
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
    // WHY: a constant line explains its points completely; 0/0 would be undefined.
    let r2 = if yy > 0.0 { (1.0 - residual / yy).max(0.0) } else { 1.0 };
    let line = Line { slope, intercept, r2 };
    [slope, intercept, r2].iter().all(|part| part.is_finite()).then_some(line)
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

    /// Anscombe's first set, *The American Statistician* 27, 1973.
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
        assert!((line.slope - 0.5001).abs() < 1e-4);
        assert!((line.intercept - 3.0001).abs() < 1e-4);
        assert!((line.r2 - 0.6665).abs() < 1e-4);
    }

    #[test]
    fn constant_line_has_an_r2_of_one() {
        let line = fit(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]).unwrap();
        assert_eq!((line.slope, line.r2), (0.0, 1.0));
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
            prop_assert!((line.slope - slope).abs() < 1e-6);
            prop_assert!((line.intercept - intercept).abs() < 1e-6);
        }

        #[test]
        fn line_goes_through_the_centroid_and_r2_is_a_fraction(
            points in prop::collection::vec((0.0f64..1e3, -1e3f64..1e3), 3..40)
        ) {
            if let Some(line) = fit(&points) {
                let count = points.len() as f64;
                let x = points.iter().map(|point| point.0).sum::<f64>() / count;
                let y = points.iter().map(|point| point.1).sum::<f64>() / count;
                prop_assert!((line.slope * x + line.intercept - y).abs() < 1e-6);
                prop_assert!((0.0..=1.0 + 1e-12).contains(&line.r2));
            }
        }
    }
}
