//! Detection of workers whose processes compute between their messages.
//!
//! A *unit of work* is a turn or a unit of budget, such as a message received, and takes 3 to 22 ns if
//! processes only exchange messages. If it takes much longer, they compute in between, and a steal
//! costs them little: every waiting process is worth one, without a trial (`balance`).
//!
//! On several workers, units are also long because messages cross between processors and because
//! processes wait for each other. Work that a trial spreads may therefore seem to compute, and would
//! stay spread. So after a trial in which several workers got less done than one, the processes of a
//! worker only count as computing if it runs alone, until another trial gets more done.

use std::time::Duration;

use crate::balance::TrialResult;
use crate::sysmon::policy::Sample;

/// Time per unit of work from which processes mostly compute: about what a message costs that
/// crosses between processors.
const COMPUTING_UNIT: Duration = Duration::from_nanos(250);
/// Time per unit of work, at two ticks in a row, from which the processes of a worker that runs alone
/// seem to compute: several times that of processes that only exchange messages.
///
/// WHY alone: on several workers, messages that cross between them make units long, too. WHY two
/// ticks: so does memory that a program uses for the first time.
const LONG_UNIT: Duration = Duration::from_nanos(100);
/// Number of ticks for which a load is spread whose processes seem to compute on one worker. WHY a
/// limit: on several workers, units are long also because they wait for each other. By then load
/// balancing has made its first trial or compares what several workers get done.
const EARLY_TICKS: u32 = 50;
/// A worker runs alone if the others do at most one part in this number of all work.
const ALONE: u64 = 16;

/// State of the detection for all workers.
pub(crate) struct Computing {
    /// Time per unit of work of each worker.
    units: Box<[UnitTime]>,
    /// Whether each worker's processes mostly compute, as of the last tick at both ends of which it ran.
    computes: Box<[bool]>,
    /// Ticks for which shorter units of work count as computing.
    early: u32,
    /// Whether several workers got less done than one in the last trial, and no worker that ran alone
    /// has computed since.
    refuted: bool,
}

impl Computing {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            units: vec![UnitTime::default(); workers].into(),
            computes: vec![false; workers].into(),
            early: 0,
            refuted: false,
        }
    }

    /// Takes a tick of `time` into account between two samples of the workers.
    pub(crate) fn tick(&mut self, time: Duration, before: &[Sample], now: &[Sample]) {
        let work = |index: usize| now[index].work.saturating_sub(before[index].work);
        let workers = 0..before.len();
        let all: u64 = workers.clone().map(work).sum();
        let mut running = workers.clone().filter(|index| now[*index].running);
        let alone = running.next().filter(|_| running.next().is_none());
        let alone = alone.filter(|index| ALONE * (all - work(*index)) <= all);
        // WHY at both ends: the pace of a worker that slept in between is unknown.
        let ran = |index: &usize| before[*index].running && now[*index].running;
        for index in workers.clone() {
            if ran(&index) {
                self.units[index].tick(time, work(index), alone == Some(index));
            } else {
                self.units[index] = UnitTime::default();
            }
        }
        self.early = self.early.saturating_sub(1);
        if let Some(index) = alone {
            let unit = self.units[index].alone();
            self.refuted &= unit < COMPUTING_UNIT;
            if unit >= LONG_UNIT && !self.refuted {
                self.early = EARLY_TICKS;
            }
        }
        let bound = if self.early > 0 { LONG_UNIT } else { COMPUTING_UNIT };
        for index in workers.filter(ran) {
            self.computes[index] = !self.refuted && self.units[index].unit >= bound;
        }
    }

    /// Takes the result of a trial into account.
    pub(crate) fn tried(&mut self, result: TrialResult) {
        self.refuted = result == TrialResult::Loss;
        if self.refuted {
            self.early = 0;
            self.computes.fill(false);
        }
    }

    /// Returns whether a worker's processes mostly compute.
    pub(crate) fn computes(&self, index: usize) -> bool {
        self.computes[index]
    }
}

/// Time per unit of work of a worker.
#[derive(Clone, Copy, Debug, Default)]
struct UnitTime {
    /// Time since the worker published work. A worker publishes every few dozen turns.
    since: Duration,
    unit: Duration,
    /// The last two, if the worker ran alone.
    alone: [Duration; 2],
}

