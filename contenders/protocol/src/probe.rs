//! Round trips while other processes compute: due times, end, and latency of the trips.
//!
//! A [`Probe`] belongs to one run of `hog`. The timers of the runtime under test start the trips; the thread that serves
//! the lab only watches. It is not a thread of the runtime, so that a run ends even if all of the runtime's threads are
//! busy. Every participating process holds a [`Participant`], its handle to the run. At the end, the probe waits until
//! all participants are dropped, so that no process of this run is active in the next one.
//!
//! # States of a run
//!
//! 1. Round trips start and complete.
//! 2. *Over*: all trips have completed, or [`COMPLETION_TIMEOUT`] has passed since the last one was due. All processes
//!    end, and trips that complete from now on are not counted. The run is *starved* if a trip was missing.
//!
//! COST: an uncontended lock and a clock reading per trip and per timer.

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

/// Time for trips in progress to complete after the last one was due.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between the starts of the open loop.
pub const TRIP_INTERVAL: Duration = Duration::from_millis(1);

/// Time from the creation of a run to its first trip: all processes are spawned and all timers set meanwhile.
const LEAD: Duration = Duration::from_millis(5);

/// Interval at which the probe checks whether the run is over.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);

/// Steps of work between two checks whether the run is over: a few microseconds.
const CHECK_INTERVAL: u64 = 4096;

/// One run of `hog`.
#[derive(Debug)]
pub struct Probe {
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
    hog: Hog,
    begin: Instant,
    over: AtomicBool,
    back: AtomicU64,
    times: Mutex<Histogram<u64>>,
    late: Mutex<Histogram<u64>>,
}

impl Probe {
    /// Creates a run, which begins a few milliseconds later.
    #[must_use]
    pub fn new(hog: Hog) -> Self {
        Self::with_begin(hog, Instant::now() + LEAD)
    }

    fn with_begin(hog: Hog, begin: Instant) -> Self {
        let trips = Trips {
            hog,
            begin,
            over: AtomicBool::new(false),
            back: AtomicU64::new(0),
            times: Mutex::new(times()),
            late: Mutex::new(times()),
        };
        let (taken, empty) = channel();
        let participant = Participant { trips: Arc::new(trips), _taken: taken };
        Probe { completion_timeout: COMPLETION_TIMEOUT, participant, empty }
    }

    /// Returns a handle for one more process.
    #[must_use]
    pub fn participant(&self) -> Participant {
        self.participant.clone()
    }

    /// Waits until the run is over and all participants are dropped. Returns the sample.
    ///
    /// Blocks the calling thread, which must not be a thread of the runtime under test.
    #[must_use]
    pub fn run(self) -> Sample {
        let trips = Arc::clone(&self.participant.trips);
        let end = trips.end() + self.completion_timeout;
        let complete = loop {
            // ORDER: acquire, pairs with the release in `Participant::back`: the last trip is counted below.
            if trips.over.load(Ordering::Acquire) {
                break true;
            }
            if Instant::now() > end {
                break false;
            }
            thread::sleep(WATCH_INTERVAL);
        };
        trips.over.store(true, Ordering::Relaxed);
        let elapsed = trips.begin.elapsed();
        // ORDER: acquire, pairs with the release in `Participant::back`: the times of the trips that are counted are
        // recorded.
        let back = trips.back.load(Ordering::Acquire);
        drop(self.participant);
        // Returns an error when the last participant is dropped; a value cannot arrive.
        let _ = self.empty.recv();
        let started = match trips.hog.pace {
            LoopKind::Open => trips.hog.ms,
            LoopKind::Closed => back + u64::from(!complete),
        };
        trips.sample(elapsed, started, back)
    }
}

impl Participant {
    /// Returns when the first trip is due, and the number of trips that timers of the runtime start, at
    /// [`TRIP_INTERVAL`]: all of an open loop, and the first of a closed one.
    #[must_use]
    pub fn starts(&self) -> (Instant, u32) {
        let Trips { hog, begin, .. } = &*self.trips;
        let starts = if hog.pace == LoopKind::Open { hog.ms } else { 1 };
        // A run takes at most MS_MAX milliseconds, which fits.
        (*begin, u32::try_from(starts).unwrap_or(u32::MAX))
    }

    /// Returns the times at which the trips of [`starts`](Self::starts) are due.
    pub fn due(&self) -> impl Iterator<Item = Instant> + Send + use<> {
        let (begin, starts) = self.starts();
        (0..starts).map(move |start| begin + TRIP_INTERVAL * start)
    }

    /// Records that the timer of a trip has fired. Returns the start time of the trip, which it must carry.
    #[must_use]
    pub fn start(&self, due: Instant) -> Instant {
        let now = Instant::now();
        if self.trips.hog.pace == LoopKind::Closed {
            return now;
        }
        record(&self.trips.late, now.saturating_duration_since(due));
        due
    }

