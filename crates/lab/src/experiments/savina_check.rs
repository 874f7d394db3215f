//! Expected results of the Savina programs, computed from the parameters. Pure.
//!
//! COST: a few milliseconds per sample at most.

use super::checks::asked;
use super::experiment::Params;

/// Modulus of both generators.
const MODULUS: u64 = 1 << 31;

/// Number of keys of `dictionary`.
const KEYS: u64 = 65_536;

/// One or more steps of the work of the protocol, as the map `x → (factor · x + term) mod 2^31`.
#[derive(Clone, Copy)]
struct Steps {
    factor: u64,
    term: u64,
}

impl Steps {
    /// Returns `count` steps in one.
    fn new(mut count: u64) -> Self {
        let mut all = Self { factor: 1, term: 0 };
        let mut power = Self { factor: 20_077, term: 12_345 };
        while count > 0 {
            if count % 2 == 1 {
                all = all.then(power);
            }
            power = power.then(power);
            count /= 2;
        }
        all
    }

    fn then(self, next: Self) -> Self {
        Self { factor: self.factor * next.factor % MODULUS, term: next.apply(self.term) }
    }

    fn apply(self, x: u64) -> u64 {
        (self.factor * x + self.term) % MODULUS
    }
}

/// Returns the state of a process's work after this number of steps.
pub(super) fn worked(steps: u64) -> u64 {
    Steps::new(steps).apply(1)
}

/// Returns the sum of the consumers' results of `bounded-buffer`.
pub(super) fn sink_of_buffer(params: &Params) -> u64 {
    let piece = Steps::new(asked(params, "cost"));
    let mut item = piece.apply(1);
    let each = (0..asked(params, "n")).fold(0, |sum, _| {
        item = piece.apply(item);
        (sum + item) % MODULUS
    });
    asked(params, "producers") * each % MODULUS
}

/// Returns the number of writes of `dictionary`.
pub(super) fn writes(params: &Params) -> u64 {
    let (percent, n) = (asked(params, "writes"), asked(params, "n"));
    let of_worker = |worker: u64| {
        let mut x = (worker * 1_073_741_789 + 1) % MODULUS;
        let mut below = |k: u64| {
            x = (20_077 * x + 12_345) % MODULUS;
            x * k / MODULUS
        };
        let mut writes = 0;
        for _ in 0..n {
            let write = below(100) < percent;
            below(KEYS);
            if write {
                below(1000);
                writes += 1;
            }
        }
        writes
    };
    (0..asked(params, "workers")).map(of_worker).sum()
}

/// Returns the sum of `floor(x · 10^9)` of the last terms of `logistic-map`.
pub(super) fn terms(params: &Params) -> u64 {
    let last = |i: u64| {
        let (rate, start) = ((1384 + i) as f64 / 400.0, (i + 1) as f64 / 400.0);
        let term = (0..asked(params, "terms")).fold(start, |x, _| rate * x * (1.0 - x));
        (term * 1e9).floor() as u64
    };
    (0..asked(params, "series")).map(last).sum()
}

/// Returns the number of primes up to n.
pub(super) fn primes(n: u64) -> u64 {
    let n = n as usize;
    let mut divisible = vec![false; n + 1];
    let mut count = 0;
    for candidate in 2..=n {
        if !divisible[candidate] {
            count += 1;
            for multiple in (candidate * candidate..=n).step_by(candidate) {
                divisible[multiple] = true;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::points::params;

    #[test]
    fn many_steps_in_one_equal_as_many_single_steps() {
        let singly = |steps| (0..steps).fold(1, |x, _| (x * 20_077 + 12_345) % MODULUS);
        for steps in [0, 1, 2, 3, 1000, 2500] {
            assert_eq!(worked(steps), singly(steps));
        }
        let asked = params([("producers", 3), ("cost", 7), ("n", 2)]);
        assert_eq!(sink_of_buffer(&asked), 3 * (singly(14) + singly(21)) % MODULUS);
    }

    #[test]
    fn known_numbers_of_primes() {
        assert_eq!([2, 3, 4, 100, 20_000].map(primes), [1, 2, 2, 25, 2262]);
    }

    #[test]
    fn share_of_writes_is_as_requested() {
        let of = |percent| writes(&params([("workers", 20), ("writes", percent), ("n", 5000)]));
        assert_eq!((of(0), of(100)), (0, 100_000));
        assert!((9500..10_500).contains(&of(10)));
    }

    #[test]
    fn terms_before_the_first_step_are_the_start_values() {
        let start = terms(&params([("series", 2), ("terms", 0)]));
        assert_eq!(start, 2_500_000 + 5_000_000);
    }
}