impl UnitTime {
    /// Takes a tick of `time` into account in which the worker published `work` units.
    fn tick(&mut self, time: Duration, work: u64, alone: bool) {
        self.since += time;
        if !alone {
            self.alone = [Duration::ZERO; 2];
        }
        if let Some(nanos) = (self.since.as_nanos() as u64).checked_div(work) {
            self.unit = Duration::from_nanos(nanos);
            self.since = Duration::ZERO;
            if alone {
                self.alone = [self.unit, self.alone[0]];
            }
        }
    }

    /// Returns the shorter one of the last two units, or zero unless the worker ran alone.
    fn alone(self) -> Duration {
        self.alone[0].min(self.alone[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysmon::period::TICK;

    /// A worker's work in a tick, and whether it runs at the end.
    type Tick = (u64, bool);

    const RESTS: Tick = (0, false);

    /// Two workers.
    struct Workers {
        computing: Computing,
        samples: [Sample; 2],
    }

    impl Workers {
        fn new() -> Self {
            let sample = Sample {
                turn: 0,
                work: 0,
                running: true,
                preempted: false,
                waiting: 0,
                timer_due: false,
                crowds: false,
                threshold: 0,
            };
            Self { computing: Computing::new(2), samples: [sample; 2] }
        }

        /// Returns whether the processes of each worker compute.
        fn tick(&mut self, ticks: [Tick; 2]) -> [bool; 2] {
            let mut now = self.samples;
            for (sample, (work, running)) in now.iter_mut().zip(ticks) {
                (sample.work, sample.running) = (sample.work + work, running);
            }
            self.computing.tick(TICK, &self.samples, &now);
            self.samples = now;
            [0, 1].map(|index| self.computing.computes(index))
        }

        /// A tick in which only the first worker runs. Returns whether its processes compute.
        fn alone(&mut self, work: u64) -> bool {
            self.tick([(work, true), RESTS])[0]
        }

        /// A tick in which both run.
        fn both(&mut self, work: u64) -> bool {
            self.tick([(work, true); 2])[0]
        }
    }

    #[test]
    fn processes_compute_if_a_unit_of_work_takes_250_ns() {
        let mut it = Workers::new();
        assert_eq!(it.tick([(2001, true), (2000, true)]), [false, true], "249 and 250 ns");
        assert_eq!(it.tick([(2000, true), RESTS]), [true, true], "as of its last tick");
    }

    #[test]
    fn a_worker_alone_computes_from_100_ns_on_at_two_ticks() {
        let mut it = Workers::new();
        assert!(!it.alone(5000) && !it.alone(5001) && !it.alone(5000));
        assert!(it.alone(5000));
        let ticks: Vec<_> = (0..EARLY_TICKS).map(|_| it.both(5000)).collect();
        assert_eq!(ticks.iter().filter(|tick| **tick).count(), ticks.len() - 1);
        assert!(!it.both(5000), "250 ns again");
    }

    // In these ticks it waits for the other one.
    #[test]
    fn a_worker_is_not_alone_if_another_one_has_worked_but_rests() {
        let mut it = Workers::new();
        for _ in 0..9 {
            assert_eq!(it.tick([(5000, true), (334, false)]), [false; 2]);
        }
        let both = [(5000, true), (333, false)];
        assert_eq!([it.tick(both), it.tick(both)], [[false; 2], [true, false]]);
    }

    // A worker with long turns publishes its work every few ticks.
    #[test]
    fn work_is_compared_with_the_time_since_the_last_was_published() {
        let mut it = Workers::new();
        let computes = [0, 4001, 0, 4000, 0].map(|work| it.both(work));
        assert_eq!(computes, [false, false, false, true, true]);
    }

    #[test]
    fn processes_do_not_compute_after_a_trial_in_which_several_workers_got_less_done() {
        let mut it = Workers::new();
        assert!(it.both(1000));
        it.computing.tried(TrialResult::Loss);
        assert!(!it.computing.computes(0) && !it.both(1000));
        it.computing.tried(TrialResult::Gain);
        assert!(it.both(1000));
    }

    #[test]
    fn refuted_processes_compute_again_if_a_worker_alone_shows_it_at_two_ticks() {
        let mut it = Workers::new();
        it.computing.tried(TrialResult::Loss);
        let computes = [2001, 2000, 2001, 2000, 2000].map(|work| it.alone(work));
        assert_eq!(computes, [false, false, false, false, true]);
        assert!(it.both(2000));
    }
}
