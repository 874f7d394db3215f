//! Who waits for a worker, first in, first out, in two parts.
//!
//! Who is *near* is the worker's own, reached by plain loads and stores; who is *far* can be taken by
//! thieves, who hold the other end. As many are near as the worker is to get through without help
//! (`Queue::patience`). When more come, half of the near move to the far part, and all who come later
//! stand behind them until the far part has been worked off.
//!
//! It belongs to one thread at a time, as its post does.
//!
//! INVARIANT: whoever is near came before all who are far, save after all was laid open.
//!
//! COST: for the near, a few plain reads and writes; for the far, an atomic addition each. The near
//! part keeps the memory of its longest time: a word for each that the worker gets through in a
//! millisecond.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::queue::Queue;
use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};

/// Who waits for a worker.
pub(crate) struct Backlog<T> {
    near: RefCell<VecDeque<T>>,
    /// Those behind them. Thieves hold the other end.
    far: Deque<T>,
    /// There may be some far.
    beyond: Cell<bool>,
    /// What others see of it.
    queue: Arc<CachePadded<Queue<T>>>,
}

/// In a queue of that length a process has left the core's cache by the time it runs.
const LONG: usize = 256;
/// How many come near at a time of those who are far.
const BATCH: usize = if cfg!(shuttle) { 2 } else { 64 };

impl<T> Backlog<T> {
    pub(crate) fn new() -> Self {
        // WHY first in, first out: everybody who is ready runs (F1).
        let far = Deque::new_fifo();
        Self {
            near: RefCell::default(),
            queue: Arc::new(CachePadded::new(Queue::new(far.stealer()))),
            far,
            beyond: Cell::new(false),
        }
    }

