//! Whether short turns are kept together on few workers or spread over all: tried, not guessed.
//!
//! Processes that talk to each other get more done on one core, where their messages are in the
//! cache, than on two; processes that do not, get more done on two. Nothing that a scheduler sees of
//! them tells which they are. So the monitor tries: while there is more to do than one worker does,
//! it now and then has it done the other way for some ticks, and stays with what gets more done.
//!
//! *Work* is what Erlang calls reductions: a turn counts as one, and so does each unit of budget.
//! Spreading has to be worth a quarter more, since it costs another core.
//!
//! ```text
//!              more to do, pause over             at least as good
//!   watching ─────────────────────────▶ trying ─────────────────────▶ watching, the other way
//!      ▲                                  │
//!      └──────────────────────────────────┘ worse: a longer pause; or nothing to do any more
//! ```
//!
//! COST: a trial of the worse way takes 5 ticks of the monitor, every 200 ticks at first and, when
//! trials keep failing, every 4000.

use std::ops::RangeInclusive;

/// Ticks that are not counted after the way was changed.
const SETTLE: u32 = 1;
/// Ticks for which what was spread is gathered. WHY two: who was running at first is in a queue later.
const GATHER: u32 = 2;
/// Ticks that are counted.
const WINDOW: usize = 4;
/// Ticks between two trials, at first and at most.
const PAUSES: RangeInclusive<u32> = 200..=4000;

/// What the monitor saw in a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Work done by all workers.
    pub(crate) work: u64,
    /// How many of them were at it, with short turns.
    pub(crate) working: usize,
    /// Short turns wait in a queue, and somebody who could help is free.
    pub(crate) could_spread: bool,
}

/// How work is to be done until the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A worker that gets on is left alone.
    Together,
    /// The same, and what was spread is gathered on one.
    Gather,
    /// Whoever waits is worth another worker's help.
    Spread,
}

/// Remembers what was tried, and what it brought.
pub(crate) struct Spread {
    spread: bool,
    /// The work of a window before the trial, if one is under way.
    trial: Option<u64>,
    /// Ticks since the way was changed, or since there was nothing to do.
    ticks: u32,
    /// Ticks for which more than one has been at work.
    several: u32,
    /// The work of the last ticks.
    window: [u64; WINDOW],
    /// Ticks for which what was spread is still gathered.
    gather: u32,
    /// Ticks until the next trial may begin.
    pause: u32,
    next_pause: u32,
}

impl Spread {
    pub(crate) fn new() -> Self {
        let next_pause = *PAUSES.start();
        Self {
            spread: false,
            trial: None,
            ticks: 0,
            several: 0,
            window: [0; WINDOW],
            gather: 0,
            pause: next_pause,
            next_pause,
        }
    }

    /// Takes a tick into account.
    pub(crate) fn tick(&mut self, seen: Seen) -> Way {
        self.pause = self.pause.saturating_sub(1);
        let several = seen.working > 1;
        let goes_on = match (self.trial, self.spread) {
            (Some(_), _) => seen.working > 0,
            (None, true) => several,
            (None, false) => several || seen.could_spread,
        };
        self.several = if several { self.several + 1 } else { 0 };
        if self.trial.is_none() && !self.spread && self.several as usize == WINDOW {
            // It was spread otherwise: by an overload, or from outside.
            self.change();
        }
        if goes_on {
            self.window[self.ticks as usize % WINDOW] = seen.work;
            self.ticks += 1;
            if self.ticks >= SETTLE + WINDOW as u32 {
                self.decide();
            }
        } else {
            self.ticks = 0;
            if self.trial.take().is_some() {
                self.change();
            }
        }
        if self.spread {
            return Way::Spread;
        }
        let gather = self.gather > 0;
        self.gather = self.gather.saturating_sub(1);
        if gather { Way::Gather } else { Way::Together }
    }

