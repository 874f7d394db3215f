//! Round trips while other processes compute: starts, end, and latency of the trips.
//!
//! A [`Probe`] belongs to one run of `hog` and to the thread that serves the lab. That thread is not a thread of the
//! runtime under test, so neither the start times nor the end of the run depend on a runtime whose threads may all be
//! busy. Every participating process holds a [`Participant`], its handle to the run. At the end, the probe waits until all
//! participants are dropped, so that no process of this run is active in the next one.
//!
//! # States of a run
//!
//! 1. Round trips start, for the requested time.
//! 2. *Over*: no further trip starts; trips in progress have [`COMPLETION_TIMEOUT`] to complete.
//! 3. *Stopped*: the computing processes end, and trips that complete from now on are not counted. The run is *starved*
//!    if a trip was still in progress.
//!
//! COST: an uncontended lock and a clock reading per trip.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::local::{WORK_START, work};
use crate::run::{Hog, LoopKind};
use crate::sample::Sample;

/// Time for trips in progress to complete after the last start.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between starts of the open loop.
const TICK: Duration = Duration::from_millis(1);

/// Steps of work between two checks of the stop flag: a few microseconds.
const CHECK_INTERVAL: u64 = 4096;

/// Command to the process that starts the trips.
#[derive(Clone, Copy, Debug)]
pub enum Tell {
    /// Start a round trip that was due at this time.
    Start(Instant),
    /// End, and make the partner end.
    End,
}

/// One run of `hog`.
#[derive(Debug)]
pub struct Probe {
    hog: Hog,
    completion_timeout: Duration,
    participant: Participant,
    empty: Receiver<Infallible>,
}

/// Handle of one process to a run; the process counts as ended when its last clone is dropped.
#[derive(Clone, Debug)]
pub struct Participant {
    trips: Arc<Trips>,
    /// No value is ever sent: the probe waits until all senders are dropped.
    _taken: Sender<Infallible>,
}

#[derive(Debug)]
struct Trips {
    pace: LoopKind,
    over: AtomicBool,
    stopped: AtomicBool,
    started: AtomicU64,
    back: AtomicU64,
    times: Mutex<Histogram<u64>>,
}

impl Probe {
    /// Creates a run.
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
            completion_timeout: COMPLETION_TIMEOUT,
            participant: Participant { trips: Arc::new(trips), _taken: taken },
            empty,
        }
    }

    /// Returns a handle for one more process.
    #[must_use]
    pub fn participant(&self) -> Participant {
        self.participant.clone()
    }

    /// Runs: issues the start and end commands through `command`, waits until all participants are dropped, and returns the
    /// sample.
    ///
    /// Blocks the calling thread, which must not be a thread of the runtime under test.
    #[must_use]
    pub fn run(self, mut command: impl FnMut(Tell)) -> Sample {
        wake_in_time();
        let trips = Arc::clone(&self.participant.trips);
        let begin = Instant::now();
        let starts = if self.hog.pace == LoopKind::Open { self.hog.ms } else { 1 };
        let mut due = begin;
        for _ in 0..starts {
            sleep_until(due);
            trips.started.fetch_add(1, Ordering::Relaxed);
            command(Tell::Start(due));
            due += TICK;
        }
        sleep_until(begin + Duration::from_millis(self.hog.ms));
        trips.over.store(true, Ordering::Relaxed);
        let completion_timeout = Instant::now() + self.completion_timeout;
        let (started, back) = loop {
            // ORDER: acquire, pairs with the release in `Participant::back`: the start of every trip counted as completed is
            // visible below, so the number of completed trips never exceeds that of started ones.
            let back = trips.back.load(Ordering::Acquire);
            let started = trips.started.load(Ordering::Relaxed);
            if back == started || Instant::now() > completion_timeout {
                break (started, back);
            }
            thread::sleep(TICK);
        };
        trips.stopped.store(true, Ordering::Relaxed);
        let elapsed = begin.elapsed();
        command(Tell::End);
        drop(command);
        drop(self.participant);
        // Returns an error when the last participant is dropped; a value cannot arrive.
        let _ = self.empty.recv();
        trips.sample(elapsed, started, back)
    }
}

