//! The worker's core: run queue and LIFO slots.
//!
//! A core belongs to one thread at a time. Sysmon can take it from a thread that is stalled in a
//! turn and hand it off to a fresh one (`sysmon`). Thieves can reach the stealable part of the
//! queue all the time (`shared_queue`). Nothing here runs code of a process, except that the deque's
//! epoch-based reclamation may run destructors which other users of the same collector have deferred.
//! A process that one of them wakes goes to the global queue.
//!
//! The process woken or spawned last runs first: its data is in the CPU cache, and a tree of
//! processes is executed depth first and stays small; breadth first, most of it would exist at the
//! same time. The process that the slot held before moves to a stack. When the stack exceeds the
//! worker's limit (`SharedQueue::lifo_limit`), its oldest entries move to the end of the queue. When
//! work is to be spread, a thief without work gets the older half of the stack, which holds the
//! largest branches of a tree.
//!
//! A receiver that has used up its budget runs again after each process of the queue, until it has
//! caught up: its senders, which may be many, would otherwise fill its mailbox faster than it empties it.
//!
//! A process that waits for a reply may ask to run right after the process that it has called, if
//! that one is in the slot (`accepts_second`, `push_second`), instead of sleeping until the reply
//! wakes it.
//!
//! F1: after a streak of turns from the slots, the first process of the queue runs next, and the
//! oldest of the stack moves to the end of the queue. A streak has [`LIFO_STREAK`] turns. A worker that
//! makes fewer than 32 turns in half a millisecond has a streak of as many, but of at least
//! [`LIFO_STREAK_OF_LONG_TURNS`].

use std::cell::Cell;
use std::iter;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use purlin_raw::Runnable;

use crate::worker::lifo::{CAPACITY, LifoSlots};
use crate::worker::local_queue::LocalQueue;
use crate::worker::shared_queue::SharedQueue;
use crate::{LIFO_STREAK, LIFO_STREAK_OF_LONG_TURNS};

/// Core of a worker: its ready processes.
pub(crate) struct Core<T = Runnable> {
    pub(super) queue: LocalQueue<T>,
    /// LIFO slot: the process just woken or spawned. WHY apart from the stack: the stack is mostly
    /// empty.
    newest: Cell<Option<T>>,
    /// LIFO stack: processes woken or spawned before it.
    lifo: LifoSlots<T>,
    /// A receiver that is behind its senders.
    behind: Cell<Option<T>>,
    /// Whether it runs before the queue.
    behind_is_due: Cell<bool>,
    /// Number of turns in a row that the slot and the stack may still take.
    streak: Cell<u32>,
}

impl<T> Core<T> {
    pub(crate) fn new() -> Self {
        Self {
            queue: LocalQueue::new(),
            newest: Cell::new(None),
            lifo: LifoSlots::new(),
            behind: Cell::new(None),
            behind_is_due: Cell::new(false),
            streak: Cell::new(LIFO_STREAK),
        }
    }