    /// A window is full: begins a trial if it is time, or ends the one that is under way.
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
        if (spread > together + together / 4) == self.spread {
            self.next_pause = *PAUSES.start();
        } else {
            self.change();
            self.next_pause = (2 * self.next_pause).min(*PAUSES.end());
        }
        self.pause = self.next_pause;
    }

    fn change(&mut self) {
        self.spread = !self.spread;
        self.ticks = 0;
        self.gather = GATHER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through a number of ticks in which there is more to do than for one, and in which so much
    /// gets done in each way; says how many ticks were spread.
    fn ticks(it: &mut Spread, count: usize, together: u64, spread: u64) -> usize {
        let mut way = if it.spread { Way::Spread } else { Way::Together };
        let mut spread_out = 0;
        for _ in 0..count {
            let out = way == Way::Spread;
            spread_out += usize::from(out);
            let work = if out { spread } else { together };
            way = it.tick(Seen { work, working: 1 + usize::from(out), could_spread: !out });
        }
        spread_out
    }

    const TRIAL: usize = SETTLE as usize + WINDOW;
    const PAUSE: usize = *PAUSES.start() as usize;

    #[test]
    fn work_is_spread_once_that_has_brought_a_quarter_more() {
        let mut it = Spread::new();
        assert_eq!(ticks(&mut it, PAUSE, 100, 126), 0);
        assert_eq!(ticks(&mut it, PAUSE, 100, 126), PAUSE);
        let mut it = Spread::new();
        assert_eq!(ticks(&mut it, 2 * PAUSE, 100, 125), TRIAL, "a trial, and no more");
    }

    #[test]
    fn what_changes_its_nature_is_found_out() {
        let mut it = Spread::new();
        ticks(&mut it, 10 * PAUSE, 100, 200);
        assert!(it.spread);
        ticks(&mut it, 30 * PAUSE, 100, 50);
        assert!(!it.spread);
        ticks(&mut it, 30 * PAUSE, 100, 200);
        assert!(it.spread);
    }

    #[test]
    fn what_was_spread_otherwise_is_tried_together() {
        let mut it = Spread::new();
        let seen = Seen { work: 100, working: 2, could_spread: false };
        let ways: Vec<_> = (0..PAUSE + 2).map(|_| it.tick(seen)).collect();
        assert_eq!(ways[WINDOW - 1], Way::Spread);
        assert_eq!(ways[PAUSE], Way::Gather);
    }

    #[test]
    fn trials_that_fail_become_rare() {
        let mut it = Spread::new();
        let first = ticks(&mut it, 100 * PAUSE, 100, 50);
        let later = ticks(&mut it, 100 * PAUSE, 100, 50);
        assert!((4..10).contains(&(first / TRIAL)) && later <= 5 * TRIAL, "{first}, {later}");
    }

    #[test]
    fn a_trial_without_anything_to_do_proves_nothing() {
        let mut it = Spread::new();
        ticks(&mut it, PAUSE, 100, 200);
        assert!(it.spread && it.trial.is_some());
        assert_eq!(it.tick(Seen { work: 0, working: 0, could_spread: false }), Way::Gather);
        assert_eq!(ticks(&mut it, TRIAL, 100, 200), 0, "it is tried again as soon as it can be");
        assert_eq!(ticks(&mut it, TRIAL, 100, 200), TRIAL);
    }

    #[test]
    fn what_was_spread_is_gathered_when_it_is_tried_or_kept_together() {
        let mut it = Spread::new();
        ticks(&mut it, PAUSE, 100, 50);
        let seen = Seen { work: 50, working: 2, could_spread: false };
        let ways: Vec<_> = (0..TRIAL + 3).map(|_| it.tick(seen)).collect();
        assert_eq!(ways[..TRIAL - 1], [Way::Spread; TRIAL - 1]);
        assert_eq!(ways[TRIAL - 1..], [Way::Gather, Way::Gather, Way::Together, Way::Together]);
    }
}
