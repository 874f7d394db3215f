//! Rule: a restart storm, in which a supervisor, or a child with its own intensity, is close to or past its
//! restart intensity.
//!
//! *Detects*: at least [`FEWEST`] restarts within the period that amount to [`NEAR`] of the intensity or more. The
//! warning stays until they fall below [`CALM`] of it, or until a period passes without a restart. A supervisor that
//! has given up, and a child that has been given up, are reported for [`LATELY`].
//!
//! *Advice*: see [`ADVICE`].

use std::time::Duration;

use purlin::ProcessId;
use purlin::observe::OwnIntensityChild;
use rustc_hash::FxHashMap;

use super::rule::{Rule, describe};
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::Snapshot;

/// Advice for this warning.
pub const ADVICE: &str = "See why its children end: the view of supervision has the reason of each crash. Past \
     its intensity a supervisor gives up and ends, with all of its children; a child with its own intensity is \
     given up alone. A higher intensity buys time and mends nothing.";

/// Share of the intensity that raises the warning. There is still time to react.
pub const NEAR: f64 = 0.6;

/// Share of the intensity below which the warning is cleared.
pub const CALM: f64 = 0.5;

/// Smallest number of restarts, whatever the intensity: a single crash already reaches an intensity of 1.
pub const FEWEST: usize = 3;

/// Time for which a supervisor that has given up, or a child that has been given up, is reported, for an operator who arrives later.
pub const LATELY: Duration = Duration::from_secs(60);

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Storms {
    /// Reported supervisors and children, and the start of each warning.
    reported: FxHashMap<(ProcessId, Option<OwnIntensityChild>), Duration>,
}

/// Restarts of a supervisor, or of a child with its own intensity, as of the last one.
#[derive(Clone, Debug)]
struct Restarting {
    supervisor: ProcessId,
    child: Option<OwnIntensityChild>,
    last: Duration,
    counted: usize,
    most: usize,
    period: Duration,
}

impl Restarting {
    /// Whether the supervisor has given up, or the child has been given up.
    fn is_over(&self) -> bool {
        self.counted > self.most
    }

    /// Returns whether to report it at that time; `reported` if it is already reported.
    fn is_storm(&self, at: Duration, reported: bool) -> bool {
        let ago = at.saturating_sub(self.last);
        if self.is_over() {
            return ago <= self.period.max(LATELY);
        }
        let share = self.counted as f64 / self.most.max(1) as f64;
        let enough = if reported { share >= CALM } else { share >= NEAR && self.counted >= FEWEST };
        enough && ago <= self.period
    }

    fn key(&self) -> (ProcessId, Option<OwnIntensityChild>) {
        (self.supervisor, self.child.clone())
    }

    fn line(&self, who: &str, why: Option<(&str, &str)>) -> String {
        let Self { counted, most, period, .. } = self;
        let seconds = period.as_secs();
        let child = self.child.as_ref().map(|child| &child.id);
        let done = match (child, self.is_over()) {
            (None, true) => format!(
                "supervisor {who} has given up: {counted} restarts in {seconds} s, of {most} that there may be"
            ),
            (None, false) => format!(
                "supervisor {who} has restarted {counted} times in {seconds} s; at {} it gives up",
                most + 1
            ),
            (Some(child), true) => format!(
                "child {child} of supervisor {who} has been given up: {counted} restarts in {seconds} s, of {most} \
                 that there may be"
            ),
            (Some(child), false) => format!(
                "child {child} of supervisor {who} was restarted {counted} times in {seconds} s; at {} it is given up",
                most + 1
            ),
        };
        match why {
            Some((child, reason)) => format!("{done}; last {child}: {reason}"),
            None => done,
        }
    }
}

impl Rule for Storms {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let restarts = snapshot.crashes.restarts.iter().map(|restarts| Restarting {
            supervisor: restarts.supervisor,
            child: restarts.child.clone(),
            last: restarts.last,
            counted: restarts.counted,
            most: restarts.most,
            period: restarts.period,
        });
        let storms = self.storms(snapshot.overview.at, restarts);
        let reported = storms.into_iter().map(|(restarting, since)| {
            let id = restarting.supervisor;
            // First line of the reason of the last child's exit. The supervisor's own reports of giving up add nothing.
            let mut reports = snapshot.crashes.reports.iter().rev();
            let last = reports.find(|report| {
                report.supervisor == id
                    && !["shutdown", "given_up"].contains(&report.context)
                    && restarting.child.as_ref().is_none_or(|child| child.id == report.child)
            });
            let why =
                last.map(|last| (&*last.child, last.reason.lines().next().unwrap_or_default()));
            let line = restarting.line(&describe(snapshot, id), why);
            let subject = match restarting.child {
                Some(child) => Subject::Child(id, child),
                None => Subject::Process(id),
            };
            Warning { kind: Kind::RestartStorm, subject, line, since }
        });
        reported.collect()
    }
}

