//! FIFO run queue of a worker, in a local and a stealable part.
//!
//! The worker accesses the *local* part with plain loads and stores. The *stealable* part is a
//! deque whose other end thieves can take from. The local part holds as many processes as the
//! worker is expected to run without help (`SharedQueue::steal_threshold`). When a push exceeds
//! that number, half of the local part moves to the stealable part, and all later pushes go there
//! until the stealable part is empty again.
//!
//! Like the core it is part of, the queue belongs to one thread at a time.
//!
//! INVARIANT: every local entry was pushed before every stealable entry, except after `expose_all`.
//!
//! COST: a few plain reads and writes for a local entry, one atomic addition for a stealable one.
//! The local part keeps the memory of its longest length: one word for each process that the worker
//! runs in a millisecond.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};
use crate::worker::shared_queue::SharedQueue;

/// FIFO run queue of a worker.
pub(crate) struct LocalQueue<T> {
    local: RefCell<VecDeque<T>>,
    /// The stealable part, behind the local part. Thieves hold the other end.
    stealable: Deque<T>,
    /// Whether the stealable part may hold entries.
    maybe_stealable: Cell<bool>,
    /// The queue as other workers see it.
    queue: Arc<CachePadded<SharedQueue<T>>>,
}

/// Queue length from which a process has left the CPU cache by the time it runs.
const PREFETCH_FROM: usize = 256;
/// Maximum number of entries moved from the stealable to the local part at a time.
const REFILL: usize = if cfg!(shuttle) { 2 } else { 64 };

impl<T> LocalQueue<T> {
    pub(crate) fn new() -> Self {
        // WHY first in, first out: every ready process runs (F1).
        let stealable = Deque::new_fifo();
        Self {
            local: RefCell::default(),
            queue: Arc::new(CachePadded::new(SharedQueue::new(stealable.stealer()))),
            stealable,
            maybe_stealable: Cell::new(false),
        }
    }