    /// Records the completion of a trip that started at `start`. Returns the start time of the next trip if it must
    /// start now.
    #[must_use]
    pub fn back(&self, start: Instant) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let trips = &*self.trips;
        let now = Instant::now();
        record(&trips.times, now.saturating_duration_since(start));
        // ORDER: release, publishes the time of this trip before `Probe::run` counts it as completed.
        let back = trips.back.fetch_add(1, Ordering::Release) + 1;
        let next = trips.hog.pace == LoopKind::Closed && now < trips.end();
        if !next && (trips.hog.pace == LoopKind::Closed || back == trips.hog.ms) {
            // ORDER: release, publishes the count of the last trip before `Probe::run` reads that the run is over.
            trips.over.store(true, Ordering::Release);
        }
        next.then_some(now)
    }

    /// Returns whether the run is over: the process must end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.trips.is_over()
    }

    /// Computes without pause until the run is over.
    pub fn compute(&self) {
        let mut x = WORK_START;
        while !self.is_over() {
            x = work(x, CHECK_INTERVAL);
        }
        black_box(x);
    }
}

impl Trips {
    fn is_over(&self) -> bool {
        // ORDER: relaxed: no other data depends on the flag.
        self.over.load(Ordering::Relaxed)
    }

    /// Returns the time from which no further trip starts.
    fn end(&self) -> Instant {
        self.begin + Duration::from_millis(self.hog.ms)
    }

    fn sample(&self, elapsed: Duration, started: u64, back: u64) -> Sample {
        let (times, late) = (locked(&self.times), locked(&self.late));
        Sample::new(elapsed, back, started, back)
            .with("starved", u64::from(back < started))
            .with("p50_ns", times.value_at_quantile(0.5))
            .with("p99_ns", times.value_at_quantile(0.99))
            .with("max_ns", times.max())
            .with("late_p50_ns", late.value_at_quantile(0.5))
            .with("late_p99_ns", late.value_at_quantile(0.99))
    }
}

fn record(times: &Mutex<Histogram<u64>>, time: Duration) {
    locked(times).saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

fn locked(times: &Mutex<Histogram<u64>>) -> MutexGuard<'_, Histogram<u64>> {
    // A panic while the lock is held leaves a valid histogram.
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a histogram in nanoseconds, with three significant digits, up to 2^40 ns (18 minutes).
fn times() -> Histogram<u64> {
    match Histogram::new_with_max(1 << 40, 3) {
        Ok(times) => times,
        Err(_) => unreachable!("the bounds are constant and in order"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Starts two threads: one starts the trips, the other answers.
    fn two_threads(probe: &Probe, answers: bool) {
        let (ping, pinged) = channel::<Instant>();
        let (pong, ponged) = channel::<Instant>();
        let trips = probe.participant();
        thread::spawn(move || {
            for due in trips.due() {
                // WHY real time: the timer of a trip. It may be late by any time.
                thread::sleep(due.saturating_duration_since(Instant::now()));
                let mut next = Some(trips.start(due));
                while let Some(start) = next {
                    // Fails if the other thread does not answer; then no trip completes either.
                    let _ = ping.send(start);
                    next = ponged.recv().ok().and_then(|start| trips.back(start));
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
        two_threads(&probe, true);
        let sample = probe.run();
        assert_eq!((sample.ops, sample.sent, sample.received), (20, 20, 20));
        assert_eq!(figure(&sample, "starved"), 0);
        assert!(figure(&sample, "p50_ns") <= figure(&sample, "p99_ns"));
        assert!(figure(&sample, "p99_ns") <= figure(&sample, "max_ns"));
        assert!(figure(&sample, "late_p50_ns") <= figure(&sample, "late_p99_ns"));
        // WHY real time: a lower bound. The last trip is due to start after 19 ms and does not start sooner.
        assert!(sample.elapsed_ns >= 19_000_000);
    }

    #[test]
    fn closed_loop_starts_the_next_trip_when_the_last_completes_until_its_end() {
        let hog = Hog { pace: LoopKind::Closed, hogs: 0, ms: 1 };
        let now = Instant::now();
        for (begin, continues) in [(now + HANG, true), (now - Duration::from_millis(2), false)] {
            let probe = Probe::with_begin(hog, begin);
            let trips = probe.participant();
            assert_eq!(trips.due().count(), 1);
            let start = trips.start(begin);
            assert_eq!(trips.back(start).is_some(), continues);
            assert_eq!(trips.is_over(), !continues);
            drop(trips);
            if !continues {
                let sample = probe.run();
                assert_eq!((sample.ops, sample.sent, sample.received), (1, 1, 1));
                assert_eq!((figure(&sample, "starved"), figure(&sample, "late_p99_ns")), (0, 0));
            }
        }
    }

    #[test]
    fn incomplete_trips_starve_the_run_and_computing_processes_end() {
        for (pace, started) in [(LoopKind::Open, 3), (LoopKind::Closed, 1)] {
            let probe = Probe::new(Hog { pace, hogs: 1, ms: 3 });
            // WHY real time: no trip completes, so the run waits for this time, whatever its value.
            let probe = Probe { completion_timeout: Duration::from_millis(20), ..probe };
            two_threads(&probe, false);
            let hog = probe.participant();
            thread::spawn(move || hog.compute());
            let sample = probe.run();
            assert_eq!((sample.ops, sample.sent, sample.received), (0, started, 0));
            assert_eq!((figure(&sample, "starved"), figure(&sample, "max_ns")), (1, 0));
        }
    }
}
