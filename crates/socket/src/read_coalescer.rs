//! Read coalescer: decides whether to read immediately or to let more data arrive first. Pure: time
//! is an argument.
//!
//! The reader of a connection reports the size of each read and asks whether to linger before the
//! next one.
//!
//! A client that writes small amounts and does not wait for its acks can be read so fast that each
//! read finds a single write. The reads and acks then dominate the cost on both sides. Waiting some
//! microseconds makes each read larger. A client that does wait for its acks, however, loses that
//! time in every round, and the two cannot be told apart in advance. The coalescer therefore tries
//! lingering and keeps it if it moves more bytes per second:
//!
//! ```text
//!   eager, [`READS_BEFORE_TRIAL`] small reads in a row
//!     └─► trial, [`TRIAL`] reads ──faster──► lingering, [`KEPT`] reads ──► eager
//!              └─slower─► eager without a trial: [`KEPT`] reads, then twice as many, …
//!   after a wait for a wakeup, or any other restart: eager
//! ```
//!
//! COST: a few additions per read.

use std::time::Duration;

/// Linger time before a read.
pub const LINGERS: Duration = Duration::from_micros(20);

/// Number of reads observed before a trial.
const READS_BEFORE_TRIAL: u32 = 64;
/// Number of reads in a trial.
const TRIAL: u32 = 16;
/// Number of reads for which the result of a trial holds.
const KEPT: u32 = 1024;
/// Upper bound of that number after repeated failed trials.
const LONGEST: u32 = 1 << 16;
/// Minimum speedup in bytes per second for a successful trial; less may be noise.
const PAYS: f64 = 1.1;
/// Average bytes per read from which reads are not small.
const MUCH: u64 = 16 << 10;

/// Read coalescer of one connection.
#[derive(Debug)]
pub struct ReadCoalescer {
    phase: Phase,
    /// Reads left in the current phase.
    left: u32,
    /// Reads in the current phase so far.
    reads: u32,
    bytes: u64,
    began: Duration,
    /// Length in reads of the resting phase after the next failed trial.
    rest: u32,
}

/// Phase of the read coalescer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Reads immediately and measures the rate.
    Eager,
    /// Reads immediately, after a failed trial.
    Resting,
    /// Lingers and compares the rate with this one, in bytes per second.
    Trial(f64),
    /// Lingers.
    Lingering,
}

impl ReadCoalescer {
    /// Creates the read coalescer of a new connection.
    #[must_use]
    pub fn new(now: Duration) -> Self {
        Self {
            phase: Phase::Eager,
            left: READS_BEFORE_TRIAL,
            reads: 0,
            bytes: 0,
            began: now,
            rest: KEPT,
        }
    }

    /// Whether to linger before the next read.
    #[must_use]
    pub fn lingers(&self) -> bool {
        matches!(self.phase, Phase::Trial(_) | Phase::Lingering)
    }

    /// Whether to linger because a trial has succeeded.
    #[must_use]
    pub fn has_succeeded(&self) -> bool {
        self.phase == Phase::Lingering
    }

    /// Records a read of `bytes` bytes.
    pub fn read(&mut self, bytes: usize, now: Duration) {
        self.reads += 1;
        self.bytes += bytes as u64;
        self.left -= 1;
        if self.left == 0 {
            self.next(now);
        }
    }

    /// Restarts with eager reads, because the reader had to wait for a wakeup, or must not linger now.
    /// After a failed trial it has no effect.
    pub fn restart(&mut self, now: impl FnOnce() -> Duration) {
        match self.phase {
            // WHY no new measurement: many clients cause a wakeup between all of their reads.
            Phase::Resting => {}
            Phase::Eager if self.reads == 0 => {}
            _ => self.enter(Phase::Eager, READS_BEFORE_TRIAL, now()),
        }
    }

    /// As [`ReadCoalescer::restart`], but a trial ends with the reads and the time it has had, and may fail. For a linger
    /// time so long that a failed trial must not be repeated soon, and that a stream may end before the trial does.
    pub fn interrupt(&mut self, now: impl FnOnce() -> Duration) {
        let Phase::Trial(before) = self.phase else { return self.restart(now) };
        let now = now();
        if self.rate(now) > PAYS * before {
            self.rest = KEPT;
            self.enter(Phase::Eager, READS_BEFORE_TRIAL, now);
        } else {
            self.rest(now);
        }
    }

