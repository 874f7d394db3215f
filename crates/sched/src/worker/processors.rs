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

use crate::sync::{AtomicU64, Mutex, Ordering};

/// Threads and processors of the workers.
pub(crate) struct Processors(Box<[CachePadded<Entry>]>);

/// Thread and processor of a worker.
#[derive(Default)]
struct Entry {
    word: AtomicU64,
    /// Locked while the worker's thread is kept off processors.
    apart: Mutex<()>,
}

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
        let word = word(thread, ThreadId::current_processor());
        self.0[worker].word.store(word, Ordering::Relaxed);
    }

    /// Records that a worker falls asleep. Called by its thread.
    pub(crate) fn clear(&self, worker: usize, thread: ThreadId) {
        self.0[worker].word.store(word(thread, None), Ordering::Relaxed);
    }

    /// Calls `wake`, which wakes a worker, while its thread is kept off the processors of the others.
    pub(crate) fn wake_apart(&self, worker: usize, wake: impl FnOnce()) {
        let load = |entry: &Entry| entry.word.load(Ordering::Relaxed);
        // WHY: a wake-up that begins before another one has ended would find the thread kept off
        // processors, and leave it so.
        let Ok(_alone) = self.0[worker].apart.try_lock() else { return wake() };
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != worker);
        let others = others.filter_map(|(_, entry)| processor(load(entry)));
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

    /// Returns the processors that the calling thread may use, as the kernel prints them.
    #[cfg(target_os = "linux")]
    fn usable() -> String {
        let path = format!("/proc/self/task/{}/status", ThreadId::current().number());
        let status = std::fs::read_to_string(path).expect("the thread lives");
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list"));
        line.expect("proc(5) lists it").to_owned()
    }

    // The second wake-up begins before the first has given the thread its processors back
    #[cfg(target_os = "linux")]
    #[test]
    fn overlapping_wake_ups_leave_a_worker_its_processors() {
        use std::sync::mpsc::channel;
        let before = usable();
        let processors = Processors::new(2);
        processors.record(0, ThreadId::current());
        processors.clear(1, ThreadId::current());
        let ((begin, begun), (enter, entered), (end, ended)) = (channel(), channel(), channel());
        std::thread::scope(|scope| {
            let processors = &processors;
            scope.spawn(move || {
                begun.recv().expect("the first wake-up begins");
                processors.wake_apart(1, || {
                    enter.send(()).expect("the first waits");
                    ended.recv().expect("the first ends");
                });
            });
            processors.wake_apart(1, || {
                begin.send(()).expect("the second waits");
                entered.recv().expect("the second begins");
            });
            end.send(()).expect("the second waits");
        });
        assert_eq!(usable(), before);
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
