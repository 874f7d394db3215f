//! Smoothing of detections into stable warnings.
//!
//! A detection becomes a warning immediately, because the rules themselves guard against false positives. A warning
//! ends when it has not been detected for [`REST`]; in between its line states when it was last detected.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Time a warning stays after its last detection, at the default period of a second: long enough to be read, and longer
/// than the pauses of a cause that comes and goes every few snapshots.
pub const REST: Duration = Duration::from_secs(5);

/// Recent detections.
#[derive(Debug)]
pub(super) struct Steady {
    rest: Duration,
    /// Number and uptime of the last checked snapshot.
    number: u64,
    at: Duration,
    kept: FxHashMap<(Kind, Subject), Kept>,
}

/// A reported warning: when it was first and last detected, and its text.
#[derive(Debug)]
struct Kept {
    since: Duration,
    last: Duration,
    line: String,
}

impl Steady {
    /// Creates a filter with the hold time `rest`.
    pub(super) fn resting(rest: Duration) -> Self {
        Self { rest, number: 0, at: Duration::ZERO, kept: FxHashMap::default() }
    }

    /// Returns whether the snapshot has not been checked yet.
    pub(super) fn is_new(&self, snapshot: &Snapshot) -> bool {
        snapshot.number != self.number
    }

    /// Records what the rules detected in a snapshot.
    pub(super) fn record(&mut self, snapshot: &Snapshot, seen: impl IntoIterator<Item = Warning>) {
        let at = snapshot.overview.at;
        (self.number, self.at) = (snapshot.number, at);
        for Warning { kind, subject, line, since } in seen {
            let new = || Kept { since, last: at, line: String::new() };
            let kept = self.kept.entry((kind, subject)).or_insert_with(new);
            (kept.last, kept.line) = (at, line);
        }
        self.kept.retain(|_, kept| at.saturating_sub(kept.last) < self.rest);
    }

    /// Returns the warnings as of the last snapshot.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<_> = self
            .kept
            .iter()
            .map(|((kind, subject), kept)| Warning {
                kind: *kind,
                subject: subject.clone(),
                line: match self.at.saturating_sub(kept.last).as_secs_f64() {
                    0.0 => kept.line.clone(),
                    ago => format!("{} (seen {ago:.0} s ago)", kept.line),
                },
                since: kept.since,
            })
            .collect();
        warnings.sort_by(|a, b| (a.kind, a.since, &a.subject).cmp(&(b.kind, b.since, &b.subject)));
        warnings
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{REST, Steady};
    use crate::snapshot::fixture::{at, pid};
    use crate::warnings::{Kind, Subject, Warning};

    fn detection(since: u64) -> Warning {
        let subject = Subject::Process(pid(7));
        let line = format!("at {since}");
        Warning { kind: Kind::Hog, subject, line, since: Duration::from_secs(since) }
    }

    /// Returns the start of the warning, second by second, if it is detected in those seconds.
    fn reported(seen: &[bool]) -> Vec<Option<u64>> {
        let mut steady = Steady::resting(REST);
        let snapshots = seen.iter().zip(1..);
        let reported = snapshots.map(|(&seen, second)| {
            steady.record(&at(second), seen.then(|| detection(second)));
            steady.warnings().first().map(|warning| warning.since.as_secs())
        });
        reported.collect()
    }

    #[test]
    fn a_warning_that_returns_within_the_hold_time_keeps_its_start_and_a_later_one_is_new() {
        let mut seen = vec![true];
        seen.extend([false; 4]);
        seen.push(true);
        seen.extend([false; 5]);
        seen.push(true);
        let due = [Some(1); 10].into_iter().chain([None, Some(12)]).collect::<Vec<_>>();
        assert_eq!(reported(&seen), due);
    }

    #[test]
    fn a_warning_not_detected_now_states_when_it_was() {
        let mut steady = Steady::resting(REST);
        steady.record(&at(1), [detection(1)]);
        assert_eq!(steady.warnings()[0].line, "at 1");
        steady.record(&at(4), []);
        assert_eq!(steady.warnings()[0].line, "at 1 (seen 3 s ago)");
    }

    proptest! {
        /// A warning ends exactly when the hold time after its last detection has passed, however its cause comes and
        /// goes.
        #[test]
        fn a_warning_stays_for_the_hold_time_after_its_last_detection(
            seen in proptest::collection::vec(any::<bool>(), 1..60),
        ) {
            let reported = reported(&seen);
            let rest = REST.as_secs() as usize;
            for (second, reported) in reported.iter().enumerate() {
                let lately = &seen[second.saturating_sub(rest - 1)..=second];
                prop_assert_eq!(reported.is_some(), lately.contains(&true), "{}: {:?}", second, seen);
            }
        }
    }
}