    /// Bytes per second of the current phase.
    fn rate(&self, now: Duration) -> f64 {
        self.bytes as f64 / now.saturating_sub(self.began).as_secs_f64().max(1e-9)
    }

    fn next(&mut self, now: Duration) {
        let rate = self.rate(now);
        match self.phase {
            Phase::Eager if self.bytes < MUCH * u64::from(self.reads) => {
                self.enter(Phase::Trial(rate), TRIAL, now);
            }
            Phase::Trial(before) if rate > PAYS * before => {
                self.rest = KEPT;
                self.enter(Phase::Lingering, KEPT, now);
            }
            Phase::Trial(_) => self.rest(now),
            _ => self.enter(Phase::Eager, READS_BEFORE_TRIAL, now),
        }
    }

    /// Rests after a failed trial.
    fn rest(&mut self, now: Duration) {
        self.enter(Phase::Resting, self.rest, now);
        self.rest = self.rest.saturating_mul(2).min(LONGEST);
    }

    fn enter(&mut self, phase: Phase, left: u32, now: Duration) {
        (self.phase, self.left, self.reads, self.bytes, self.began) = (phase, left, 0, 0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates `reads` reads of a client, given the bytes and microseconds of an eager and of a
    /// lingering read. Returns how many of the reads lingered.
    fn lingered(reads: u32, eager: (usize, u64), lingering: (usize, u64)) -> u32 {
        let mut now = Duration::ZERO;
        let mut pace = ReadCoalescer::new(now);
        let mut lingered = 0;
        for _ in 0..reads {
            let (bytes, micros) = if pace.lingers() { lingering } else { eager };
            lingered += u32::from(pace.lingers());
            now += Duration::from_micros(micros);
            pace.read(bytes, now);
        }
        lingered
    }

    #[test]
    fn lingers_if_throughput_rises_and_repeats_the_trial() {
        let all = 100_000;
        let stretch = READS_BEFORE_TRIAL + TRIAL + KEPT;
        let due = all / stretch * (TRIAL + KEPT);
        assert!(lingered(all, (850, 2), (17_000, 22)).abs_diff(due) < stretch);
    }

    #[test]
    fn trials_become_rarer_for_a_lock_step_client() {
        let lingered = lingered(1_000_000, (17, 30), (17, 50));
        assert!((1..=16 * 30).contains(&lingered), "{lingered}");
    }

    #[test]
    fn large_reads_never_linger() {
        assert_eq!(lingered(100_000, (1 << 16, 20), (1 << 16, 1)), 0);
    }

    #[test]
    fn restart_makes_reads_eager() {
        let mut pace = ReadCoalescer::new(Duration::ZERO);
        for _ in 0..READS_BEFORE_TRIAL {
            pace.read(17, Duration::from_micros(100));
        }
        assert!(pace.lingers() && !pace.has_succeeded());
        pace.restart(|| Duration::from_micros(200));
        assert!(!pace.lingers());
        for read in 0..10 * READS_BEFORE_TRIAL {
            pace.read(17, Duration::from_micros(300));
            pace.restart(|| Duration::from_micros(300));
            assert!(!pace.lingers(), "{read}");
        }
    }

    /// Simulates a client that sends 1000 bursts of `writes` writes of 17 bytes, one in 5 µs, and then a request, and waits
    /// for its answer. A reader that lingers does so for 1 ms. Returns in how many of the bursts the reader lingered.
    fn bursts_with_linger(writes: u64) -> u32 {
        let (mut now, mut pace) = (Duration::ZERO, ReadCoalescer::new(Duration::ZERO));
        let mut bursts = 0;
        for _ in 0..1000 {
            let (mut left, mut lingered) = (writes, false);
            while left > 0 {
                let (count, micros) = if pace.lingers() { (left.min(500), 1000) } else { (1, 5) };
                lingered |= pace.lingers();
                now += Duration::from_micros(micros);
                pace.read(17 * count as usize, now);
                left -= count;
            }
            bursts += u32::from(lingered);
            pace.interrupt(|| now);
        }
        bursts
    }

    #[test]
    fn trials_interrupted_by_a_request_become_rarer() {
        let bursts = bursts_with_linger(70);
        assert!((1..=10).contains(&bursts), "{bursts}");
    }

    #[test]
    fn trial_interrupted_by_the_end_of_a_stream_succeeds_if_throughput_rose() {
        assert_eq!(bursts_with_linger(64 + 500 * u64::from(TRIAL) / 2), 1000);
    }
}
