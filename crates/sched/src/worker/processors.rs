//! Processors of the workers, and wake-ups that keep a worker off those of the others.
//!
//! The kernel may place a thread that wakes on the processor of the thread that wakes it although
//! another processor is idle: on a virtual machine it may take a processor that has halted for one
//! that the host has preempted. The two workers then take turns on one processor until the kernel
//! balances its load, milliseconds later. So a worker that is woken while processes compute is kept
//! off the processors of the workers that are awake.
//!
//! COST: a store of a worker for each check of the global queue, and three system calls for a
//! wake-up.

use crossbeam_utils::CachePadded;
use purlin_raw::ThreadId;

use crate::sync::{AtomicU64, Ordering};

/// Thread and processor of each worker.
pub(crate) struct Processors(Box<[CachePadded<AtomicU64>]>);

/// Number of the thread in the upper half of a word; one more than the processor in the lower half,
/// or 0 if the worker sleeps or its processor is unknown.
fn word(thread: ThreadId, processor: Option<u32>) -> u64 {
    let processor = processor.map_or(0, |processor| processor.wrapping_add(1));
    u64::from(thread.number().cast_unsigned()) << 32 | u64::from(processor)
}

fn thread(word: u64) -> ThreadId {
    ThreadId::from_number(((word >> 32) as u32).cast_signed())
}

fn processor(word: u64) -> Option<u32> {
    (word as u32).checked_sub(1)
}

impl Processors {
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// Records the processor of a worker that is awake. Called by its thread.
    pub(crate) fn record(&self, worker: usize, thread: ThreadId) {
        // ORDER: relaxed, here and below: the words publish no other data, and an old processor only
        // makes a wake-up less useful.
        self.0[worker].store(word(thread, ThreadId::current_processor()), Ordering::Relaxed);
    }

    /// Records that a worker falls asleep. Called by its thread.
    pub(crate) fn clear(&self, worker: usize, thread: ThreadId) {
        self.0[worker].store(word(thread, None), Ordering::Relaxed);
    }

    /// Calls `wake`, which wakes a worker, while its thread is kept off the processors of the others.
    pub(crate) fn wake_apart(&self, worker: usize, wake: impl FnOnce()) {
        let load = |word: &CachePadded<AtomicU64>| word.load(Ordering::Relaxed);
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != worker);
        let others = others.filter_map(|(_, word)| processor(load(word)));
        thread(load(&self.0[worker])).wake_apart(others, wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_a_thread_and_a_processor() {
        for number in [0, 1, i32::MAX] {
            for on in [None, Some(0), Some(7)] {
                let word = word(ThreadId::from_number(number), on);
                assert_eq!((thread(word).number(), processor(word)), (number, on));
            }
        }
    }

    #[test]
    fn a_worker_is_woken_with_and_without_known_threads() {
        let processors = Processors::new(2);
        let mut woken = 0;
        processors.wake_apart(1, || woken += 1);
        processors.record(0, ThreadId::current());
        processors.clear(1, ThreadId::current());
        processors.wake_apart(1, || woken += 1);
        assert_eq!(woken, 2);
    }
}
