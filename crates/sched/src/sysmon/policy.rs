//! Policy of sysmon as pure code: which workers are stalled, what to do about them, the steal
//! threshold that follows from a worker's turns and work, and how often it checks the global queue.
//!
//! At each tick sysmon passes a snapshot of the workers. A worker that is in the same turn at two
//! consecutive ticks is *stalled*, unless its thread is only preempted: another thread would
//! compete with it for the processor. A stalled worker alone does no harm; sysmon acts only when a
//! process waits, or when detached threads compete with it for the processors:
//!
//! | where a process waits | a worker is free | all workers are busy |
//! |---|---|---|
//! | in the queue of a stalled worker | wake a free worker, which steals | hand off its core |
//! | in the LIFO slots of a stalled worker | expose the slots and wake a free worker | hand off its core |
//! | behind a timer of a stalled worker that is due before the next tick | hand off its core | hand off its core |
//! | in the global queue, or more than its threshold (min. 2) behind a busy worker | wake a free worker | hand off a stalled core |
//! | nowhere, but the turn is long, and computing threads, a detached one among them, occupy all processors | hand off its core | hand off its core |
//!
//! WHY the last row: detached threads have a lower priority, and a worker that wakes preempts them.
//! It would wait behind the stalled thread, which has the usual priority.
//!
//! WHY at least 2: a single process that yields stays on its worker deliberately
//! (`Core::push_back`).

use std::time::Duration;

use crate::sysmon::period::TICK;
use crate::worker::status::CHECK_INTERVAL;

/// Length of a turn from which each waiting process is worth a steal: ten times the cost of waking
/// a worker.
const HELP_AFTER: Duration = Duration::from_micros(50);
/// Sample of one worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) turn: u32,
    /// Turns and budget spent.
    pub(crate) work: u64,
    /// Whether the worker runs a process, or has run one and not yet found its queue empty.
    pub(crate) running: bool,
    /// Whether its thread is runnable but other threads have the processor.
    pub(crate) preempted: bool,
    /// Number of processes that wait in its queue.
    pub(crate) waiting: usize,
    /// Whether a timer of its wheel is due before the next tick.
    pub(crate) timer_due: bool,
    /// Whether its turn is long, and computing threads, a detached one among them, occupy all
    /// processors.
    pub(crate) crowds: bool,
    /// Steal threshold: number of processes that may wait before other workers help.
    pub(crate) threshold: usize,
}

/// Snapshot of all workers at a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot<'a> {
    pub(crate) workers: &'a [Sample],
    /// Whether the global queue is not empty.
    pub(crate) global_queue: bool,
    /// Number of workers that sleep or search.
    pub(crate) free: usize,
}

/// Action on one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Move the processes that only the worker can reach to its stealable queue; wake a worker if
    /// the queue is not empty then.
    Expose(usize),
    /// Hand off the worker's core if a process waits there.
    HandOffIfWaiting(usize),
    /// Hand off the worker's core.
    HandOff(usize),
}

/// Decision at a tick.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) actions: Vec<Action>,
    /// Wake a sleeping worker.
    pub(crate) wake: bool,
}

/// Policy state: the turn of each worker at the previous tick.
pub(crate) struct Policy {
    before: Box<[Option<u32>]>,
}

impl Policy {
    pub(crate) fn new(workers: usize) -> Self {
        Self { before: vec![None; workers].into() }
    }

    pub(crate) fn decide(&mut self, snapshot: Snapshot<'_>) -> Decision {
        let mut decision = Decision::default();
        let crowded =
            snapshot.workers.iter().any(|sample| sample.waiting > sample.threshold.max(1));
        // One action serves the waiting processes: either a wake-up or a hand-off.
        let mut wanted = snapshot.global_queue || crowded;
        if snapshot.free > 0 {
            decision.wake = wanted;
        }
        for (index, sample) in snapshot.workers.iter().enumerate() {
            let turn = sample.running.then_some(sample.turn);
            let stuck = turn.is_some() && self.before[index] == turn && !sample.preempted;
            self.before[index] = turn;
            if !stuck {
                continue;
            }
            let all_busy = snapshot.free == 0;
            decision.actions.push(
                if sample.timer_due || sample.crowds || all_busy && (wanted || sample.waiting > 0) {
                    wanted = false;
                    Action::HandOff(index)
                } else if all_busy {
                    Action::HandOffIfWaiting(index)
                } else {
                    Action::Expose(index)
                },
            );
        }
        decision
    }

    /// Resets a worker whose core has moved to another thread.
    pub(crate) fn forget(&mut self, index: usize) {
        self.before[index] = None;
    }
}

/// Returns the number of turns per [`TICK`] of a worker that has made `turns` turns in `time`.
pub(crate) fn turns_per_tick(turns: u32, time: Duration) -> u64 {
    let per_tick = u128::from(turns) * TICK.as_nanos() / time.as_nanos().max(1);
    per_tick.try_into().unwrap_or(u64::MAX)
}

