//! Model of the signal queue of Erlang/OTP since release 25, without signals that are not messages.
//!
//! Senders append to an *outer* queue under its lock. A counter rises when a sender finds the lock
//! busy, and falls when it finds it free. Above [`INSTALL_THRESHOLD`] an array of 64 slots is
//! installed, each with a lock and a queue. A sender then appends to its slot, sets the slot's bit in
//! a word of non-empty slots, and checks that the receiver is awake. The receiver fetches the outer
//! queue under its lock, after it has spliced the marked slots into it.
//!
//! The counter, the array and the word of non-empty slots are as published. Not modelled: the
//! removal of the array, which needs 8192 flushes with little traffic, and the memory reclamation.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use super::{Queue, Receiver};
use crate::platform::{AtomicBool, AtomicU64, Line, Mutex, MutexGuard, Ordering};

/// Contention at which the array is installed.
const INSTALL_THRESHOLD: i64 = 50;
/// Number of slots: the bits of the word.
const SLOTS: usize = 64;

/// Message and its cache line.
struct Signal {
    message: u64,
    line: Box<Line>,
}

/// Linked list: an append writes to the last element.
#[derive(Default)]
struct List(VecDeque<Signal>);

impl List {
    fn push(&mut self, signal: Signal) {
        if let Some(last) = self.0.back() {
            last.line.write();
        }
        self.0.push_back(signal);
    }

    /// Splices a list: writes to the last element only.
    fn append(&mut self, other: &mut Self) {
        if let Some(last) = self.0.back() {
            last.line.write();
        }
        self.0.append(&mut other.0);
    }
}

#[derive(Default)]
struct Outer {
    queue: List,
    contention: i64,
    asleep: bool,
}

/// Slot of the array, on a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Slot(Mutex<List>);

#[derive(Default)]
#[repr(align(64))]
struct NonEmpty(AtomicU64);

/// Flags that a sender reads: whether the array is installed and whether the receiver runs.
#[derive(Default)]
#[repr(align(64))]
struct Flags {
    installed: AtomicBool,
    asleep: AtomicBool,
}

/// Signal queue of a process.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Otp {
    outer: Mutex<Outer>,
    flags: Flags,
    non_empty: NonEmpty,
    array: Vec<Slot>,
}

/// Its receiver.
pub(crate) struct OtpReceiver(Arc<Otp>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Otp {
    fn send_to_outer(&self, signal: Signal) -> bool {
        let (mut outer, change) = match self.outer.try_lock() {
            Ok(outer) => (outer, -1),
            Err(_) => (lock(&self.outer), 1),
        };
        outer.contention = (outer.contention + change).max(0);
        if outer.contention > INSTALL_THRESHOLD {
            self.flags.installed.store(true, Ordering::Release);
        }
        if self.flags.installed.load(Ordering::Relaxed) {
            self.flush(&mut outer);
        }
        outer.queue.push(signal);
        Self::notify(&mut outer, &self.flags)
    }

    fn notify(outer: &mut Outer, flags: &Flags) -> bool {
        let wakes = std::mem::take(&mut outer.asleep);
        if wakes {
            flags.asleep.store(false, Ordering::Release);
        }
        wakes
    }

    fn send_to_slot(&self, signal: Signal, sender: u32) -> bool {
        let number = sender as usize % SLOTS;
        let mut slot = lock(&self.array[number].0);
        let was_empty = slot.0.is_empty();
        slot.push(signal);
        let others = match was_empty {
            true => self.non_empty.0.fetch_or(1 << number, Ordering::AcqRel),
            false => 1,
        };
        drop(slot);
        // The first message makes sure that the receiver is not deciding to sleep.
        if others == 0 || self.flags.asleep.load(Ordering::Acquire) {
            return Self::notify(&mut lock(&self.outer), &self.flags);
        }
        false
    }

    /// Splices the marked slots into the outer queue.
    fn flush(&self, outer: &mut Outer) {
        let mut marked = self.non_empty.0.swap(0, Ordering::AcqRel);
        while marked != 0 {
            let mut slot = lock(&self.array[marked.trailing_zeros() as usize].0);
            outer.queue.append(&mut slot);
            marked &= marked - 1;
        }
    }
}

impl Queue for Otp {
    type Receiver = OtpReceiver;

    fn new() -> (Arc<Self>, OtpReceiver) {
        let array = (0..SLOTS).map(|_| Slot::default()).collect();
        let queue = Arc::new(Self { array, ..Self::default() });
        (Arc::clone(&queue), OtpReceiver(queue))
    }

    fn send(&self, message: u64, sender: u32) -> bool {
        let line = Box::<Line>::default();
        line.write();
        let signal = Signal { message, line };
        if self.flags.installed.load(Ordering::Acquire) {
            self.send_to_slot(signal, sender)
        } else {
            self.send_to_outer(signal)
        }
    }
}

impl Receiver for OtpReceiver {
    fn receive(&mut self, mut f: impl FnMut(u64)) -> usize {
        let mut outer = lock(&self.0.outer);
        if self.0.flags.installed.load(Ordering::Relaxed) {
            self.0.flush(&mut outer);
        }
        let taken = std::mem::take(&mut outer.queue);
        drop(outer);
        let count = taken.0.len();
        for signal in taken.0 {
            signal.line.read();
            f(signal.message);
        }
        count
    }

    fn sleep(&mut self) -> bool {
        let mut outer = lock(&self.0.outer);
        self.0.flags.asleep.store(true, Ordering::SeqCst);
        let empty = outer.queue.0.is_empty() && self.0.non_empty.0.load(Ordering::SeqCst) == 0;
        outer.asleep = empty;
        if !empty {
            self.0.flags.asleep.store(false, Ordering::Release);
        }
        empty
    }
}
