//! Load balancing by trial: short turns are kept on few workers or spread over all.
//!
//! Processes that talk to each other get more done on one processor, where their messages are
//! cached, than on two. Processes that do not communicate get more done on two. The scheduler cannot tell
//! which kind it has. So sysmon measures: while there is more work than one worker does, it tries
//! the other placement for a few ticks now and then, and keeps the one that gets more done.
//!
//! *Work* corresponds to Erlang's reductions: each turn and each unit of budget counts as one.
//! Spreading must get a quarter more done, because it occupies another processor.
//!
//! ```text
//!              more to do, pause over             at least as good
//!   watching ─────────────────────────▶ trying ─────────────────────▶ watching, other placement
//!      ▲                                  │
//!      └──────────────────────────────────┘ worse: a longer pause; or nothing to do any more
//! ```
//!
//! A stall, an overload or external threads spread work without a trial. Unless that gets a quarter more
//! done than one worker did before, the work is gathered. After a failed trial or such a gather, an
//! overload is tolerated until the load ends or a trial succeeds.
//!
//! COST: a trial of the worse placement takes 5 ticks of sysmon, or 2 if that gets less than half as
//! much done: the first after 50 ticks, later ones after pauses that grow to 4000 ticks while trials
//! keep failing.

use std::ops::RangeInclusive;

/// Ticks that are not counted after a change of placement.
const WARM_UP: u32 = 1;
/// Ticks for which spread work is gathered. WHY two: a worker finds out when it next checks the global
/// queue, or when a process yields.
const GATHER: u32 = 2;
/// Maximum number of further ticks, while the global queue is not empty. WHY four: a worker takes a
/// batch of 32 at each check, and makes at least two checks a tick.
const GATHER_ON: u32 = 4;
/// Ticks that are counted.
const WINDOW: usize = 4;
/// Ticks after which a trial is given up if it has got less than half as much done.
const EARLY_CHECK: u32 = 2;
/// Ticks before the first trial.
const FIRST_PAUSE: u32 = 50;
/// Ticks between two trials, after one that has succeeded and at most.
const PAUSES: RangeInclusive<u32> = 200..=4000;
/// Factor by which the pause grows with each trial that fails.
const BACKOFF: u32 = 4;
/// A load has ended if no worker is busy at the moment of the sample, and the work of the tick is not
/// more than one part in this number of that in the window before the trial.
const TRICKLE: u64 = 256;

/// What sysmon has sampled in a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickStats {
    /// Work done by all workers.
    pub(crate) work: u64,
    /// Number of workers with short turns.
    pub(crate) working: usize,
    /// Whether processes compute on all busy workers.
    pub(crate) computing: bool,
    /// Whether short turns wait in a queue while another worker is free.
    pub(crate) could_spread: bool,
    /// Whether the global queue is not empty.
    pub(crate) global_queue: bool,
}

/// Placement of work until the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Workers steal only past the steal threshold.
    Together,
    /// As `Together`; in addition all workers but one leave their processes to the global queue.
    Gather,
    /// Workers steal every waiting process.
    Spread,
}

/// Result of a trial, if it is clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialResult {
    /// Several workers got enough more done than one.
    Gain,
    /// Several workers got less done than one.
    Loss,
}

/// State of load balancing: the present placement and the results of trials.
pub(crate) struct Balancer {
    spread: bool,
    /// Whether spreading did not pay off when it was last measured.
    tolerant: bool,
    /// Work in the window before the trial, if one is under way.
    trial: Option<u64>,
    /// Ticks since the last change of placement, or since there was nothing to do.
    ticks: u32,
    /// Whether processes have computed on all busy workers in one of them.
    computed: bool,
    /// Ticks for which more than one worker has been busy.
    several: u32,
    /// Ticks for which one worker has been busy.
    single: u32,
    /// Work in the last window in which one worker was busy or work was kept together, until it has
    /// been compared.
    alone: u64,
    /// Work of the last ticks.
    window: [u64; WINDOW],
    /// Ticks for which spread work may still be gathered.
    gather: u32,
    /// Ticks until the next trial may begin.
    pause: u32,
    next_pause: u32,
    /// Result of the last trial, until it is taken.
    result: Option<TrialResult>,
}

impl Balancer {
    pub(crate) fn new() -> Self {
        let next_pause = FIRST_PAUSE;
        Self {
            spread: false,
            tolerant: false,
            trial: None,
            ticks: 0,
            computed: false,
            several: 0,
            single: 0,
            alone: 0,
            window: [0; WINDOW],
            // WHY under shuttle: its models end before a trial, the only other cause of a drain there.
            gather: if cfg!(shuttle) { GATHER + GATHER_ON } else { 0 },
            pause: next_pause,
            next_pause,
            result: None,
        }
    }

