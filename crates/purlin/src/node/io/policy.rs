//! Decisions of the watcher of the I/O threads, as a function of samples and times.
//!
//! tokio counts how often each of its threads has parked, and how long it has been busy. It updates
//! both figures when the thread parks, and after every 61 polls. A thread that is not parked and
//! whose figures do not change is in one long poll, or in several that together take that time.

use std::time::{Duration, Instant};

/// Time without progress after which a thread is reported.
///
/// WHY so long: a thread that waits for a processor, on a busy machine, makes no progress either.
pub(super) const REPORT_AFTER: Duration = Duration::from_millis(100);

/// Figures of an I/O thread at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Number of times the thread has parked or unparked.
    pub(super) parks: u64,
    /// Time the thread has been busy.
    pub(super) busy: Duration,
}

impl Sample {
    /// An odd count means that the thread is parked.
    pub(super) fn is_parked(self) -> bool {
        self.parks % 2 == 1
    }
}

/// A thread that stopped making progress, or makes progress again after a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Held(Duration),
    Released(Duration),
}

/// Result of one pass over all threads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Decision {
    /// Whether all threads are parked.
    pub(super) at_rest: bool,
    /// Whether a thread makes no progress while another is parked, which can wait for events in its
    /// place.
    pub(super) hand_off: bool,
    pub(super) reports: Vec<Report>,
}

/// What is known of a thread.
struct Thread {
    last: Sample,
    /// Time of the first sample with these figures.
    since: Instant,
    reported: bool,
}

/// State of the decisions.
#[derive(Default)]
pub(super) struct Policy {
    threads: Vec<Thread>,
}

impl Policy {
    /// Evaluates one sample of each thread, in the same order each time.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        samples: impl Iterator<Item = Sample>,
    ) -> Decision {
        let mut decision = Decision { at_rest: true, ..Decision::default() };
        let (mut is_held, mut parked) = (false, false);
        for (n, sample) in samples.enumerate() {
            if n == self.threads.len() {
                self.threads.push(Thread { last: sample, since: now, reported: false });
            }
            let thread = &mut self.threads[n];
            let elapsed = now.saturating_duration_since(thread.since);
            parked |= sample.is_parked();
            decision.at_rest &= sample.is_parked();
            if sample != thread.last {
                if thread.reported {
                    decision.reports.push(Report::Released(elapsed));
                }
                *thread = Thread { last: sample, since: now, reported: false };
            } else if !sample.is_parked() && !elapsed.is_zero() {
                is_held = true;
                if elapsed >= REPORT_AFTER && !thread.reported {
                    thread.reported = true;
                    decision.reports.push(Report::Held(elapsed));
                }
            }
        }
        decision.hand_off = is_held && parked;
        decision
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Policy, REPORT_AFTER, Report, Sample};

    const TICK: Duration = Duration::from_millis(5);

    fn sample(parks: u64, busy: u64) -> Sample {
        Sample { parks, busy: Duration::from_micros(busy) }
    }

    /// A policy, and a time that advances by a tick with each decision.
    struct Scene {
        policy: Policy,
        now: Instant,
    }

    impl Scene {
        fn new() -> Self {
            // WHY: only differences of this time are used.
            Self { policy: Policy::default(), now: Instant::now() }
        }

        fn decide(&mut self, samples: &[Sample]) -> super::Decision {
            self.now += TICK;
            self.policy.decide(self.now, samples.iter().copied())
        }
    }

    #[test]
    fn all_threads_parked_is_rest() {
        let mut scene = Scene::new();
        for _ in 0..100 {
            let decision = scene.decide(&[sample(1, 0), sample(3, 7)]);
            assert!(decision.at_rest && !decision.hand_off && decision.reports.is_empty());
        }
    }

    #[test]
    fn a_busy_thread_whose_figures_change_is_not_held() {
        let mut scene = Scene::new();
        for n in 0..100 {
            // It parks, or polls many tasks without parking.
            let parks = if n < 50 { 2 * n } else { 100 };
            let decision = scene.decide(&[sample(parks, n), sample(1, 0)]);
            assert!(!decision.at_rest && !decision.hand_off && decision.reports.is_empty());
        }
    }

    #[test]
    fn a_thread_in_one_poll_is_relieved_after_a_tick_and_reported_once() {
        let mut scene = Scene::new();
        assert!(!scene.decide(&[sample(4, 1), sample(1, 0)]).hand_off, "seen for the first time");
        let ticks = REPORT_AFTER.as_millis() / TICK.as_millis();
        for _ in 1..ticks {
            let decision = scene.decide(&[sample(4, 1), sample(1, 0)]);
            assert!(decision.hand_off && decision.reports.is_empty());
        }
        let held = scene.decide(&[sample(4, 1), sample(1, 0)]);
        assert_eq!(held.reports, [Report::Held(REPORT_AFTER)]);
        assert_eq!(scene.decide(&[sample(4, 1), sample(1, 0)]).reports, []);
        let ended = scene.decide(&[sample(5, 200_000), sample(1, 0)]);
        assert_eq!(ended.reports, [Report::Released(REPORT_AFTER + 2 * TICK)]);
        assert!(ended.at_rest);
    }

    #[test]
    fn no_thread_is_woken_when_all_are_held() {
        let mut scene = Scene::new();
        for _ in 0..3 {
            assert!(!scene.decide(&[sample(4, 1), sample(2, 1)]).hand_off);
        }
    }
}
