//! The worker's core: run queue and LIFO slots.
//!
//! A core belongs to one thread at a time. Sysmon can take it from a thread that is stalled in a
//! turn and hand it off to a fresh one (`monitor`). Thieves can reach the stealable part of the
//! queue all the time (`backlog`). Nothing here runs code of a process.
//!
//! The process woken or spawned last runs first: its data is in the CPU cache, and a tree of
//! processes is executed depth first and stays small; breadth first, most of it would exist at the
//! same time. The process that the slot held before moves to a stack. When the stack exceeds the
//! worker's limit (`Queue::keeps`), its oldest entries move to the end of the queue. When work is
//! to be spread, thieves that have nothing left get the older half of the stack, which are the
//! largest branches of a tree.
//!
//! F1: after [`LIFO_STREAK`] turns in a row from the slots, the first process of the queue runs
//! next, and the oldest of the stack moves to the end of the queue.

use std::cell::Cell;
use std::iter;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use purlin_raw::Runnable;

use crate::backlog::Backlog;
use crate::queue::Queue;
use crate::recent::{RECENT, Recent};
use crate::sync::deque::{Injector, Stealer};
use crate::{LIFO_STREAK, LIFO_STREAK_OF_SHORT_TURNS};

/// Core of a worker: its ready processes.
pub(crate) struct Post<T = Runnable> {
    backlog: Backlog<T>,
    /// LIFO slot: the process just woken or spawned. WHY apart from the stack: the stack is mostly
    /// empty.
    newest: Cell<Option<T>>,
    /// LIFO stack: processes woken or spawned before it.
    recent: Recent<T>,
    /// Number of turns in a row that the slot and the stack may still take.
    streak: Cell<u32>,
}

impl<T> Post<T> {
    pub(crate) fn new() -> Self {
        Self {
            backlog: Backlog::new(),
            newest: Cell::new(None),
            recent: Recent::new(),
            streak: Cell::new(LIFO_STREAK),
        }
    }

