//! Round trips while others compute: when one starts, when it is enough, and what each took.
//!
//! One [`Probe`] belongs to one run of `hog` and to the thread that serves the lab. That thread is
//! none of the runtime's, so that neither the pace of the starts nor the end of the run depends on
//! a runtime whose threads may all be taken. Every process that takes part has a [`Seat`]; when the
//! run is over the probe waits until all seats are empty, so that nothing of it runs into the next
//! one.
//!
//! # The states of a run
//!
//! 1. Trips start, for as long as was asked.
//! 2. *Over*: no trip starts any more; those under way have [`PATIENCE`] to come back.
//! 3. *Stopped*: those that compute end, and what comes back now counts for nothing. The run is
//!    *starved* if a trip was still under way.
//!
//! COST: a lock that nobody contends for and a clock reading for each trip.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::local::{WORK_START, work};
use crate::run::{Hog, Pace};
use crate::sample::Sample;

/// How long a trip may still be under way when no other starts any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// From one start to the next, where the loop is open.
const TICK: Duration = Duration::from_millis(1);

/// Steps of work between two looks at whether to stop: some microseconds.
const LOOK_EVERY: u64 = 4096;

/// What the process that starts the trips is told.
#[derive(Clone, Copy, Debug)]
pub enum Tell {
    /// Start a round trip, which was due at this time.
    Start(Instant),
    /// End, and tell the partner.
    End,
}

/// One run of `hog`.
#[derive(Debug)]
pub struct Probe {
    hog: Hog,
    patience: Duration,
    seat: Seat,
    empty: Receiver<Infallible>,
}

/// The place of one process in a run. It is empty when its last clone is dropped.
#[derive(Clone, Debug)]
pub struct Seat {
    trips: Arc<Trips>,
    /// Nothing is ever sent: the probe waits for the end of all senders.
    _taken: Sender<Infallible>,
}

#[derive(Debug)]
struct Trips {
    pace: Pace,
    over: AtomicBool,
    stopped: AtomicBool,
    started: AtomicU64,
    back: AtomicU64,
    times: Mutex<Histogram<u64>>,
}

impl Probe {
    /// A run that has not begun.
    #[must_use]
    pub fn new(hog: Hog) -> Self {
        let trips = Trips {
            pace: hog.pace,
            over: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            started: AtomicU64::new(0),
            back: AtomicU64::new(0),
            times: Mutex::new(times()),
        };
        let (taken, empty) = channel();
        Probe {
            hog,
            patience: PATIENCE,
            seat: Seat { trips: Arc::new(trips), _taken: taken },
            empty,
        }
    }

    /// The place of one process more.
    #[must_use]
    pub fn seat(&self) -> Seat {
        self.seat.clone()
    }

    /// Runs, tells when to start and when to end, and reports when all seats are empty.
    ///
    /// Blocks the thread, which must be none of the runtime's.
    #[must_use]
    pub fn run(self, mut tell: impl FnMut(Tell)) -> Sample {
        wake_in_time();
        let trips = Arc::clone(&self.seat.trips);
        let begin = Instant::now();
        let starts = if self.hog.pace == Pace::Open { self.hog.ms } else { 1 };
        let mut due = begin;
        for _ in 0..starts {
            sleep_until(due);
            trips.started.fetch_add(1, Ordering::Relaxed);
            tell(Tell::Start(due));
            due += TICK;
        }
        sleep_until(begin + Duration::from_millis(self.hog.ms));
        trips.over.store(true, Ordering::Relaxed);
        let patience = Instant::now() + self.patience;
        let (started, back) = loop {
            // ORDER: acquire, with the release in `Seat::back`: the start of every trip that is
            // counted as back is seen below, so that no more can be back than have started.
            let back = trips.back.load(Ordering::Acquire);
            let started = trips.started.load(Ordering::Relaxed);
            if back == started || Instant::now() > patience {
                break (started, back);
            }
            thread::sleep(TICK);
        };
        trips.stopped.store(true, Ordering::Relaxed);
        let elapsed = begin.elapsed();
        tell(Tell::End);
        drop(tell);
        drop(self.seat);
        // Nothing can arrive: this is the end of the last seat.
        let _ = self.empty.recv();
        trips.sample(elapsed, started, back)
    }
}

impl Seat {
    /// Computes without a pause until the run is stopped.
    pub fn compute(&self) {
        let mut x = WORK_START;
        while !self.trips.stopped.load(Ordering::Relaxed) {
            x = work(x, LOOK_EVERY);
        }
        black_box(x);
    }

    /// A trip is back that was due to start at that time. Gives the time at which the next one
    /// starts, if it is to start now.
    #[must_use]
    pub fn back(&self, start: Instant) -> Option<Instant> {
        if self.trips.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let now = Instant::now();
        self.trips.times().saturating_record(nanoseconds(now.saturating_duration_since(start)));
        // ORDER: release, for the start of this trip, which `Probe::run` counts after it.
        self.trips.back.fetch_add(1, Ordering::Release);
        if self.trips.pace == Pace::Open || self.trips.over.load(Ordering::Relaxed) {
            return None;
        }
        self.trips.started.fetch_add(1, Ordering::Relaxed);
        Some(now)
    }
}

