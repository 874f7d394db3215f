//! The parts of the Savina experiments that involve no runtime, shared by all Rust contenders. Pure.

use std::collections::HashMap;

/// Initial balance of an account of `banking`.
pub const BALANCE: i64 = 1_000_000;

/// Number of keys of `dictionary`.
pub const KEYS: u64 = 65_536;

/// Colour of a creature of `chameneos`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Blue.
    Blue,
    /// Red.
    Red,
    /// Yellow.
    Yellow,
}

impl Colour {
    /// Returns the first colour of the creature with this number, from 0.
    #[must_use]
    pub fn of(creature: u64) -> Self {
        [Colour::Blue, Colour::Red, Colour::Yellow][(creature % 3) as usize]
    }

    /// Returns the colour after a meeting with a creature of the other colour: the same if both are
    /// equal, and the third one otherwise.
    #[must_use]
    pub fn complement(self, other: Self) -> Self {
        use Colour::{Blue, Red, Yellow};
        match (self, other) {
            (Blue, Blue) | (Red, Yellow) | (Yellow, Red) => Blue,
            (Red, Red) | (Blue, Yellow) | (Yellow, Blue) => Red,
            (Yellow, Yellow) | (Blue, Red) | (Red, Blue) => Yellow,
        }
    }
}

/// Creates the map of `dictionary`: every key with itself as the value.
#[must_use]
pub fn dictionary() -> HashMap<u64, u64> {
    (0..KEYS).map(|key| (key, key)).collect()
}

/// Returns whether a value may belong to a key: the initial one, or one that a worker wrote.
#[must_use]
pub fn is_value_of(key: u64, value: u64) -> bool {
    value % KEYS == key
}

/// Constants of one series of `logistic-map`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series {
    /// The rate of growth.
    pub rate: f64,
    /// The first term.
    pub start: f64,
}

impl Series {
    /// Returns the series with this number, from 0.
    #[must_use]
    pub fn new(i: u64) -> Self {
        Series { rate: (1384 + i) as f64 / 400.0, start: (i + 1) as f64 / 400.0 }
    }
}

/// Returns the term that follows `x`.
#[must_use]
pub fn logistic(rate: f64, x: f64) -> f64 {
    rate * x * (1.0 - x)
}

/// Returns `floor(x · 10^9)` of a term, for sums that do not depend on the order of their parts.
#[must_use]
pub fn scaled_term(x: f64) -> u64 {
    (x * 1e9).floor() as u64
}

/// Primes of one filter of `sieve`.
#[derive(Clone, Debug)]
pub struct Filter {
    primes: Vec<u64>,
    local: u64,
}

impl Filter {
    /// Creates a filter with its first prime and the maximum number of primes.
    #[must_use]
    pub fn new(first: u64, local: u64) -> Self {
        Filter { primes: vec![first], local }
    }

    /// Returns whether one of the primes divides the candidate.
    #[must_use]
    pub fn divides(&self, candidate: u64) -> bool {
        self.primes.iter().any(|prime| candidate.is_multiple_of(*prime))
    }

    /// Keeps a prime; returns `false` if the filter is full.
    pub fn keep(&mut self, prime: u64) -> bool {
        let room = (self.primes.len() as u64) < self.local;
        if room {
            self.primes.push(prime);
        }
        room
    }

    /// Returns the filter that begins with this prime, with the same maximum.
    #[must_use]
    pub fn next(&self, first: u64) -> Self {
        Filter::new(first, self.local)
    }

    /// Returns the number of primes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.primes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complement_is_symmetric_and_the_third_colour() {
        let all = [Colour::Blue, Colour::Red, Colour::Yellow];
        for (one, other) in all.iter().flat_map(|one| all.map(|other| (*one, other))) {
            let after = one.complement(other);
            assert_eq!(after, other.complement(one));
            assert_eq!(after == one, one == other);
        }
    }

    #[test]
    fn filter_is_full_after_its_number_of_primes() {
        let mut filter = Filter::new(2, 2);
        assert!(filter.divides(4) && !filter.divides(3));
        assert!(filter.keep(3) && !filter.keep(5));
        assert!(filter.divides(9) && !filter.divides(25));
        assert_eq!(filter.count(), 2);
    }

    #[test]
    fn series_of_the_logistic_map_stay_between_zero_and_one() {
        for series in (0..10).map(Series::new) {
            let term = (0..1000).fold(series.start, |x, _| logistic(series.rate, x));
            assert!((0.0..1.0).contains(&term) && scaled_term(term) < 1_000_000_000);
        }
    }
}
