//! The statistics: medians, bootstrap intervals, ratios, lines of best fit, what differs, what
//! drifts, what lies apart.
//!
//! The results call these with figures in ns, ms or per second; nothing here
//! knows which. Everything is pure: resampling takes its seed from the caller,
//! so that the same samples always give the same interval. Nothing panics:
//! what cannot be computed is `None`.

mod bootstrap;
mod line;
mod outliers;
mod ranks;
mod trend;

pub use bootstrap::{Interval, median_interval, ratio_of_medians};
pub use line::{Line, fit};
pub use outliers::outliers;
pub use ranks::{discoveries, persistence, rank_sum};
pub use trend::{Trend, trend};

/// The middle of the values, between the two middle ones where their number is even.
///
/// `None` of no values. COST: a sorted copy.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    median_in_place(&mut sorted)
}

/// As [`median`], reordering the values instead of copying them.
fn median_in_place(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[half - 1];
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_median_of_nothing_is_none() {
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn an_even_number_of_values_has_its_median_in_the_middle() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Some(3.0));
    }

    proptest! {
        #[test]
        fn as_many_values_lie_below_the_median_as_above(values in prop::collection::vec(-1e9f64..1e9, 1..60)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|&&value| value < middle).count();
            let above = values.iter().filter(|&&value| value > middle).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }

        #[test]
        fn the_median_does_not_depend_on_the_order(mut values in prop::collection::vec(-1e9f64..1e9, 1..60)) {
            let before = median(&values);
            values.reverse();
            prop_assert_eq!(before, median(&values));
        }
    }
}
