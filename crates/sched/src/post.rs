//! A worker's post: who is to run there, and in which order.
//!
//! A post belongs to one thread at a time, which works through it, and can be taken from a thread
//! that is stuck in a turn and given to a fresh one (`monitor`). Thieves reach the far part of the
//! queue all along (`backlog`). Nothing here runs code of a process.
//!
//! Who was woken or spawned last runs first: its data is in this core's cache, and a tree of
//! processes is worked off branch by branch and stays small, where level by level most of it would
//! be there at once. Whoever was there before it waits in a stack; past what the worker keeps for
//! itself (`Queue::keeps`) the oldest of the stack goes to the end of the queue. Where work is to be
//! spread, thieves who have nothing left get half of the stack, the oldest, which are a tree's
//! largest branches.
//!
//! F1: after so many in a row ([`LIFO_STREAK`]) the first of the queue comes next, and the oldest of
//! the stack goes to the queue's end.

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

/// Ready processes of one worker.
pub(crate) struct Post<T = Runnable> {
    backlog: Backlog<T>,
    /// The process just woken or spawned. WHY apart from the others: mostly there are none.
    newest: Cell<Option<T>>,
    /// Those woken or spawned before it.
    recent: Recent<T>,
    /// How many of these two may still run in a row.
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

    /// What others see of its queue.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue<T>>> {
        self.backlog.queue()
    }

    /// Makes a process the next to run. In a crowd the one that was comes back, for
    /// [`Post::put_second`].
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

    /// Makes a process the next to run but one: the stack is full, or others are to have some of it.
    /// Says whether others could take something off this worker now.
    pub(crate) fn put_second(&self, one: T) -> bool {
        let queue = self.queue();
        let (keeps, all) = (queue.keeps(), self.recent.len() + 1);
        let starving = queue.patience() == 0 && self.backlog.far() == 0;
        // WHY half: a crowd comes here once in a while and not each time.
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

    /// Queues a process that yields. Says whether others could take something off this worker now.
    ///
    /// WHY not for a single one: it and the process it talks to take turns on this core, where
    /// their messages are, instead of following each other from core to core.
    #[inline]
    pub(crate) fn put_last(&self, one: T) -> bool {
        self.backlog.push(one) && self.backlog.far() > 1
    }

    /// The next process to run here. In a long queue, `ahead` is shown who comes after it.
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

    /// Those woken last have had their share: the oldest of them goes to the end of the queue.
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

    /// Takes a share of what came from outside, and the first of it to run.
    pub(crate) fn take_from(&self, outside: &Injector<T>) -> Option<T> {
        self.backlog.take_from(outside)
    }

    /// Takes half of what another worker has to give, and the first of it to run.
    pub(crate) fn steal_from(&self, other: &Stealer<T>) -> Option<T> {
        self.backlog.steal_from(other)
    }

    /// Moves the processes that thieves cannot reach to where they can; `true` if there is anything
    /// for them now.
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

    /// What a worker does with a process that was woken or spawned.
    fn put_first<T>(post: &Post<T>, one: T) -> bool {
        post.put_first(one).is_some_and(|before| post.put_second(before))
    }

    #[derive(Clone, Debug)]
    enum Step {
        First,
        Last,
        Next,
        /// A thief takes one.
        Steal,
        /// The monitor changes its mind.
        Limits(usize, usize),
        LayOpen,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: making the steps then takes most of the test's time.
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
        // P2: nobody is lost and nobody doubled
        #[test]
        fn everybody_runs_once(steps in steps()) {
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

        // F1: whoever is ready runs, though in every turn another is woken
        #[test]
        fn nobody_waits_for_ever(waiting in prop::collection::vec(any::<bool>(), 1..30), patience in 0..200usize) {
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

    /// Works off a tree in which each of `levels` has ten times as many as the one before; the most that
    /// waited at a time.
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

    // issue 3: `skynet`, whose million leaves need not be there at once
    #[test]
    fn a_tree_stays_small() {
        let most = grow(&Post::new(), 5);
        assert!(most < 2000, "{most} of 111111 waited at a time");
    }

    // issue 3: what is spread is the larger branches, and whoever gives keeps the rest
    #[test]
    fn thieves_who_have_nothing_left_get_the_oldest_half() {
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

    // issue 3: a process with long turns is left to whoever has time for it
    #[test]
    fn of_long_turns_all_but_one_can_be_taken() {
        let post = Post::new();
        post.queue().set_limits(0, 0);
        (0..10).for_each(|one| assert_eq!(put_first(&post, one), one > 0));
        assert_eq!(post.backlog.far(), 9);
    }
}