    /// Returns the run queue as other workers see it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<SharedQueue<T>>> {
        self.queue.queue()
    }

    /// Makes a process the next to run. Returns the previous occupant of the slot if the stack
    /// cannot take it; the caller must pass it to [`Core::push_lifo_second`].
    #[inline]
    pub(crate) fn push_lifo(&self, one: T) -> Option<T> {
        let before = self.newest.replace(Some(one))?;
        let queue = self.queue();
        if self.lifo.len() >= queue.lifo_limit() || queue.steal_threshold() == 0 {
            return Some(before);
        }
        self.lifo.push(before);
        queue.set_lifo_len(self.lifo.len());
        None
    }

    /// Makes a process the next but one to run, when the stack is full or thieves are to get some
    /// of it. Returns `true` if other workers can steal from this worker now.
    pub(crate) fn push_lifo_second(&self, one: T) -> bool {
        let queue = self.queue();
        let (keeps, all) = (queue.lifo_limit(), self.lifo.len() + 1);
        let starving = queue.steal_threshold() == 0 && self.queue.stealable_len() == 0;
        // WHY half: a long series of pushes then reaches this path rarely.
        let stay = if all > keeps { keeps / 2 } else { all };
        let stay = if starving { stay.min(all / 2) } else { stay };
        let mut others_could = false;
        for _ in stay.max(1)..all {
            others_could |= self.lifo.pop_oldest().is_some_and(|oldest| self.queue.push(oldest));
        }
        if stay > 0 {
            self.lifo.push(one);
        } else {
            others_could |= self.queue.push(one);
        }
        queue.set_lifo_len(self.lifo.len());
        others_could
    }

    /// Returns whether the process that `is_called` accepts runs next, and [`Core::push_second`]
    /// would put another one right behind it.
    #[inline]
    pub(crate) fn accepts_second(&self, is_called: impl FnOnce(&T) -> bool) -> bool {
        let newest = self.newest.take();
        let runs_next = newest.as_ref().is_some_and(is_called) && self.streak.get() > 0;
        self.newest.set(newest);
        runs_next && self.lifo.len() < CAPACITY
    }

    /// Makes a process the next but one to run, after the process in the slot, whose reply it waits
    /// for. It has nothing to do until that one has run, so the limit of the stack does not apply
    /// and thieves do not get it. Returns `true` if other workers can steal from this worker now.
    #[inline]
    pub(crate) fn push_second(&self, one: T) -> bool {
        if self.lifo.len() == CAPACITY {
            return self.push_lifo_second(one);
        }
        self.lifo.push(one);
        self.queue().set_lifo_len(self.lifo.len());
        false
    }

    /// Appends a process that yields to the queue. Returns `true` if other workers should be woken
    /// to steal.
    ///
    /// WHY not for a single process: it and the process it talks to take turns on this processor,
    /// where their messages are cached, instead of following each other from one processor to
    /// another. If processes compute, both are worth a processor.
    #[inline]
    pub(crate) fn push_back(&self, one: T) -> bool {
        self.queue.push(one) && (self.queue.stealable_len() > 1 || self.computing_runs_next())
    }

    /// Returns whether a process is in the slot of a worker whose processes compute or have long turns.
    fn computing_runs_next(&self) -> bool {
        let newest = self.newest.take();
        let runs_next = newest.is_some() && self.queue().computes();
        self.newest.set(newest);
        runs_next
    }

    /// Makes a receiver that is behind its senders run after the next process of the queue, unless
    /// processes have to be spread. Another one that waits for this moves to the queue. Returns `true`
    /// if other workers should be woken to steal.
    pub(crate) fn push_behind(&self, one: T) -> bool {
        if self.queue().steal_threshold() == 0 {
            return self.push_back(one);
        }
        self.behind_is_due.set(false);
        self.queue().set_behind(true);
        self.behind.replace(Some(one)).is_some_and(|before| self.push_back(before))
    }

    /// Pops the next process to run. In a long queue, calls `ahead` with the process after it.
    #[inline]
    pub(crate) fn next(&self, ahead: impl FnOnce(&T)) -> Option<T> {
        if let Some(newest) = self.newest.take().or_else(|| self.pop_lifo()) {
            let streak = self.streak.get();
            if streak > 0 {
                self.streak.set(streak - 1);
                return Some(newest);
            }
            self.rotate_lifo(newest);
        }
        self.streak.set(self.longest_streak());
        if self.behind_is_due.replace(true)
            && let Some(behind) = self.take_behind()
        {
            return Some(behind);
        }
        self.queue.pop(ahead).or_else(|| self.pop_lifo()).or_else(|| self.take_behind())
    }

    #[inline]
    fn take_behind(&self) -> Option<T> {
        let behind = self.behind.take()?;
        self.queue().set_behind(false);
        Some(behind)
    }

    #[inline]
    fn pop_lifo(&self) -> Option<T> {
        let newest = self.lifo.pop()?;
        self.queue().set_lifo_len(self.lifo.len());
        Some(newest)
    }

    fn longest_streak(&self) -> u32 {
        match self.queue().lifo_limit() {
            CAPACITY.. => LIFO_STREAK,
            // The turns in half a millisecond.
            limit => (limit as u32 / 2).max(LIFO_STREAK_OF_LONG_TURNS),
        }
    }

    /// Ends a streak of the slots: moves the oldest of them to the end of the queue.
    #[cold]
    fn rotate_lifo(&self, newest: T) {
        let oldest = match self.lifo.pop_oldest() {
            Some(oldest) => {
                self.lifo.push(newest);
                oldest
            }
            None => newest,
        };
        self.queue.push(oldest);
    }

    /// Moves all processes that thieves cannot reach to the stealable queue. Returns `true` if that
    /// queue is not empty.
    pub(crate) fn expose_all(&mut self) -> bool {
        let recent = iter::from_fn(|| self.lifo.pop_oldest()).chain(self.newest.take());
        let recent = recent.chain(self.take_behind());
        let anything = self.queue.expose_all(recent);
        self.queue().set_lifo_len(0);
        anything
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use proptest::prelude::*;

    use super::Core;
    use crate::sync::deque::Steal;
    use crate::{LIFO_STREAK, LIFO_STREAK_OF_LONG_TURNS};

    /// Adds a process as a worker does when it is woken or spawned.
    fn push_first<T>(core: &Core<T>, one: T) -> bool {
        core.push_lifo(one).is_some_and(|before| core.push_lifo_second(before))
    }

    #[derive(Clone, Debug)]
    enum Step {
        First,
        Last,
        Second,
        Behind,
        Next,
        /// A thief steals one process.
        Steal,
        /// Sysmon sets the steal threshold and the limit of the stack.
        Limits(usize, usize),
        Expose,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        let step =
            (0..20u8, 0..100usize, 0..100usize).prop_map(|(kind, threshold, pace)| match kind {
                0..6 => Step::First,
                6..8 => Step::Last,
                8 => Step::Second,
                9 => Step::Behind,
                10..17 => Step::Next,
                17 => Step::Steal,
                18 => Step::Limits(threshold, pace),
                _ => Step::Expose,
            });
        prop::collection::vec(step, 0..2000)
    }

    proptest! {
        // P2: no process is lost or duplicated
        #[test]
        fn no_process_is_lost_or_duplicated(steps in steps()) {
            let mut core = Core::new();
            let (mut ran, mut next) = (Vec::new(), 0u32);
            for step in steps {
                match step {
                    Step::First | Step::Last | Step::Second | Step::Behind => {
                        let others_could = match step {
                            Step::First => push_first(&core, next),
                            Step::Last => core.push_back(next),
                            Step::Behind => core.push_behind(next),
                            _ => core.push_second(next),
                        };
                        prop_assert!(!others_could || core.queue().wants_help());
                        next += 1;
                    }
                    Step::Next => ran.extend(core.next(|_| ())),
                    Step::Steal => {
                        if let Steal::Success(one) = core.queue().stealer.steal() {
                            ran.push(one);
                        }
                    }
                    Step::Limits(threshold, pace) => core.queue().set_limits(threshold, threshold / 2, pace),
                    Step::Expose => {
                        prop_assert_eq!(core.expose_all(), !core.queue().stealer.is_empty());
                    }
                }
                let in_slot = usize::from(core.newest.take().inspect(|&one| core.newest.set(Some(one))).is_some());
                prop_assert_eq!(core.queue().waiting() + in_slot + ran.len(), next as usize, "the published length");
            }
            ran.extend(std::iter::from_fn(|| core.next(|_| ())));
            ran.sort_unstable();
            prop_assert!(ran.into_iter().eq(0..next));
        }

        // F1: every ready process runs, although each turn wakes another one
        #[test]
        fn every_ready_process_runs(waiting in prop::collection::vec(any::<bool>(), 1..30), threshold in 0..200usize) {
            let core = Core::new();
            core.queue().set_limits(threshold, threshold / 2, threshold);
            for (one, first) in waiting.iter().enumerate() {
                let _ = if *first { push_first(&core, one) } else { core.push_back(one) };
            }
            let mut left = waiting.len();
            let mut turns = 0;
            while left > 0 {
                let one = core.next(|_| ()).expect("some are ready");
                left -= usize::from(one < waiting.len());
                push_first(&core, usize::MAX);
                turns += 1;
            }
            prop_assert!(turns <= (waiting.len() + 1) * 2 * (LIFO_STREAK as usize + 1), "{turns}");
        }
    }

    // F1: a process and the server that it calls do not keep others waiting for long turns
    #[test]
    fn a_streak_is_as_long_as_half_a_millisecond_but_of_four_turns_at_least() {
        let expected = [(0, LIFO_STREAK_OF_LONG_TURNS), (20, 10), (63, 31), (64, LIFO_STREAK)];
        for (pace, streak) in expected {
            let core = Core::new();
            core.queue().set_limits(pace, 0, pace);
            (0..3).for_each(|_| _ = core.push_back("other"));
            assert_eq!(core.next(|_| ()), Some("other"));
            let turns = (0..).take_while(|_| {
                push_first(&core, "newest");
                core.next(|_| ()) == Some("newest")
            });
            assert_eq!(turns.count(), streak as usize, "with {pace} turns in a millisecond");
        }
    }

    /// Executes a tree in which each of `levels` has ten times the processes of the level above.
    /// Returns the maximum number that waited at a time.
    fn grow(core: &Core<u32>, levels: u32) -> usize {
        push_first(core, levels);
        let mut most = 0;
        while let Some(level) = core.next(|_| ()) {
            if level > 0 {
                for _ in 0..10 {
                    push_first(core, level - 1);
                }
            }
            most = most.max(core.queue().waiting());
        }
        most
    }

    // `skynet`: its million leaves need not exist at the same time
    #[test]
    fn a_tree_of_processes_keeps_the_queue_short() {
        let most = grow(&Core::new(), 5);
        assert!(most < 2000, "{most} of 111111 waited at a time");
    }

    // Thieves get the larger branches, and the victim keeps the rest
    #[test]
    fn thieves_without_work_get_the_older_half_of_the_stack() {
        let core = Core::new();
        core.queue().set_limits(0, 0, 1000);
        (0..2).for_each(|one| assert_eq!(push_first(&core, one), one == 1));
        assert_eq!(core.queue.stealable_len(), 1, "the first, as the queue was empty");
        (2..10).for_each(|one| assert!(!push_first(&core, one)));
        assert_eq!(core.queue().stealer.steal().success(), Some(0));
        assert!(push_first(&core, 10));
        let stolen: Vec<_> =
            std::iter::from_fn(|| core.queue().stealer.steal().success()).collect();
        assert_eq!(stolen, [1, 2, 3, 4, 5]);
    }

    // F3: a receiver gets every other turn until it has caught up, and its senders the others
    #[test]
    fn a_receiver_that_is_behind_runs_after_each_process_of_the_queue() {
        let core = Core::new();
        (1..4).for_each(|sender| assert!(!core.push_back(sender)));
        let receiver = 0;
        core.push_behind(receiver);
        let mut order = Vec::new();
        while let Some(one) = core.next(|_| ()) {
            order.push(one);
            if one == receiver && order.len() < 6 {
                core.push_behind(receiver);
            }
        }
        assert_eq!(order, [1, receiver, 2, receiver, 3, receiver]);
    }

    // Of two receivers that are behind, the one that has waited longer moves to the queue
    #[test]
    fn one_receiver_at_a_time_is_preferred() {
        let core = Core::new();
        core.push_back("sender");
        core.push_behind("first");
        core.push_behind("second");
        let order: Vec<_> = std::iter::from_fn(|| core.next(|_| ())).collect();
        assert_eq!(order, ["sender", "second", "first"]);
    }

    // A caller runs right after the server that it has called
    #[test]
    fn second_process_runs_after_the_next_one_and_before_all_others() {
        let core = Core::new();
        core.queue().set_limits(0, 0, 0);
        let is_server = |one: &&str| *one == "server";
        assert!(!core.push_back("other") && !core.accepts_second(is_server));
        assert!(!push_first(&core, "server") && core.accepts_second(is_server));
        assert!(!core.push_second("caller"));
        let order: Vec<_> = std::iter::from_fn(|| core.next(|_| ())).collect();
        assert_eq!(order, ["server", "caller", "other"]);
    }

    // A caller does not wait for the turn of a process that it has not called
    #[test]
    fn no_process_runs_second_unless_the_called_one_runs_next() {
        let core = Core::new();
        let is_server = |one: &&str| *one == "server";
        push_first(&core, "server");
        push_first(&core, "other");
        assert!(!core.accepts_second(is_server), "another process is next");
        assert_eq!(core.next(|_| ()), Some("other"));
        assert!(!core.accepts_second(is_server), "the slot is empty");
        core.streak.set(0);
        push_first(&core, "server");
        assert!(!core.accepts_second(is_server), "the queue is next");
    }

    // A filter of a pipeline and the next one, which it has woken, run on two processors
    #[test]
    fn a_process_that_yields_is_worth_a_worker_if_another_one_runs_next_and_both_compute() {
        let yields = |others: &[&'static str], pace| {
            let core = Core::new();
            core.queue().set_limits(0, 0, pace);
            others.iter().for_each(|other| assert!(!push_first(&core, *other)));
            core.push_back("yields")
        };
        assert!(yields(&["next"], 0));
        assert!(!yields(&[], 0), "it runs again here");
        assert!(!yields(&["next"], 1000), "short turns, spread by a trial");
    }

    // Processes with long turns are left to any worker that is free
    #[test]
    fn all_but_one_process_with_long_turns_are_stealable() {
        let core = Core::new();
        core.queue().set_limits(0, 0, 0);
        (0..10).for_each(|one| assert_eq!(push_first(&core, one), one > 0));
        assert_eq!(core.queue.stealable_len(), 9);
    }
}