impl Trips {
    fn times(&self) -> MutexGuard<'_, Histogram<u64>> {
        // A panic with the lock held leaves a histogram that is whole all the same.
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sample(&self, elapsed: Duration, started: u64, back: u64) -> Sample {
        let times = self.times();
        Sample::new(elapsed, back, started, back)
            .with("starved", u64::from(back < started))
            .with("p50_ns", times.value_at_quantile(0.5))
            .with("p99_ns", times.value_at_quantile(0.99))
            .with("max_ns", times.max())
    }
}

/// Nanoseconds up to ten minutes and more, to three digits.
fn times() -> Histogram<u64> {
    match Histogram::new_with_max(1 << 40, 3) {
        Ok(times) => times,
        Err(_) => unreachable!("the bounds are constant and in order"),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn sleep_until(due: Instant) {
    // A sleep may end early by a little.
    while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    {
        thread::sleep(left);
    }
}

/// Asks Linux to end the sleeps of this thread when they are due. It may otherwise add up to 50 µs,
/// which would all be counted as the runtime's.
fn wake_in_time() {
    // It speaks of the main thread only, and only Linux has it; elsewhere starts are a little late.
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Two threads: one that starts the trips and one that answers.
    fn two_threads(probe: &Probe, answers: bool) -> Sender<Tell> {
        let (tell, told): (Sender<Tell>, Receiver<Tell>) = channel();
        let (ping, pinged) = channel::<Instant>();
        let (pong, ponged) = channel::<Instant>();
        let seat = probe.seat();
        thread::spawn(move || {
            while let Ok(Tell::Start(due)) = told.recv() {
                let mut next = Some(due);
                while let Some(start) = next {
                    // Fails if nobody answers; then nothing comes back either.
                    let _ = ping.send(start);
                    next = ponged.recv().ok().and_then(|start| seat.back(start));
                }
            }
        });
        let seat = probe.seat();
        thread::spawn(move || {
            for start in pinged.iter().take_while(|_| answers) {
                pong.send(start).unwrap();
            }
            drop(seat);
        });
        tell
    }

    fn figure(sample: &Sample, name: &str) -> u64 {
        sample.extra.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// WHY real time: a guard against hanging, thousands of times what a trip between two threads takes.
    const HANG: Duration = Duration::from_secs(120);

    #[test]
    fn an_open_loop_starts_a_trip_every_millisecond_and_all_come_back() {
        let probe = Probe::new(Hog { pace: Pace::Open, hogs: 0, ms: 20 });
        let probe = Probe { patience: HANG, ..probe };
        let first = two_threads(&probe, true);
        let sample = probe.run(move |what| first.send(what).unwrap());
        assert_eq!((sample.ops, sample.sent, sample.received), (20, 20, 20));
        assert_eq!(figure(&sample, "starved"), 0);
        assert!(figure(&sample, "p50_ns") <= figure(&sample, "p99_ns"));
        assert!(figure(&sample, "p99_ns") <= figure(&sample, "max_ns"));
        // WHY real time: a lower bound. The last trip is due to start after 19 ms and does not start sooner.
        assert!(sample.elapsed_ns >= 19_000_000);
    }

    #[test]
    fn a_closed_loop_starts_the_next_trip_when_the_last_is_back() {
        let probe = Probe::new(Hog { pace: Pace::Closed, hogs: 0, ms: 1 });
        let probe = Probe { patience: HANG, ..probe };
        let first = two_threads(&probe, true);
        let trips = Arc::clone(&probe.seat.trips);
        let sample = probe.run(move |what| {
            first.send(what).unwrap();
            // The run continues after three trips, and is over at most a millisecond after its start.
            let began = Instant::now();
            while matches!(what, Tell::Start(_)) && trips.back.load(Ordering::Acquire) < 3 {
                assert!(began.elapsed() < HANG, "no trip follows the last");
                thread::yield_now();
            }
        });
        assert!(sample.ops >= 3);
        assert_eq!((sample.sent, sample.received), (sample.ops, sample.ops));
    }

    #[test]
    fn trips_that_do_not_come_back_starve_the_run_and_those_that_compute_end() {
        let probe = Probe::new(Hog { pace: Pace::Open, hogs: 1, ms: 3 });
        // WHY real time: no trip comes back, so the run waits for this long, whatever it is.
        let probe = Probe { patience: Duration::from_millis(20), ..probe };
        let first = two_threads(&probe, false);
        let hog = probe.seat();
        thread::spawn(move || hog.compute());
        let sample = probe.run(move |what| {
            let _ = first.send(what);
        });
        assert_eq!((sample.ops, sample.sent, sample.received), (0, 3, 0));
        assert_eq!((figure(&sample, "starved"), figure(&sample, "max_ns")), (1, 0));
    }
}
