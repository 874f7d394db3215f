//! The parts of the experiments that involve no runtime.
//!
//! All Rust contenders call these functions, so that a comparison covers only processes and
//! messages. Nothing here blocks.

use std::hint::black_box;
use std::time::Instant;

use crate::sample::Sample;

/// Initial value of a process's work.
pub const WORK_START: u64 = 1;

/// Does one piece of work: `steps` steps of `x = (20077 · x + 12345) mod 2^31`.
///
/// COST: a multiplication, an addition and a mask per step. The optimiser does not know the factor, so
/// it cannot combine several steps: other languages' compilers do not.
///
/// ```
/// use purlin_contender::{WORK_START, work};
///
/// let first = work(WORK_START, 1);
/// assert_eq!(first, 32_422);
/// assert_eq!(work(first, 1), work(WORK_START, 2));
/// ```
#[must_use]
#[inline(never)] // WHY: one body for all callers, so that all Rust contenders run the same code.
pub fn work(x: u64, steps: u64) -> u64 {
    let factor = black_box(20_077);
    let mut x = x & 0x7fff_ffff;
    for _ in 0..steps {
        x = (x * factor + 12_345) & 0x7fff_ffff;
    }
    black_box(x)
}

/// Counts down from `n` to 0, one step at a time, and returns the final value, 0.
///
/// COST: a subtraction and a branch per step. The optimiser knows neither that the step is 1 nor
/// that the loop ends, so it can neither shorten nor remove the loop. The loop does not access
/// memory, which would make the cost depend on the address of the stack.
#[must_use]
#[inline(never)] // WHY: one body for all callers, so that all Rust contenders run the same code.
pub fn count_down(n: u64) -> u64 {
    let step = black_box(1);
    let mut left = n;
    while left != 0 {
        left = left.wrapping_sub(step);
    }
    black_box(left)
}

/// Runs `tail-call`; with one repetition, the local half of `call-vs-send`.
#[must_use]
pub fn tail_call(n: u64, reps: u64) -> Sample {
    let start = Instant::now();
    let left = (0..reps).map(|_| count_down(n)).sum();
    Sample::new(start.elapsed(), (n * reps).saturating_sub(left), 0, 0).with("left", left)
}

/// Number of messages to send after each piece of work: `n` in total, evenly distributed.
///
/// After piece `i`, counted from 1, `floor(i · n / pieces)` messages have been sent.
///
/// ```
/// let due: Vec<_> = purlin_contender::Schedule::new(5, 3).collect();
/// assert_eq!(due, [1, 2, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    each: u64,
    rest: u64,
    carried: u64,
    pieces: u64,
    left: u64,
}

impl Schedule {
    /// Distributes `n` messages over this number of pieces.
    #[must_use]
    pub fn new(n: u64, pieces: u64) -> Self {
        let divisor = pieces.max(1);
        Schedule { each: n / divisor, rest: n % divisor, carried: 0, pieces, left: pieces }
    }
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.carried += self.rest;
        if self.carried >= self.pieces {
            self.carried -= self.pieces;
            Some(self.each + 1)
        } else {
            Some(self.each)
        }
    }
}

/// Divides `total` among `parts`: the remainder goes to the first.
///
/// ```
/// let shares: Vec<_> = purlin_contender::shares(11, 4).collect();
/// assert_eq!(shares, [5, 2, 2, 2]);
/// ```
pub fn shares(total: u64, parts: u64) -> impl Iterator<Item = u64> {
    let divisor = parts.max(1);
    let (each, rest) = (total / divisor, total % divisor);
    (0..parts).map(move |part| if part == 0 { each + rest } else { each })
}

/// Divides `total` into batches of at most 100, so that the cost of reading the clock around a
/// batch is negligible per item.
///
/// ```
/// let batches: Vec<_> = purlin_contender::batches(250).collect();
/// assert_eq!(batches, [100, 100, 50]);
/// ```
pub fn batches(total: u64) -> impl Iterator<Item = u64> {
    const MOST: u64 = 100;
    (0..total.div_ceil(MOST)).map(move |batch| MOST.min(total - batch * MOST))
}