/// Returns the steal threshold of a worker with `pace` turns per tick.
pub(crate) fn threshold_for(pace: u64) -> usize {
    let long = u128::from(pace) * HELP_AFTER.as_nanos() < TICK.as_nanos();
    if long { 0 } else { usize::try_from(pace).unwrap_or(usize::MAX).saturating_mul(2) }
}

/// Returns the number of turns between two checks of the global queue and the timers for a worker
/// with `pace` turns per tick: half of them.
///
/// WHY at least two: processes of the global queue must not keep those of the worker's queue from
/// running (F1).
pub(crate) fn check_interval_for(pace: u64) -> u32 {
    (pace / 2).clamp(2, CHECK_INTERVAL.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn works(turn: u32, waiting: usize) -> Sample {
        Sample { running: true, waiting, ..rests(turn) }
    }

    const fn rests(turn: u32) -> Sample {
        Sample {
            turn,
            work: 0,
            running: false,
            preempted: false,
            waiting: 0,
            timer_due: false,
            crowds: false,
            threshold: 0,
        }
    }

    /// Returns the decision at the second of two ticks.
    fn second(before: &[Sample], now: &[Sample], global_queue: bool, free: usize) -> Decision {
        let mut policy = Policy::new(now.len());
        let _ = policy.decide(Snapshot { workers: before, global_queue: false, free: 0 });
        policy.decide(Snapshot { workers: now, global_queue, free })
    }

    fn decided(steps: &[Action], wake: bool) -> Decision {
        Decision { actions: steps.to_vec(), wake }
    }

    /// Name, two samples of two workers, global queue not empty, number of free workers, decision.
    type Case = (&'static str, [Sample; 2], [Sample; 2], bool, usize, Decision);

    // F2: the table in the module documentation
    #[test]
    fn each_case_is_decided_as_the_table_says() {
        use Action::{Expose, HandOff, HandOffIfWaiting};
        let cases: [Case; 11] = [
            (
                "turns go by",
                [works(1, 1), works(1, 1)],
                [works(2, 1), works(9, 1)],
                false,
                0,
                decided(&[], false),
            ),
            (
                "asleep at the same turn",
                [rests(4), rests(4)],
                [rests(4), rests(4)],
                false,
                2,
                decided(&[], false),
            ),
            (
                "stuck, a process in its queue",
                [works(7, 0), works(1, 0)],
                [works(7, 1), works(2, 0)],
                false,
                0,
                decided(&[HandOff(0)], false),
            ),
            (
                "stuck, perhaps a process in its LIFO slot",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 0)],
                false,
                0,
                decided(&[HandOffIfWaiting(0)], false),
            ),
            (
                "stuck, a process in the global queue",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 0)],
                true,
                0,
                decided(&[HandOff(0)], false),
            ),
            (
                "both stuck, a process in the global queue",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(1, 0)],
                true,
                0,
                decided(&[HandOff(0), HandOffIfWaiting(1)], false),
            ),
            (
                "stuck, two processes behind a busy worker",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 2)],
                false,
                0,
                decided(&[HandOff(0)], false),
            ),
            (
                "stuck, one process that yields behind a busy worker",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 1)],
                false,
                0,
                decided(&[HandOffIfWaiting(0)], false),
            ),
            (
                "stuck, another worker is free",
                [works(7, 0), rests(1)],
                [works(7, 1), rests(1)],
                false,
                1,
                decided(&[Expose(0)], false),
            ),
            (
                "no worker stuck, one free, a process in the global queue",
                [works(7, 0), rests(1)],
                [works(8, 0), rests(1)],
                true,
                1,
                decided(&[], true),
            ),
            (
                "no worker stuck, one free, two processes behind a busy worker",
                [works(7, 0), rests(1)],
                [works(8, 2), rests(1)],
                false,
                1,
                decided(&[], true),
            ),
        ];
        for (name, before, now, global_queue, free, expected) in cases {
            assert_eq!(second(&before, &now, global_queue, free), expected, "{name}");
        }
    }

    // F2: a timer that a stalled worker would fire late counts as a waiting process
    #[test]
    fn a_stalled_core_with_a_timer_due_is_handed_off_although_a_worker_is_free() {
        let due = Sample { timer_due: true, ..works(7, 0) };
        let free = |now, free| second(&[works(7, 0), rests(1)], &[now, rests(1)], false, free);
        assert_eq!(free(due, 1), decided(&[Action::HandOff(0)], false));
        assert_eq!(free(works(7, 0), 1), decided(&[Action::Expose(0)], false));
        let preempted = Sample { preempted: true, ..due };
        assert_eq!(free(preempted, 1), decided(&[], false));
        let both = second(&[works(7, 0), works(1, 0)], &[due, works(1, 0)], true, 0);
        assert_eq!(both, decided(&[Action::HandOff(0), Action::HandOffIfWaiting(1)], false));
    }

    // F2: the last of several stalled workers is not favoured over those detached before
    #[test]
    fn a_stalled_core_is_handed_off_in_a_crowd_although_no_process_waits() {
        let crowds = Sample { crowds: true, ..works(7, 0) };
        for (other, free) in [(works(2, 0), 0), (rests(1), 1)] {
            let before = [works(7, 0), works(1, 0)];
            let actions = |now| second(&before, &[now, other], false, free).actions;
            assert_eq!(actions(crowds), [Action::HandOff(0)]);
            for now in [Sample { preempted: true, ..crowds }, Sample { turn: 8, ..crowds }] {
                assert_eq!(actions(now), []);
            }
        }
    }

    #[test]
    fn a_worker_is_reset_after_a_hand_off() {
        let mut policy = Policy::new(1);
        let stuck = Snapshot { workers: &[works(3, 1)], global_queue: false, free: 0 };
        assert_eq!(policy.decide(stuck), decided(&[], false));
        assert_eq!(policy.decide(stuck), decided(&[Action::HandOff(0)], false));
        policy.forget(0);
        assert_eq!(policy.decide(stuck), decided(&[], false));
        assert_eq!(policy.decide(stuck), decided(&[Action::HandOff(0)], false));
    }

    /// Returns at which of the sample times `times`, in µs, the core of the only worker is handed
    /// off. The worker begins a turn at each of `turns`, and a process waits behind it all the
    /// time.
    fn handed_off_at(times: impl Iterator<Item = u64>, turns: &[u64]) -> Option<u64> {
        let mut policy = Policy::new(1);
        for now in times {
            let turn = turns.iter().filter(|began| **began <= now).count() as u32;
            let snapshot = Snapshot { workers: &[works(turn, 1)], global_queue: false, free: 0 };
            let decision = policy.decide(snapshot);
            if decision.actions == [Action::HandOff(0)] {
                return Some(now);
            }
            assert_eq!(decision, decided(&[], false), "at {now} µs");
        }
        None
    }

    // F2: sysmon detects a stalled worker with waiting processes within about a millisecond
    #[test]
    fn a_stalled_core_is_handed_off_within_a_millisecond() {
        let tick = TICK.as_micros() as u64;
        for began in tick..3 * tick {
            // Short turns precede it.
            let turns: Vec<_> = (0..began).step_by(100).chain([began]).collect();
            let times = (0..10).map(|time| time * tick);
            let handed_off = handed_off_at(times, &turns).expect("the last turn does not end");
            let time = Duration::from_micros(handed_off - began);
            assert!((TICK..2 * TICK).contains(&time), "{time:?} in a turn from {began} µs on");
        }
        assert_eq!(2 * TICK, Duration::from_millis(1));
    }

    // F2: if sysmon is delayed, it detects the stalled worker at its next tick
    #[test]
    fn a_stalled_core_is_handed_off_at_the_second_tick_however_late() {
        let tick = TICK.as_micros() as u64;
        for late in [0, 1, 7, 1000, 1_000_000] {
            let times = [tick, 2 * tick + late, 3 * tick + late];
            assert_eq!(handed_off_at(times.into_iter(), &[0]), Some(2 * tick + late));
        }
    }

    #[test]
    fn turns_shorter_than_a_tick_cause_no_hand_off() {
        let tick = TICK.as_micros() as u64;
        let times = (1..100).map(|time| time * tick);
        for length in [1, 7, tick / 2, tick - 1, tick] {
            let turns: Vec<_> = (0..100 * tick / length).map(|turn| turn * length).collect();
            assert_eq!(handed_off_at(times.clone(), &turns), None, "turns of {length} µs");
        }
    }

    #[test]
    fn the_steal_threshold_is_the_number_of_turns_in_two_ticks() {
        assert_eq!(threshold_for(turns_per_tick(5000, TICK)), 10_000);
        assert_eq!(threshold_for(turns_per_tick(5000, 2 * TICK)), 5000);
        assert_eq!(turns_per_tick(5000, Duration::ZERO), 5000 * TICK.as_nanos() as u64);
        assert_eq!(threshold_for(u64::MAX), usize::MAX);
    }

    #[test]
    fn the_steal_threshold_of_long_turns_is_zero() {
        assert_eq!([0, 9, 10].map(threshold_for), [0, 0, 20]);
    }

    #[test]
    fn a_worker_checks_twice_a_tick_but_never_before_each_turn() {
        let expected = [(0, 2), (5, 2), (6, 3), (20, 10), (5000, CHECK_INTERVAL)];
        for (pace, interval) in expected {
            assert_eq!(check_interval_for(pace), interval.min(CHECK_INTERVAL));
        }
    }
}