impl Storms {
    /// Returns the storms at that time, each with its start.
    fn storms(
        &mut self,
        at: Duration,
        all: impl Iterator<Item = Restarting>,
    ) -> Vec<(Restarting, Duration)> {
        let before = std::mem::take(&mut self.reported);
        let storms = all.filter_map(|restarting| {
            let since = before.get(&restarting.key()).copied();
            let is_storm = restarting.is_storm(at, since.is_some());
            is_storm.then(|| (restarting, since.unwrap_or(at)))
        });
        let storms: Vec<_> = storms.collect();
        self.reported = storms.iter().map(|(it, since)| (it.key(), *since)).collect();
        storms
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use purlin::observe::OwnIntensityChild;

    use super::{FEWEST, NEAR, Restarting, Storms};
    use crate::snapshot::fixture::pid;

    /// Returns a supervisor with an intensity of ten restarts per minute.
    fn restarting(counted: usize, last: u64) -> Restarting {
        let [last, period] = [last, 60].map(Duration::from_secs);
        Restarting { supervisor: pid(1), child: None, last, counted, most: 10, period }
    }

    /// Returns the start of the warning as of that second, if it is raised.
    fn reported(rule: &mut Storms, second: u64, seen: Restarting) -> Option<u64> {
        let storms = rule.storms(Duration::from_secs(second), [seen].into_iter());
        storms.first().map(|(_, since)| since.as_secs())
    }

    #[test]
    fn the_warning_is_raised_near_the_intensity_and_cleared_well_below_it_or_after_a_period() {
        let mut rule = Storms::default();
        assert_eq!(reported(&mut rule, 100, restarting(5, 99)), None);
        assert_eq!(reported(&mut rule, 101, restarting(6, 100)), Some(101));
        assert_eq!(reported(&mut rule, 110, restarting(5, 109)), Some(101));
        assert_eq!(reported(&mut rule, 169, restarting(5, 109)), Some(101));
        assert_eq!(reported(&mut rule, 170, restarting(5, 109)), None);
        assert_eq!(reported(&mut rule, 171, restarting(5, 171)), None);
    }

    #[test]
    fn one_crash_with_an_intensity_of_one_is_no_storm_and_giving_up_is_reported_for_a_minute() {
        let mut rule = Storms::default();
        let period = Duration::from_secs(5);
        let of_one = |counted| Restarting { counted, most: 1, period, ..restarting(0, 100) };
        assert_eq!(reported(&mut rule, 100, of_one(1)), None);
        assert_eq!(reported(&mut rule, 101, of_one(2)), Some(101));
        assert_eq!(reported(&mut rule, 160, of_one(2)), Some(101));
        assert_eq!(reported(&mut rule, 161, of_one(2)), None);
    }

    #[test]
    fn a_storm_is_reported_with_its_figures_and_its_last_reason() {
        let line = restarting(8, 0).line("pool (<0.1.0>)", Some(("worker-1", "no number")));
        let due = "supervisor pool (<0.1.0>) has restarted 8 times in 60 s; at 11 it gives up; last worker-1: no \
                   number";
        assert_eq!(line, due);
        let due = "supervisor pool has given up: 11 restarts in 60 s, of 10 that there may be";
        assert_eq!(restarting(11, 0).line("pool", None), due);
    }

    fn of_child(number: u64, counted: usize) -> Restarting {
        let mut own = OwnIntensityChild::default();
        (own.id, own.number) = ("room".into(), number);
        Restarting { child: Some(own), ..restarting(counted, 100) }
    }

    #[test]
    fn children_with_their_own_intensity_are_reported_apart_from_their_supervisor() {
        let mut rule = Storms::default();
        let all = [restarting(9, 100), of_child(1, 1), of_child(2, 11), of_child(3, 8)];
        let storms = rule.storms(Duration::from_secs(100), all.into_iter());
        let lines: Vec<_> = storms.iter().map(|(it, _)| it.line("pool", None)).collect();
        let due = [
            "supervisor pool has restarted 9 times in 60 s; at 11 it gives up",
            "child room of supervisor pool has been given up: 11 restarts in 60 s, of 10 that there may be",
            "child room of supervisor pool was restarted 8 times in 60 s; at 11 it is given up",
        ];
        assert_eq!(lines, due);
    }

    proptest! {
        #[test]
        fn the_warning_is_raised_only_near_the_intensity_and_with_enough_restarts(
            counted in 0_usize..30, most in 0_usize..20, ago in 0_u64..200,
        ) {
            let at = Duration::from_secs(1000);
            let seen = Restarting { counted, most, ..restarting(0, 1000 - ago) };
            let storm = reported(&mut Storms::default(), at.as_secs(), seen).is_some();
            let near = counted >= FEWEST && counted as f64 >= NEAR * most as f64 && ago <= 60;
            prop_assert_eq!(storm, if counted > most { ago <= 60 } else { near });
        }
    }
}
