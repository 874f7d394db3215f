//! FIFO run queue of a worker, in a local and a stealable part.
//!
//! Only the owner accesses the *local* part, with plain loads and stores. The *stealable* part is a
//! crossbeam deque, from which other workers (thieves) can steal. The local part holds as many
//! processes as the worker is expected to run without help: the steal threshold, the number of
//! turns of the worker in two ticks of sysmon, which is one millisecond, or 0 if turns are long or
//! load is spread (`shared_queue`). A push beyond the threshold moves all but the first
//! `threshold / 2` local entries to the stealable part, and later pushes go there until the owner
//! finds the stealable part empty. Other workers leave a stealable part of at most
//! [`SharedQueue::kept`] entries alone.
//!
//! Like the `Core` that contains it, the queue belongs to one thread at a time, its owner.
//!
//! INVARIANT: every local entry arrived before every stealable entry, so entries are popped in the
//! order of their arrival. Exception: `expose_all` moves local entries behind the stealable ones.
//!
//! COST: a few plain reads and writes for a local entry, one atomic addition for a stealable one.
//! The local part keeps the memory of its greatest length: one word for each process up to the
//! greatest steal threshold, or [`REFILL`].

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};
use crate::worker::shared_queue::SharedQueue;

/// FIFO run queue of a worker. An entry `T` is the right to run a ready process (`Runnable`); tests
/// use numbers.
pub(crate) struct LocalQueue<T> {
    local: RefCell<VecDeque<T>>,
    /// The owner's end of the stealable part, which follows the local part.
    stealable: Deque<T>,
    /// Whether pushes go to the stealable part, because it may hold entries. Thieves do not clear
    /// it; the owner does when a refill empties the part.
    maybe_stealable: Cell<bool>,
    /// The part that other workers and sysmon access: the thieves' end, the published lengths and
    /// the steal threshold.
    queue: Arc<CachePadded<SharedQueue<T>>>,
}

/// Length from which a queue is long: a process has left the CPU cache by the time it runs.
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

    /// Returns the part that other workers and sysmon access.
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
            return self.push_stealable(local, last);
        }
        local.push_back(last);
        self.queue.set_local_len(local.len());
        false
    }

    /// Appends an entry to the stealable part, after exposing the surplus of the local part.
    #[cold]
    fn push_stealable(&self, mut local: RefMut<'_, VecDeque<T>>, last: T) -> bool {
        if !self.maybe_stealable.replace(true) && !local.is_empty() {
            // WHY only half of the threshold stays: a thief must find enough work to pay for the
            // steal.
            let rest = local.len().min(self.queue.steal_threshold() / 2);
            local.drain(rest..).for_each(|surplus| self.stealable.push(surplus));
            self.queue.set_local_len(rest);
        }
        self.stealable.push(last);
        self.stealable.len() > self.queue.kept()
    }

    /// Pops the first entry. In a long queue, calls `ahead` with the entry that follows, to
    /// prefetch its memory.
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

    /// Steals a batch from the global queue. Returns its first entry; the others become
    /// stealable.
    pub(crate) fn take_from(&self, global_queue: &Injector<T>) -> Option<T> {
        self.taken(|stealable| global_queue.steal_batch_and_pop(stealable))
    }

    /// Steals half of another worker's stealable part. Returns its first entry; the others become
    /// stealable here.
    pub(crate) fn steal_from(&self, other: &Stealer<T>) -> Option<T> {
        self.taken(|stealable| other.steal_batch_with_limit_and_pop(stealable, usize::MAX))
    }

    /// Retries a steal into the stealable part until it succeeds or the source is empty.
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

    /// Moves all local entries, then `others` (the core's LIFO entries), to the stealable part.
    /// Returns `true` if the stealable part is not empty. Called by sysmon, for a stalled worker
    /// and for load balancing.
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
        /// Sysmon sets the steal threshold, and how many stealable entries are kept.
        Threshold(usize, usize),
        Expose,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        let step =
            (0..17u8, 0..100usize, any::<bool>()).prop_map(|(kind, threshold, keeps)| match kind {
                0..8 => Step::Push,
                8..14 => Step::Pop,
                14 => Step::Steal,
                15 => Step::Threshold(threshold, if keeps { threshold } else { 0 }),
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
                    let stealable = queue.stealable_len() > queue.queue().kept();
                    assert_eq!(others, stealable && queue.maybe_stealable.get());
                    next += 1;
                }
                Step::Pop => popped.extend(queue.pop(|_| ())),
                Step::Steal => {
                    if let Steal::Success(one) = queue.queue().stealer.steal() {
                        stolen.push(one);
                    }
                }
                Step::Threshold(threshold, kept) => queue.queue().set_limits(threshold, kept, 0),
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
                "the published length"
            );
        }
        let left = std::iter::from_fn(|| queue.pop(|_| ())).collect();
        (popped, stolen, left)
    }

    proptest! {
        // F1: entries are popped in FIFO order across both parts, for any steal threshold
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

    // A worker below its steal threshold exposes nothing; above it, all but half the threshold.
    #[test]
    fn only_entries_past_the_steal_threshold_are_stealable() {
        let queue = LocalQueue::new();
        queue.queue().set_limits(10, 0, 0);
        assert!((0..10).all(|n| !queue.push(n)) && !queue.queue().wants_help());
        assert!(queue.push(10));
        assert_eq!((queue.stealable_len(), queue.queue().waiting()), (6, 11));
        assert!(queue.queue().wants_help());
        let all: Vec<_> = std::iter::from_fn(|| queue.pop(|_| ())).collect();
        assert!(all.into_iter().eq(0..11));
        assert!(!queue.push(11), "the far part was worked off");
    }

    #[test]
    fn a_stealable_part_of_at_most_the_kept_length_is_left_alone() {
        let queue = LocalQueue::new();
        queue.queue().set_limits(0, 0, 0);
        assert!(queue.push(0) && queue.queue().wants_help());
        queue.queue().set_limits(20, 10, 0);
        assert!((1..10).all(|n| !queue.push(n)) && !queue.queue().wants_help());
        assert!(queue.push(10) && queue.queue().wants_help());
    }
}