    /// Returns the queue as other workers see it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<SharedQueue<T>>> {
        &self.queue
    }

    /// Returns the length of the stealable part.
    pub(crate) fn stealable_len(&self) -> usize {
        self.stealable.len()
    }

    /// Appends an entry. Returns `true` if other workers can steal it.
    #[inline]
    pub(crate) fn push(&self, last: T) -> bool {
        let mut local = self.local.borrow_mut();
        if self.maybe_stealable.get() || local.len() >= self.queue.steal_threshold() {
            self.push_stealable(local, last);
            return true;
        }
        local.push_back(last);
        self.queue.set_local_len(local.len());
        false
    }

    #[cold]
    fn push_stealable(&self, mut local: RefMut<'_, VecDeque<T>>, last: T) {
        if !self.maybe_stealable.replace(true) && !local.is_empty() {
            // WHY half: a thief must find enough work to pay for the steal.
            let rest = local.len().min(self.queue.steal_threshold() / 2);
            local.drain(rest..).for_each(|surplus| self.stealable.push(surplus));
            self.queue.set_local_len(rest);
        }
        self.stealable.push(last);
    }

    /// Pops the first entry. In a long queue, calls `ahead` with the entry that follows.
    #[inline]
    pub(crate) fn pop(&self, ahead: impl FnOnce(&T)) -> Option<T> {
        let mut local = self.local.borrow_mut();
        let first = match local.pop_front() {
            None if self.maybe_stealable.get() => self.refill(&mut local),
            first => first,
        }?;
        self.queue.set_local_len(local.len());
        if (local.len() >= PREFETCH_FROM || self.maybe_stealable.get())
            && let Some(next) = local.front()
        {
            ahead(next);
        }
        Some(first)
    }

    /// Pops the first stealable entry and moves a batch of the following ones to the local part.
    #[cold]
    fn refill(&self, local: &mut VecDeque<T>) -> Option<T> {
        let first = self.stealable.pop();
        // WHY a full batch in a long queue whatever the threshold: enough is left for other
        // workers.
        let batch = if self.stealable.len() >= PREFETCH_FROM {
            REFILL
        } else {
            self.queue.steal_threshold().min(REFILL)
        };
        local.extend(std::iter::from_fn(|| self.stealable.pop()).take(batch));
        self.maybe_stealable.set(!self.stealable.is_empty());
        first
    }

    /// Steals a batch from the global queue and returns its first entry.
    pub(crate) fn take_from(&self, outside: &Injector<T>) -> Option<T> {
        self.taken(|stealable| outside.steal_batch_and_pop(stealable))
    }

    /// Steals half of another worker's stealable part and returns its first entry.
    pub(crate) fn steal_from(&self, other: &Stealer<T>) -> Option<T> {
        self.taken(|stealable| other.steal_batch_with_limit_and_pop(stealable, usize::MAX))
    }

    fn taken(&self, steal: impl Fn(&Deque<T>) -> Steal<T>) -> Option<T> {
        loop {
            match steal(&self.stealable) {
                Steal::Success(first) => {
                    self.maybe_stealable
                        .set(self.maybe_stealable.get() || !self.stealable.is_empty());
                    return Some(first);
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Moves all local entries, then `others`, to the stealable part. Returns `true` if the
    /// stealable part is not empty.
    pub(crate) fn expose_all(&mut self, others: impl Iterator<Item = T>) -> bool {
        let local = self.local.get_mut().drain(..);
        local.chain(others).for_each(|entry| self.stealable.push(entry));
        self.queue.set_local_len(0);
        self.maybe_stealable.set(true);
        !self.stealable.is_empty()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use proptest::prelude::*;

    use super::LocalQueue;
    use crate::sync::deque::Steal;

    #[derive(Clone, Debug)]
    enum Step {
        Push,
        Pop,
        /// A thief steals one entry.
        Steal,
        /// Sysmon sets the steal threshold.
        Threshold(usize),
        Expose,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        let step = (0..17u8, 0..100usize).prop_map(|(kind, threshold)| match kind {
            0..8 => Step::Push,
            8..14 => Step::Pop,
            14 => Step::Steal,
            15 => Step::Threshold(threshold),
            _ => Step::Expose,
        });
        prop::collection::vec(step, 0..2000)
    }

    /// Executes the steps. Returns the entries popped, stolen and left, each in order.
    fn carry_out(steps: &[Step]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut queue = LocalQueue::new();
        let (mut popped, mut stolen, mut next) = (Vec::new(), Vec::new(), 0);
        for step in steps {
            match *step {
                Step::Push => {
                    let others = queue.push(next);
                    assert_eq!(others, queue.stealable_len() > 0 && queue.maybe_stealable.get());
                    next += 1;
                }
                Step::Pop => popped.extend(queue.pop(|_| ())),
                Step::Steal => {
                    if let Steal::Success(one) = queue.queue().stealer.steal() {
                        stolen.push(one);
                    }
                }
                Step::Threshold(threshold) => queue.queue().set_limits(threshold, 0),
                Step::Expose => {
                    let anything = queue.expose_all(std::iter::empty());
                    assert_eq!(anything, queue.stealable_len() > 0, "all of it can be stolen");
                    assert_eq!(queue.queue().waiting(), queue.stealable_len());
                }
            }
            let local = queue.local.borrow().len();
            assert_eq!(
                queue.queue().waiting(),
                local + queue.stealable_len(),
                "what the monitor sees"
            );
        }
        let left = std::iter::from_fn(|| queue.pop(|_| ())).collect();
        (popped, stolen, left)
    }

    proptest! {
        // F1: first in, first out across both parts, whatever the steal threshold
        #[test]
        fn entries_are_popped_in_fifo_order(steps in steps()) {
            let in_order = |step: &Step| !matches!(step, Step::Expose);
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
        let queue = LocalQueue::new();
        queue.queue().set_limits(10, 0);
        assert!((0..10).all(|n| !queue.push(n)) && !queue.queue().wants_help());
        assert!(queue.push(10));
        assert_eq!((queue.stealable_len(), queue.queue().waiting()), (6, 11));
        assert!(queue.queue().wants_help());
        let all: Vec<_> = std::iter::from_fn(|| queue.pop(|_| ())).collect();
        assert!(all.into_iter().eq(0..11));
        assert!(!queue.push(11), "the far part was worked off");
    }
}
