//! FIFO run queue of a worker, in a local and a stealable part.
//!
//! The *near* part is local: the worker accesses it with plain loads and stores. The *far* part is
//! a deque whose other end thieves can take from. The local part holds as many processes as the
//! worker is expected to run without help (`Queue::patience`, the steal threshold). When a push
//! exceeds that number, half of the local part moves to the stealable part, and all later pushes go
//! there until the stealable part is empty again.
//!
//! Like the core it is part of, the queue belongs to one thread at a time.
//!
//! INVARIANT: every local entry was pushed before every stealable entry, except after `lay_open`.
//!
//! COST: a few plain reads and writes for a local entry, one atomic addition for a stealable one.
//! The local part keeps the memory of its longest length: one word for each process that the worker
//! runs in a millisecond.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::queue::Queue;
use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};

/// FIFO run queue of a worker.
pub(crate) struct Backlog<T> {
    near: RefCell<VecDeque<T>>,
    /// The stealable part, behind the local part. Thieves hold the other end.
    far: Deque<T>,
    /// Whether the stealable part may hold entries.
    beyond: Cell<bool>,
    /// The queue as other workers see it.
    queue: Arc<CachePadded<Queue<T>>>,
}

/// Queue length from which a process has left the CPU cache by the time it runs.
const LONG: usize = 256;
/// Maximum number of entries moved from the stealable to the local part at a time.
const BATCH: usize = if cfg!(shuttle) { 2 } else { 64 };

impl<T> Backlog<T> {
    pub(crate) fn new() -> Self {
        // WHY first in, first out: every ready process runs (F1).
        let far = Deque::new_fifo();
        Self {
            near: RefCell::default(),
            queue: Arc::new(CachePadded::new(Queue::new(far.stealer()))),
            far,
            beyond: Cell::new(false),
        }
    }

    /// Returns the queue as other workers see it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue<T>>> {
        &self.queue
    }

    /// Returns the length of the stealable part.
    pub(crate) fn far(&self) -> usize {
        self.far.len()
    }

    /// Appends an entry. Returns `true` if other workers can steal it.
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
            // WHY half: a thief must find enough work to pay for the steal.
            let rest = near.len().min(self.queue.patience() / 2);
            near.drain(rest..).for_each(|surplus| self.far.push(surplus));
            self.queue.set_near(rest);
        }
        self.far.push(last);
    }

    /// Pops the first entry. In a long queue, calls `ahead` with the entry that follows.
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

    /// Pops the first stealable entry and moves a batch of the following ones to the local part.
    #[cold]
    fn approach(&self, near: &mut VecDeque<T>) -> Option<T> {
        let first = self.far.pop();
        // WHY a full batch in a long queue whatever the threshold: enough is left for other
        // workers.
        let batch = if self.far.len() >= LONG { BATCH } else { self.queue.patience().min(BATCH) };
        near.extend(std::iter::from_fn(|| self.far.pop()).take(batch));
        self.beyond.set(!self.far.is_empty());
        first
    }

    /// Steals a batch from the global queue and returns its first entry.
    pub(crate) fn take_from(&self, outside: &Injector<T>) -> Option<T> {
        self.taken(|far| outside.steal_batch_and_pop(far))
    }

    /// Steals half of another worker's stealable part and returns its first entry.
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

    /// Moves all local entries, then `others`, to the stealable part. Returns `true` if the
    /// stealable part is not empty.
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
        /// A thief steals one entry.
        Steal,
        /// Sysmon sets the steal threshold.
        Patience(usize),
        LayOpen,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        let step = (0..17u8, 0..100usize).prop_map(|(kind, patience)| match kind {
            0..8 => Step::Push,
            8..14 => Step::Pop,
            14 => Step::Steal,
            15 => Step::Patience(patience),
            _ => Step::LayOpen,
        });
        prop::collection::vec(step, 0..2000)
    }

    /// Executes the steps. Returns the entries popped, stolen and left, each in order.
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
        // F1: first in, first out across both parts, whatever the steal threshold
        #[test]
        fn entries_are_popped_in_fifo_order(steps in steps()) {
            let in_order = |step: &Step| !matches!(step, Step::LayOpen);
            let steps: Vec<Step> = steps.into_iter().filter(in_order).collect();
            let (popped, _, left) = carry_out(&steps);
            prop_assert!(popped.iter().chain(&left).is_sorted());
        }

        // P2: no entry is lost or duplicated
        #[test]
        fn no_entry_is_lost_or_duplicated(steps in steps()) {
            let pushed = steps.iter().filter(|step| matches!(step, Step::Push)).count() as u32;
            let (popped, stolen, left) = carry_out(&steps);
            let mut all: Vec<u32> = [popped, stolen, left].concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..pushed));
        }
    }

    // issue 3: a worker below its steal threshold keeps its queue; one above it exposes half
    #[test]
    fn only_entries_past_the_steal_threshold_are_stealable() {
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