    /// Returns the run queue as other workers see it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue<T>>> {
        self.backlog.queue()
    }

    /// Makes a process the next to run. Returns the previous occupant of the slot if the stack
    /// cannot take it; the caller must pass it to [`Post::put_second`].
    #[inline]
    pub(crate) fn put_first(&self, one: T) -> Option<T> {
        let before = self.newest.replace(Some(one))?;
        let queue = self.queue();
        if self.recent.len() >= queue.keeps() || queue.patience() == 0 {
            return Some(before);
        }
        self.recent.push(before);
        queue.set_recent(self.recent.len());
        None
    }

    /// Makes a process the next but one to run, when the stack is full or thieves are to get some
    /// of it. Returns `true` if other workers can steal from this worker now.
    pub(crate) fn put_second(&self, one: T) -> bool {
        let queue = self.queue();
        let (keeps, all) = (queue.keeps(), self.recent.len() + 1);
        let starving = queue.patience() == 0 && self.backlog.far() == 0;
        // WHY half: a long series of pushes then reaches this path rarely.
        let stay = if all > keeps { keeps / 2 } else { all };
        let stay = if starving { stay.min(all / 2) } else { stay };
        let mut others_could = false;
        for _ in stay.max(1)..all {
            others_could |= self.recent.shift().is_some_and(|oldest| self.backlog.push(oldest));
        }
        if stay > 0 {
            self.recent.push(one);
        } else {
            others_could |= self.backlog.push(one);
        }
        queue.set_recent(self.recent.len());
        others_could
    }

    /// Appends a process that yields to the queue. Returns `true` if other workers should be woken
    /// to steal.
    ///
    /// WHY not for a single process: it and the process it talks to take turns on this processor,
    /// where their messages are cached, instead of following each other from one processor to
    /// another.
    #[inline]
    pub(crate) fn put_last(&self, one: T) -> bool {
        self.backlog.push(one) && self.backlog.far() > 1
    }

    /// Pops the next process to run. In a long queue, calls `ahead` with the process after it.
    #[inline]
    pub(crate) fn next(&self, ahead: impl FnOnce(&T)) -> Option<T> {
        if let Some(newest) = self.newest.take().or_else(|| self.pop_recent()) {
            let streak = self.streak.get();
            if streak > 0 {
                self.streak.set(streak - 1);
                return Some(newest);
            }
            self.give_way(newest);
        }
        self.streak.set(self.longest_streak());
        self.backlog.pop(ahead).or_else(|| self.pop_recent())
    }

    #[inline]
    fn pop_recent(&self) -> Option<T> {
        let newest = self.recent.pop()?;
        self.queue().set_recent(self.recent.len());
        Some(newest)
    }

    fn longest_streak(&self) -> u32 {
        if self.queue().keeps() < RECENT { LIFO_STREAK } else { LIFO_STREAK_OF_SHORT_TURNS }
    }

    /// Ends a streak of the slots: moves the oldest of them to the end of the queue.
    #[cold]
    fn give_way(&self, newest: T) {
        let oldest = match self.recent.shift() {
            Some(oldest) => {
                self.recent.push(newest);
                oldest
            }
            None => newest,
        };
        self.backlog.push(oldest);
    }

    /// Steals a batch from the global queue and returns its first process.
    pub(crate) fn take_from(&self, outside: &Injector<T>) -> Option<T> {
        self.backlog.take_from(outside)
    }

    /// Steals half of another worker's stealable queue and returns its first process.
    pub(crate) fn steal_from(&self, other: &Stealer<T>) -> Option<T> {
        self.backlog.steal_from(other)
    }

    /// Moves all processes that thieves cannot reach to the stealable queue. Returns `true` if that
    /// queue is not empty.
    pub(crate) fn lay_open(&mut self) -> bool {
        let recent = iter::from_fn(|| self.recent.shift()).chain(self.newest.take());
        let anything = self.backlog.lay_open(recent);
        self.queue().set_recent(0);
        anything
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use proptest::prelude::*;

    use super::Post;
    use crate::LIFO_STREAK_OF_SHORT_TURNS;
    use crate::sync::deque::Steal;

    /// Adds a process as a worker does when it is woken or spawned.
    fn put_first<T>(post: &Post<T>, one: T) -> bool {
        post.put_first(one).is_some_and(|before| post.put_second(before))
    }

    #[derive(Clone, Debug)]
    enum Step {
        First,
        Last,
        Next,
        /// A thief steals one process.
        Steal,
        /// Sysmon sets the steal threshold and the limit of the stack.
        Limits(usize, usize),
        LayOpen,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        let step =
            (0..20u8, 0..100usize, 0..100usize).prop_map(|(kind, patience, pace)| match kind {
                0..6 => Step::First,
                6..9 => Step::Last,
                9..17 => Step::Next,
                17 => Step::Steal,
                18 => Step::Limits(patience, pace),
                _ => Step::LayOpen,
            });
        prop::collection::vec(step, 0..2000)
    }

    proptest! {
        // P2: no process is lost or duplicated
        #[test]
        fn no_process_is_lost_or_duplicated(steps in steps()) {
            let mut post = Post::new();
            let (mut ran, mut next) = (Vec::new(), 0u32);
            for step in steps {
                match step {
                    Step::First | Step::Last => {
                        let put = if matches!(step, Step::First) { put_first } else { Post::put_last };
                        let others_could = put(&post, next);
                        prop_assert!(!others_could || post.queue().wants_help());
                        next += 1;
                    }
                    Step::Next => ran.extend(post.next(|_| ())),
                    Step::Steal => {
                        if let Steal::Success(one) = post.queue().stealer.steal() {
                            ran.push(one);
                        }
                    }
                    Step::Limits(patience, pace) => post.queue().set_limits(patience, pace),
                    Step::LayOpen => prop_assert_eq!(post.lay_open(), post.queue().wants_help()),
                }
                let in_slot = usize::from(post.newest.take().inspect(|&one| post.newest.set(Some(one))).is_some());
                prop_assert_eq!(post.queue().waiting() + in_slot + ran.len(), next as usize, "what the monitor sees");
            }
            ran.extend(std::iter::from_fn(|| post.next(|_| ())));
            ran.sort_unstable();
            prop_assert!(ran.into_iter().eq(0..next));
        }

        // F1: every ready process runs, although each turn wakes another one
        #[test]
        fn every_ready_process_runs(waiting in prop::collection::vec(any::<bool>(), 1..30), patience in 0..200usize) {
            let post = Post::new();
            post.queue().set_limits(patience, patience);
            for (one, first) in waiting.iter().enumerate() {
                let _ = if *first { put_first(&post, one) } else { post.put_last(one) };
            }
            let mut left = waiting.len();
            let mut turns = 0;
            while left > 0 {
                let one = post.next(|_| ()).expect("some are ready");
                left -= usize::from(one < waiting.len());
                put_first(&post, usize::MAX);
                turns += 1;
            }
            prop_assert!(turns <= (waiting.len() + 1) * 2 * (LIFO_STREAK_OF_SHORT_TURNS as usize + 1), "{turns}");
        }
    }

    /// Executes a tree in which each of `levels` has ten times the processes of the level above.
    /// Returns the maximum number that waited at a time.
    fn grow(post: &Post<u32>, levels: u32) -> usize {
        put_first(post, levels);
        let mut most = 0;
        while let Some(level) = post.next(|_| ()) {
            if level > 0 {
                for _ in 0..10 {
                    put_first(post, level - 1);
                }
            }
            most = most.max(post.queue().waiting());
        }
        most
    }

    // issue 3: `skynet`: its million leaves need not exist at the same time
    #[test]
    fn a_tree_of_processes_keeps_the_queue_short() {
        let most = grow(&Post::new(), 5);
        assert!(most < 2000, "{most} of 111111 waited at a time");
    }

    // issue 3: thieves get the larger branches, and the victim keeps the rest
    #[test]
    fn thieves_without_work_get_the_older_half_of_the_stack() {
        let post = Post::new();
        post.queue().set_limits(0, 1000);
        (0..2).for_each(|one| assert_eq!(put_first(&post, one), one == 1));
        assert_eq!(post.backlog.far(), 1, "the first, as nobody else was there");
        (2..10).for_each(|one| assert!(!put_first(&post, one)));
        assert_eq!(post.queue().stealer.steal().success(), Some(0));
        assert!(put_first(&post, 10));
        let far: Vec<_> = std::iter::from_fn(|| post.queue().stealer.steal().success()).collect();
        assert_eq!(far, [1, 2, 3, 4, 5]);
    }

    // issue 3: processes with long turns are left to any worker that is free
    #[test]
    fn all_but_one_process_with_long_turns_are_stealable() {
        let post = Post::new();
        post.queue().set_limits(0, 0);
        (0..10).for_each(|one| assert_eq!(put_first(&post, one), one > 0));
        assert_eq!(post.backlog.far(), 9);
    }
}