    /// Takes a tick into account and returns the placement until the next one.
    pub(crate) fn tick(&mut self, stats: TickStats) -> Placement {
        self.pause = self.pause.saturating_sub(1);
        let several = stats.working > 1;
        let goes_on = match (self.trial, self.spread) {
            // WHY not `working` alone: workers that wait for each other may all sleep at this moment.
            (Some(before), _) => stats.working > 0 || TRICKLE * stats.work > before,
            (None, true) => several,
            (None, false) => several || stats.could_spread,
        };
        self.several = if several { self.several + 1 } else { 0 };
        self.single = if goes_on && !several { self.single + 1 } else { 0 };
        if goes_on {
            self.window[self.ticks as usize % WINDOW] = stats.work;
            self.ticks += 1;
            self.computed |= stats.computing;
            if self.trial.is_none() && !self.spread {
                self.compare();
            }
            if self.ticks >= WARM_UP + WINDOW as u32 {
                self.decide();
            } else if self.ticks == EARLY_CHECK && self.is_failing() {
                self.trial = None;
                self.result = Some(if self.spread { TrialResult::Loss } else { TrialResult::Gain });
                self.fail();
            }
        } else {
            self.restart();
            self.tolerant = false;
            if self.trial.take().is_some() {
                self.change();
            }
        }
        if self.spread {
            return Placement::Spread;
        }
        let gather = self.gather > GATHER_ON || self.gather > 0 && stats.global_queue;
        self.gather = if gather { self.gather - 1 } else { 0 };
        if gather { Placement::Gather } else { Placement::Together }
    }

    /// Returns whether an overloaded worker keeps its work, because spreading did not pay off when it
    /// was last measured, or is being compared with one worker.
    pub(crate) fn tolerates_overload(&self) -> bool {
        self.tolerant || self.trial.is_some() && !self.spread
    }

    /// Returns whether the first [`EARLY_CHECK`] ticks of a trial got less than half as much done as those
    /// before it.
    fn is_failing(&self) -> bool {
        let work: u64 = self.window[..EARLY_CHECK as usize].iter().sum();
        self.trial.is_some_and(|before| 2 * work < before * u64::from(EARLY_CHECK) / WINDOW as u64)
    }

    /// Records the work of a single worker. If several workers have been busy although work is kept
    /// together, accepts that if they get enough done, and otherwise has the work gathered.
    fn compare(&mut self) {
        let work: u64 = self.window.iter().sum();
        if self.single as usize >= WINDOW {
            self.alone = work;
        } else if self.several as usize == WINDOW {
            // WHY `take`: work that is spread again before one worker has run it for a window stays
            // spread until the next trial.
            let alone = std::mem::take(&mut self.alone);
            if is_worth_it(work, alone) {
                self.change();
                self.tolerant = false;
            } else {
                self.gather = GATHER + GATHER_ON;
                self.tolerant = true;
                self.restart();
            }
        }
    }

    /// Evaluates a full window: begins a trial if one is due, or ends the one under way.
    fn decide(&mut self) {
        let work = self.window.iter().sum();
        let Some(before) = self.trial.take() else {
            if self.pause == 0 {
                self.trial = Some(work);
                self.change();
            }
            return;
        };
        let (spread, together) = if self.spread { (work, before) } else { (before, work) };
        self.alone = together;
        self.result = if is_worth_it(spread, together) {
            Some(TrialResult::Gain)
        } else {
            (spread < together).then_some(TrialResult::Loss)
        };
        if self.computed && self.spread && spread >= together {
            // WHY no gather: processes that compute stay spread without a trial.
            (self.spread, self.gather) = (false, 0);
            self.pause = self.next_pause;
            return self.restart();
        }
        if is_worth_it(spread, together) == self.spread {
            self.tolerant = !self.spread;
            self.next_pause = *PAUSES.start();
            self.pause = self.next_pause;
        } else {
            self.fail();
        }
    }

    /// Returns the result of a trial that has just ended, if it is clear.
    pub(crate) fn take_result(&mut self) -> Option<TrialResult> {
        self.result.take()
    }

    /// Ends a trial that has failed.
    fn fail(&mut self) {
        self.change();
        self.tolerant = !self.spread;
        self.next_pause = (BACKOFF * self.next_pause).min(*PAUSES.end());
        self.pause = self.next_pause;
    }

    fn change(&mut self) {
        self.spread = !self.spread;
        self.gather = GATHER + GATHER_ON;
        self.restart();
    }

    /// Begins a new window.
    fn restart(&mut self) {
        (self.ticks, self.single, self.several) = (0, 0, 0);
        self.computed = false;
    }
}

/// Returns whether spread work gets enough done for another processor.
fn is_worth_it(spread: u64, together: u64) -> bool {
    spread > together + together / 4
}

#[cfg(test)]
mod tests;
