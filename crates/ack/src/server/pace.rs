//! Whether to read at once, or to let more come first. Pure: the time is a value.
//!
//! Belongs to the reader of one connection, which says what each read found and is
//! told whether to linger before the next.
//!
//! A client that writes little at a time and does not wait for its acks can be read
//! from so often that each read finds one of its writes. Then it is the reads and
//! the acks that cost, on both sides. Who lets some microseconds pass finds more. But
//! a client that does wait loses that time in every round, and nobody can know
//! beforehand which it is. So it is tried, and what moves more bytes is kept:
//!
//! ```text
//!   eager, [`LOOK`] reads that found little, one right behind the other
//!     └─► trial, [`TRIAL`] reads ──faster──► lingering, [`KEPT`] reads ──► eager
//!              └─slower─► eager, and no trial for a while: [`KEPT`] reads, then twice as many, …
//!   whoever has to be woken: eager
//! ```
//!
//! COST: a few additions for each read.

use std::time::Duration;

/// How long it lingers.
pub(crate) const LINGERS: Duration = Duration::from_micros(20);

/// Reads that are looked at before a trial.
const LOOK: u32 = 64;
/// Reads of a trial.
const TRIAL: u32 = 16;
/// Reads until what was found is asked anew.
const KEPT: u32 = 1024;
/// The most reads until then, where trials have failed again and again.
const LONGEST: u32 = 1 << 16;
/// How many times as many bytes per second make a trial a success: less may be chance.
const PAYS: f64 = 1.1;
/// Bytes of a read on average that are not little.
const MUCH: u64 = 16 << 10;

/// How the reads of one connection follow on each other.
#[derive(Debug)]
pub(crate) struct Pace {
    phase: Phase,
    /// Reads that are left of the stretch.
    left: u32,
    /// Of the stretch so far.
    reads: u32,
    bytes: u64,
    began: Duration,
    /// Reads without a trial after the next one that fails.
    rest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Reads at once, and looks at what that finds.
    Eager,
    /// Reads at once, since nothing else has helped.
    Resting,
    /// Lingers, to see whether more bytes per second come than that.
    Trial(f64),
    /// Lingers.
    Lingering,
}

impl Pace {
    pub(crate) fn new(now: Duration) -> Self {
        Self { phase: Phase::Eager, left: LOOK, reads: 0, bytes: 0, began: now, rest: KEPT }
    }

    /// Whether to let some time pass before the next read.
    pub(crate) fn lingers(&self) -> bool {
        matches!(self.phase, Phase::Trial(_) | Phase::Lingering)
    }

    /// A read found so many bytes.
    pub(crate) fn read(&mut self, bytes: usize, now: Duration) {
        self.reads += 1;
        self.bytes += bytes as u64;
        self.left -= 1;
        if self.left == 0 {
            self.next(now);
        }
    }

    /// There was nothing for so long that it has been woken.
    pub(crate) fn woken(&mut self, now: impl FnOnce() -> Duration) {
        match self.phase {
            // WHY no new look: many are woken between all of their reads.
            Phase::Resting => {}
            Phase::Eager if self.reads == 0 => {}
            _ => self.enter(Phase::Eager, LOOK, now()),
        }
    }

    fn next(&mut self, now: Duration) {
        let rate = self.bytes as f64 / now.saturating_sub(self.began).as_secs_f64().max(1e-9);
        match self.phase {
            Phase::Eager if self.bytes < MUCH * u64::from(self.reads) => {
                self.enter(Phase::Trial(rate), TRIAL, now);
            }
            Phase::Trial(before) if rate > PAYS * before => {
                self.rest = KEPT;
                self.enter(Phase::Lingering, KEPT, now);
            }
            Phase::Trial(_) => {
                self.enter(Phase::Resting, self.rest, now);
                self.rest = self.rest.saturating_mul(2).min(LONGEST);
            }
            _ => self.enter(Phase::Eager, LOOK, now),
        }
    }

    fn enter(&mut self, phase: Phase, left: u32, now: Duration) {
        (self.phase, self.left, self.reads, self.bytes, self.began) = (phase, left, 0, 0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads so often, as a client lets it: bytes and microseconds of a read, eager and lingering.
    /// How many of the reads lingered.
    fn lingered(reads: u32, eager: (usize, u64), lingering: (usize, u64)) -> u32 {
        let mut now = Duration::ZERO;
        let mut pace = Pace::new(now);
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
    fn it_lingers_where_that_moves_more_and_asks_anew_now_and_then() {
        let all = 100_000;
        let stretch = LOOK + TRIAL + KEPT;
        let due = all / stretch * (TRIAL + KEPT);
        assert!(lingered(all, (850, 2), (17_000, 22)).abs_diff(due) < stretch);
    }

    #[test]
    fn a_client_in_lock_step_is_made_to_wait_less_and_less_often() {
        let lingered = lingered(1_000_000, (17, 30), (17, 50));
        assert!((1..=16 * 30).contains(&lingered), "{lingered}");
    }

    #[test]
    fn who_finds_much_never_lingers() {
        assert_eq!(lingered(100_000, (1 << 16, 20), (1 << 16, 1)), 0);
    }

    #[test]
    fn who_is_woken_is_eager() {
        let mut pace = Pace::new(Duration::ZERO);
        for _ in 0..LOOK {
            pace.read(17, Duration::from_micros(100));
        }
        assert!(pace.lingers());
        pace.woken(|| Duration::from_micros(200));
        assert!(!pace.lingers());
        for read in 0..10 * LOOK {
            pace.read(17, Duration::from_micros(300));
            pace.woken(|| Duration::from_micros(300));
            assert!(!pace.lingers(), "{read}");
        }
    }
}
