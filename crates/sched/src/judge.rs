//! Whose turn takes too long, and what is to be done about it: the decision, without threads or
//! clocks.
//!
//! The monitor shows the judge what it sees at each tick. A worker that is in the same turn at two
//! ticks in a row is *stuck*, unless it only lacks a processor: another thread would only compete
//! with it for one. That alone is nobody's harm; something is done only when somebody
//! waits:
//!
//! | what waits | a worker is free | all are at work |
//! |---|---|---|
//! | in the queue of one that is stuck | a free one is woken, and steals | it is relieved |
//! | just woken by one that is stuck | it is laid open and a free one woken | it is relieved |
//! | from outside, or more behind one that works than its patience, and two at least | a free one is woken | one that is stuck is relieved |
//!
//! WHY two: a single process that yields is left to its worker on purpose (`Post::put_last`).

/// What the monitor sees of one worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) turn: u32,
    /// Turns and budget it has spent.
    pub(crate) work: u64,
    /// It runs a process, or has just run one and not yet found its queue empty.
    pub(crate) running: bool,
    /// Its thread could go on, but others have the processor.
    pub(crate) preempted: bool,
    /// How many wait in its queue.
    pub(crate) waiting: usize,
    /// How many may wait there without anybody helping.
    pub(crate) patience: usize,
}

/// What the monitor sees at a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) workers: &'a [View],
    /// Something came from outside and nobody has taken it.
    pub(crate) outside: bool,
    /// Workers that sleep or search.
    pub(crate) free: usize,
}

/// What to do about one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Lay open what only it can reach; if there is anything to steal, wake somebody.
    LayOpen(usize),
    /// Take its post if anything waits there.
    RelieveIfAnyWaits(usize),
    /// Take its post.
    Relieve(usize),
}

/// What to do at a tick.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) steps: Vec<Step>,
    /// Wake a worker that sleeps.
    pub(crate) wake: bool,
}

/// Remembers what it saw at the last tick.
pub(crate) struct Judge {
    before: Box<[Option<u32>]>,
}

impl Judge {
    pub(crate) fn new(workers: usize) -> Self {
        Self { before: vec![None; workers].into() }
    }

    pub(crate) fn judge(&mut self, scene: Scene<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let crowded = scene.workers.iter().any(|view| view.waiting > view.patience.max(1));
        // What waits for anybody is served once: by one who wakes, or by one who is relieved.
        let mut wanted = scene.outside || crowded;
        if scene.free > 0 {
            verdict.wake = wanted;
        }
        for (index, view) in scene.workers.iter().enumerate() {
            let turn = view.running.then_some(view.turn);
            let stuck = turn.is_some() && self.before[index] == turn && !view.preempted;
            self.before[index] = turn;
            if !stuck {
                continue;
            }
            verdict.steps.push(if scene.free > 0 {
                Step::LayOpen(index)
            } else if wanted || view.waiting > 0 {
                wanted = false;
                Step::Relieve(index)
            } else {
                Step::RelieveIfAnyWaits(index)
            });
        }
        verdict
    }

    /// Another thread has the post of that worker: nothing is known of it.
    pub(crate) fn forget(&mut self, index: usize) {
        self.before[index] = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Judge, Scene, Step, Verdict, View};
    use crate::monitor::TICK;

    const fn works(turn: u32, waiting: usize) -> View {
        View { turn, work: 0, running: true, preempted: false, waiting, patience: 0 }
    }

    const fn rests(turn: u32) -> View {
        View { turn, work: 0, running: false, preempted: false, waiting: 0, patience: 0 }
    }

    /// What is decided at the second of two ticks.
    fn second(before: &[View], now: &[View], outside: bool, free: usize) -> Verdict {
        let mut judge = Judge::new(now.len());
        let _ = judge.judge(Scene { workers: before, outside: false, free: 0 });
        judge.judge(Scene { workers: now, outside, free })
    }

    fn decided(steps: &[Step], wake: bool) -> Verdict {
        Verdict { steps: steps.to_vec(), wake }
    }