impl Participant {
    /// Computes without pause until the run is stopped.
    pub fn compute(&self) {
        let mut x = WORK_START;
        while !self.trips.stopped.load(Ordering::Relaxed) {
            x = work(x, CHECK_INTERVAL);
        }
        black_box(x);
    }

    /// Records the completion of a trip that was due to start at `start`. Returns the start time of the next trip if it
    /// must start now.
    #[must_use]
    pub fn back(&self, start: Instant) -> Option<Instant> {
        if self.trips.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let now = Instant::now();
        self.trips.times().saturating_record(nanoseconds(now.saturating_duration_since(start)));
        // ORDER: release, publishes the start of this trip before `Probe::run` counts it as completed.
        self.trips.back.fetch_add(1, Ordering::Release);
        if self.trips.pace == LoopKind::Open || self.trips.over.load(Ordering::Relaxed) {
            return None;
        }
        self.trips.started.fetch_add(1, Ordering::Relaxed);
        Some(now)
    }
}

impl Trips {
    fn times(&self) -> MutexGuard<'_, Histogram<u64>> {
        // A panic while the lock is held leaves a valid histogram.
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

/// Creates a histogram in nanoseconds, with three significant digits, up to 2^40 ns (18 minutes).
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
    // A sleep may end slightly early.
    while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    {
        thread::sleep(left);
    }
}

/// Asks Linux to end sleeps of this thread without slack. The default slack of up to 50 µs would be counted as the
/// runtime's latency.
fn wake_in_time() {
    // Applies to the main thread, on Linux only; elsewhere starts are slightly late.
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Starts two threads: one starts the trips, the other answers.
    fn two_threads(probe: &Probe, answers: bool) -> Sender<Tell> {
        let (tx, rx): (Sender<Tell>, Receiver<Tell>) = channel();
        let (ping, pinged) = channel::<Instant>();
        let (pong, ponged) = channel::<Instant>();
        let participant = probe.participant();
        thread::spawn(move || {
            while let Ok(Tell::Start(due)) = rx.recv() {
                let mut next = Some(due);
                while let Some(start) = next {
                    // Fails if the other thread does not answer; then no trip completes either.
                    let _ = ping.send(start);
                    next = ponged.recv().ok().and_then(|start| participant.back(start));
                }
            }
        });
        let participant = probe.participant();
        thread::spawn(move || {
            for start in pinged.iter().take_while(|_| answers) {
                pong.send(start).unwrap();
            }
            drop(participant);
        });
        tx
    }

    fn figure(sample: &Sample, name: &str) -> u64 {
        sample.extra.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// WHY real time: a guard against hanging, thousands of times the duration of a trip between two threads.
    const HANG: Duration = Duration::from_secs(120);

    #[test]
    fn open_loop_starts_a_trip_every_millisecond_and_all_complete() {
        let probe = Probe::new(Hog { pace: LoopKind::Open, hogs: 0, ms: 20 });
        let probe = Probe { completion_timeout: HANG, ..probe };
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
    fn closed_loop_starts_the_next_trip_when_the_last_completes() {
        let probe = Probe::new(Hog { pace: LoopKind::Closed, hogs: 0, ms: 1 });
        let probe = Probe { completion_timeout: HANG, ..probe };
        let first = two_threads(&probe, true);
        let trips = Arc::clone(&probe.participant.trips);
        let sample = probe.run(move |what| {
            first.send(what).unwrap();
            // The run continues after three trips, and is over at most 1 ms after its start.
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
    fn incomplete_trips_starve_the_run_and_computing_processes_end() {
        let probe = Probe::new(Hog { pace: LoopKind::Open, hogs: 1, ms: 3 });
        // WHY real time: no trip completes, so the run waits for this time, whatever its value.
        let probe = Probe { completion_timeout: Duration::from_millis(20), ..probe };
        let first = two_threads(&probe, false);
        let hog = probe.participant();
        thread::spawn(move || hog.compute());
        let sample = probe.run(move |what| {
            let _ = first.send(what);
        });
        assert_eq!((sample.ops, sample.sent, sample.received), (0, 3, 0));
        assert_eq!((figure(&sample, "starved"), figure(&sample, "max_ns")), (1, 0));
    }
}