    /// What others see of it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue<T>>> {
        &self.queue
    }

    /// How many others could take.
    pub(crate) fn far(&self) -> usize {
        self.far.len()
    }

    /// Adds one at the end. Says whether others could take it.
    #[inline]
    pub(crate) fn push(&self, last: T) -> bool {
        let mut near = self.near.borrow_mut();
        if self.beyond.get() || near.len() >= self.queue.patience() {
            self.push_far(near, last);
            return true;
        }
        near.push_back(last);
        self.queue.set_near(near.len());
        false
    }

    #[cold]
    fn push_far(&self, mut near: RefMut<'_, VecDeque<T>>, last: T) {
        if !self.beyond.replace(true) && !near.is_empty() {
            // WHY half: whoever helps finds enough to do to make it worth the while.
            let rest = near.len().min(self.queue.patience() / 2);
            near.drain(rest..).for_each(|surplus| self.far.push(surplus));
            self.queue.set_near(rest);
        }
        self.far.push(last);
    }

    /// Takes the first. In a long queue, `ahead` is shown who comes after it.
    #[inline]
    pub(crate) fn pop(&self, ahead: impl FnOnce(&T)) -> Option<T> {
        let mut near = self.near.borrow_mut();
        let first = match near.pop_front() {
            None if self.beyond.get() => self.approach(&mut near),
            first => first,
        }?;
        self.queue.set_near(near.len());
        if (near.len() >= LONG || self.beyond.get())
            && let Some(next) = near.front()
        {
            ahead(next);
        }
        Some(first)
    }

    /// The first of those who are far; some of the others come near.
    #[cold]
    fn approach(&self, near: &mut VecDeque<T>) -> Option<T> {
        let first = self.far.pop();
        // WHY in a long queue whatever the patience: there is enough left for others.
        let batch = if self.far.len() >= LONG { BATCH } else { self.queue.patience().min(BATCH) };
        near.extend(std::iter::from_fn(|| self.far.pop()).take(batch));
        self.beyond.set(!self.far.is_empty());
        first
    }

    /// Takes a share of what came from outside, and the first of it.
    pub(crate) fn take_from(&self, outside: &Injector<T>) -> Option<T> {
        self.taken(|far| outside.steal_batch_and_pop(far))
    }

    /// Takes half of what another worker has to give, and the first of it.
    pub(crate) fn steal_from(&self, other: &Stealer<T>) -> Option<T> {
        self.taken(|far| other.steal_batch_with_limit_and_pop(far, usize::MAX))
    }

    fn taken(&self, steal: impl Fn(&Deque<T>) -> Steal<T>) -> Option<T> {
        loop {
            match steal(&self.far) {
                Steal::Success(first) => {
                    self.beyond.set(self.beyond.get() || !self.far.is_empty());
                    return Some(first);
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Moves all who are near, and others, to where thieves can take them; `true` if there is
    /// anything for them now.
    pub(crate) fn lay_open(&mut self, others: impl Iterator<Item = T>) -> bool {
        let near = self.near.get_mut().drain(..);
        near.chain(others).for_each(|laid| self.far.push(laid));
        self.queue.set_near(0);
        self.beyond.set(true);
        !self.far.is_empty()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use proptest::prelude::*;

    use super::Backlog;
    use crate::sync::deque::Steal;

    #[derive(Clone, Debug)]
    enum Step {
        Push,
        Pop,
        /// A thief takes one of the far.
        Steal,
        /// The monitor changes its mind.
        Patience(usize),
        LayOpen,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: making the steps then takes most of the test's time.
        let step = (0..17u8, 0..100usize).prop_map(|(kind, patience)| match kind {
            0..8 => Step::Push,
            8..14 => Step::Pop,
            14 => Step::Steal,
            15 => Step::Patience(patience),
            _ => Step::LayOpen,
        });
        prop::collection::vec(step, 0..2000)
    }

    /// Carries the steps out; who was popped, who was stolen and who is left, in order.
    fn carry_out(steps: &[Step]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut backlog = Backlog::new();
        let (mut popped, mut stolen, mut next) = (Vec::new(), Vec::new(), 0);
        for step in steps {
            match *step {
                Step::Push => {
                    let others = backlog.push(next);
                    assert_eq!(others, backlog.far() > 0 && backlog.beyond.get());
                    next += 1;
                }
                Step::Pop => popped.extend(backlog.pop(|_| ())),
                Step::Steal => {
                    if let Steal::Success(one) = backlog.queue().stealer.steal() {
                        stolen.push(one);
                    }
                }
                Step::Patience(patience) => backlog.queue().set_limits(patience, 0),
                Step::LayOpen => {
                    let anything = backlog.lay_open(std::iter::empty());
                    assert_eq!(anything, backlog.far() > 0, "all of it can be stolen");
                    assert_eq!(backlog.queue().waiting(), backlog.far());
                }
            }
            let near = backlog.near.borrow().len();
            assert_eq!(backlog.queue().waiting(), near + backlog.far(), "what the monitor sees");
        }
        let left = std::iter::from_fn(|| backlog.pop(|_| ())).collect();
        (popped, stolen, left)
    }

    proptest! {
        // F1: first in, first out, whoever is near or far, whatever the patience does
        #[test]
        fn who_came_first_is_taken_first(steps in steps()) {
            let in_order = |step: &Step| !matches!(step, Step::LayOpen);
            let steps: Vec<Step> = steps.into_iter().filter(in_order).collect();
            let (popped, _, left) = carry_out(&steps);
            prop_assert!(popped.iter().chain(&left).is_sorted());
        }

        // P2: nobody is lost and nobody doubled
        #[test]
        fn everybody_is_taken_once(steps in steps()) {
            let pushed = steps.iter().filter(|step| matches!(step, Step::Push)).count() as u32;
            let (popped, stolen, left) = carry_out(&steps);
            let mut all: Vec<u32> = [popped, stolen, left].concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..pushed));
        }
    }

    // issue 3: a worker that gets through its queue is left alone; one that does not gives half away
    #[test]
    fn others_see_what_is_past_the_patience_and_no_more() {
        let backlog = Backlog::new();
        backlog.queue().set_limits(10, 0);
        assert!((0..10).all(|n| !backlog.push(n)) && !backlog.queue().wants_help());
        assert!(backlog.push(10));
        assert_eq!((backlog.far(), backlog.queue().waiting()), (6, 11));
        assert!(backlog.queue().wants_help());
        let all: Vec<_> = std::iter::from_fn(|| backlog.pop(|_| ())).collect();
        assert!(all.into_iter().eq(0..11));
        assert!(!backlog.push(11), "the far part was worked off");
    }
}
