//! Stress tests: seeded random numbers, and a number of rounds that the environment can set.

use std::env;
use std::hash::{BuildHasher, RandomState};

/// Random number generator (xorshift64*) with a seed, so that a run can be repeated.
#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }
}

/// Runs `usual` rounds, or as many as `PURLIN_STRESS` says, with consecutive seeds starting at
/// `PURLIN_SEED`.
pub(crate) fn rounds(usual: u64, round: impl FnMut(u64)) {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("PURLIN_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("PURLIN_SEED={seed}");
    let rounds = number("PURLIN_STRESS").unwrap_or(usual);
    (0..rounds).map(|n| seed.wrapping_add(n)).for_each(round);
}