    /// Two looks at two workers, whether one waits from outside, how many are free; the verdict.
    type Case = (&'static str, [View; 2], [View; 2], bool, usize, Verdict);

    // F2: the table of the module
    #[test]
    fn each_case_is_decided_as_the_table_says() {
        use Step::{LayOpen, Relieve, RelieveIfAnyWaits};
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
                "stuck, and somebody waits in its queue",
                [works(7, 0), works(1, 0)],
                [works(7, 1), works(2, 0)],
                false,
                0,
                decided(&[Relieve(0)], false),
            ),
            (
                "stuck, and perhaps somebody is in its slot",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 0)],
                false,
                0,
                decided(&[RelieveIfAnyWaits(0)], false),
            ),
            (
                "stuck, and one waits from outside",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 0)],
                true,
                0,
                decided(&[Relieve(0)], false),
            ),
            (
                "both stuck, and one waits from outside",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(1, 0)],
                true,
                0,
                decided(&[Relieve(0), RelieveIfAnyWaits(1)], false),
            ),
            (
                "stuck, and two wait behind one that works",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 2)],
                false,
                0,
                decided(&[Relieve(0)], false),
            ),
            (
                "stuck, and a lone yielder beside one that works",
                [works(7, 0), works(1, 0)],
                [works(7, 0), works(2, 1)],
                false,
                0,
                decided(&[RelieveIfAnyWaits(0)], false),
            ),
            (
                "stuck, and another is free",
                [works(7, 0), rests(1)],
                [works(7, 1), rests(1)],
                false,
                1,
                decided(&[LayOpen(0)], false),
            ),
            (
                "nobody stuck, one free, one waits from outside",
                [works(7, 0), rests(1)],
                [works(8, 0), rests(1)],
                true,
                1,
                decided(&[], true),
            ),
            (
                "nobody stuck, one free, two wait unseen",
                [works(7, 0), rests(1)],
                [works(8, 2), rests(1)],
                false,
                1,
                decided(&[], true),
            ),
        ];
        for (name, before, now, outside, free, expected) in cases {
            assert_eq!(second(&before, &now, outside, free), expected, "{name}");
        }
    }

    #[test]
    fn a_worker_that_was_relieved_is_judged_anew() {
        let mut judge = Judge::new(1);
        let stuck = Scene { workers: &[works(3, 1)], outside: false, free: 0 };
        assert_eq!(judge.judge(stuck), decided(&[], false));
        assert_eq!(judge.judge(stuck), decided(&[Step::Relieve(0)], false));
        judge.forget(0);
        assert_eq!(judge.judge(stuck), decided(&[], false));
        assert_eq!(judge.judge(stuck), decided(&[Step::Relieve(0)], false));
    }

    /// At which of `looks`, in microseconds, the only worker is relieved if it begins a turn at each of
    /// `turns` and a process waits behind it all the while.
    fn relieved_at(looks: impl Iterator<Item = u64>, turns: &[u64]) -> Option<u64> {
        let mut judge = Judge::new(1);
        for now in looks {
            let turn = turns.iter().filter(|began| **began <= now).count() as u32;
            let scene = Scene { workers: &[works(turn, 1)], outside: false, free: 0 };
            let verdict = judge.judge(scene);
            if verdict.steps == [Step::Relieve(0)] {
                return Some(now);
            }
            assert_eq!(verdict, decided(&[], false), "at {now} µs");
        }
        None
    }

    // F2: the runtime notices within about a millisecond that a worker is stuck while others wait
    #[test]
    fn a_worker_in_one_turn_is_relieved_within_a_millisecond_whenever_the_turn_began() {
        let tick = TICK.as_micros() as u64;
        for began in tick..3 * tick {
            // Short turns go before it.
            let turns: Vec<_> = (0..began).step_by(100).chain([began]).collect();
            let looks = (0..10).map(|look| look * tick);
            let relieved = relieved_at(looks, &turns).expect("the last turn does not end");
            let time = Duration::from_micros(relieved - began);
            assert!((TICK..2 * TICK).contains(&time), "{time:?} in a turn from {began} µs on");
        }
        assert_eq!(2 * TICK, Duration::from_millis(1));
    }

    // F2: a monitor that the machine holds up finds the worker at the first look after that
    #[test]
    fn a_worker_in_one_turn_is_relieved_at_the_second_look_however_late_that_is() {
        let tick = TICK.as_micros() as u64;
        for late in [0, 1, 7, 1000, 1_000_000] {
            let looks = [tick, 2 * tick + late, 3 * tick + late];
            assert_eq!(relieved_at(looks.into_iter(), &[0]), Some(2 * tick + late));
        }
    }

    #[test]
    fn a_worker_whose_turns_are_shorter_than_a_tick_is_never_relieved() {
        let tick = TICK.as_micros() as u64;
        let looks = (1..100).map(|look| look * tick);
        for length in [1, 7, tick / 2, tick - 1, tick] {
            let turns: Vec<_> = (0..100 * tick / length).map(|turn| turn * length).collect();
            assert_eq!(relieved_at(looks.clone(), &turns), None, "turns of {length} µs");
        }
    }
}
