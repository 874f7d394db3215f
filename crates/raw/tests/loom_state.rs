//! Models of the inbox state word: every interleaving and every reordering that the memory model
//! allows, up to a bound on preemptions.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

mod mail;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use mail::{close, fall_asleep, open, open_all, push, take, take_with};
use purlin_raw::model::{Class, Contention, PushOutcome, SingleTake, SleepOutcome, State, model};

#[test]
fn message_is_seen_before_sleep_or_wakes_the_receiver() {
    model(|| {
        let inbox = Arc::new(State::new());
        let sender = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || push(&inbox, Class::Message, 7))
        };
        let mut seen = take(&inbox);
        let slept = seen.is_empty() && fall_asleep(&inbox, false) == SleepOutcome::Asleep;
        let pushed = sender.join().unwrap();
        assert_eq!(pushed == PushOutcome::Schedule, slept, "exactly the sleeper is scheduled");
        seen.extend(take(&inbox));
        assert_eq!(seen, [7]);
    });
}

// As in a receive: a lone message is taken alone, anything else as a batch.
#[test]
fn lone_message_is_taken_in_order_and_a_second_is_not_lost() {
    model(|| {
        let inbox = Arc::new(State::new());
        let sender = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || [1, 2].map(|payload| push(&inbox, Class::Message, payload)))
        };
        let mut seen = Vec::new();
        while seen.len() < 2 {
            // SAFETY: this thread is the only receiver, and awake.
            match unsafe { inbox.take_single(&mut Contention::new()) } {
                SingleTake::Message(header) => seen.push(open(header)),
                SingleTake::Nothing => {}
                SingleTake::Others => seen.extend(take(&inbox)),
            }
            thread::yield_now();
        }
        assert_eq!(seen, [1, 2], "M2: in the order sent");
        assert_eq!(sender.join().unwrap(), [PushOutcome::Queued; 2]);
        assert_eq!(fall_asleep(&inbox, false), SleepOutcome::Asleep, "nothing is left");
    });
}

#[test]
fn wake_is_seen_before_sleep_or_schedules_the_process_and_publishes_earlier_writes() {
    model(|| {
        let inbox = Arc::new(State::new());
        let news = Arc::new(UnsafeCell::new(0));
        let waker = {
            let (inbox, news) = (Arc::clone(&inbox), Arc::clone(&news));
            thread::spawn(move || {
                // SAFETY: the receiver reads it only after it has seen the wake.
                news.with_mut(|news| unsafe { *news = 5 });
                inbox.wake()
            })
        };
        let read = |news: &UnsafeCell<i32>| news.with(|news| unsafe { *news });
        if fall_asleep(&inbox, false) == SleepOutcome::Asleep {
            assert!(waker.join().unwrap(), "a sleeper is scheduled by the sender that finds it");
            assert_eq!(read(&news), 5);
        } else {
            assert!(take_with(&inbox, Contention::new()).woken);
            assert_eq!(read(&news), 5);
            assert!(!waker.join().unwrap(), "an awake process is not scheduled");
        }
    });
}

#[test]
fn writes_missed_by_a_take_are_followed_by_another_wake() {
    model(|| {
        let inbox = Arc::new(State::new());
        let news = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let wakers: Vec<_> = (0..2)
            .map(|i| {
                let (inbox, news) = (Arc::clone(&inbox), Arc::clone(&news));
                thread::spawn(move || {
                    // Relaxed: only the wake may publish the store.
                    news[i].store(1, Ordering::Relaxed);
                    inbox.wake()
                })
            })
            .collect();
        let _ = take_with(&inbox, Contention::new());
        let seen = news.iter().filter(|news| news.load(Ordering::Relaxed) == 1).count();
        for waker in wakers {
            assert!(!waker.join().unwrap(), "an awake process is not scheduled");
        }
        assert!(seen == 2 || take_with(&inbox, Contention::new()).woken);
    });
}

#[test]
fn two_senders_lose_nothing_keep_order_and_schedule_a_sleeper_once() {
    model(|| {
        let inbox = Arc::new(State::new());
        assert_eq!(fall_asleep(&inbox, false), SleepOutcome::Asleep);
        let senders: Vec<_> = [[1, 2], [11, 12]]
            .into_iter()
            .map(|payloads| {
                let inbox = Arc::clone(&inbox);
                thread::spawn(move || payloads.map(|payload| push(&inbox, Class::Message, payload)))
            })
            .collect();
        let pushed: Vec<_> =
            senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
        assert_eq!(pushed.iter().filter(|&&pushed| pushed == PushOutcome::Schedule).count(), 1);
        assert_eq!(inbox.count(), 4);
        let seen = take(&inbox);
        for order in [[1, 2], [11, 12]] {
            let own: Vec<_> =
                seen.iter().copied().filter(|payload| order.contains(payload)).collect();
            assert_eq!(own, order, "M2: in the order sent");
        }
    });
}

#[test]
fn deaf_sleeper_is_woken_by_a_signal_but_not_by_a_message() {
    model(|| {
        let inbox = Arc::new(State::new());
        assert_eq!(fall_asleep(&inbox, true), SleepOutcome::Asleep);
        let message = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || push(&inbox, Class::Message, 1))
        };
        let signal = push(&inbox, Class::Signal, 2);
        assert_eq!(signal, PushOutcome::Schedule);
        assert_eq!(message.join().unwrap(), PushOutcome::Queued);
        assert_eq!(take(&inbox).len(), 2);
    });
}

#[test]
fn deaf_process_sleeps_with_messages_queued_but_not_with_a_signal() {
    model(|| {
        let inbox = Arc::new(State::new());
        let sender = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || {
                let message = push(&inbox, Class::Message, 1);
                assert_eq!(message, PushOutcome::Queued);
                push(&inbox, Class::Signal, 2)
            })
        };
        let slept = fall_asleep(&inbox, true) == SleepOutcome::Asleep;
        let pushed = sender.join().unwrap();
        assert_eq!(pushed == PushOutcome::Schedule, slept, "a signal finds it awake or wakes it");
        assert!(inbox.has_signals());
        assert_eq!(take(&inbox), [1, 2]);
        assert!(!inbox.has_signals());
    });
}

#[test]
fn writes_before_sleep_are_seen_by_the_waking_thread() {
    for by_message in [true, false] {
        model(move || {
            let inbox = Arc::new(State::new());
            let state = Arc::new(UnsafeCell::new(0));
            let other = {
                let (inbox, state) = (Arc::clone(&inbox), Arc::clone(&state));
                thread::spawn(move || {
                    let scheduled = if by_message {
                        push(&inbox, Class::Message, 1) == PushOutcome::Schedule
                    } else {
                        inbox.wake()
                    };
                    if scheduled {
                        // SAFETY: the thread that clears `ASLEEP` runs the process next.
                        state.with_mut(|state| unsafe { *state += 1 });
                    }
                    scheduled
                })
            };
            // SAFETY: the receiver is awake.
            state.with_mut(|state| unsafe { *state += 1 });
            let slept = fall_asleep(&inbox, false) == SleepOutcome::Asleep;
            assert_eq!(other.join().unwrap(), slept);
            take(&inbox);
        });
    }
}

#[test]
fn message_is_drained_by_close_or_returned_to_its_sender() {
    model(|| {
        let inbox = Arc::new(State::new());
        let reason = Arc::new(UnsafeCell::new(0));
        let sender = {
            let (inbox, reason) = (Arc::clone(&inbox), Arc::clone(&reason));
            thread::spawn(move || {
                let pushed = push(&inbox, Class::Message, 1);
                if inbox.is_closed() {
                    // SAFETY: written before the close that was seen.
                    assert_eq!(reason.with(|reason| unsafe { *reason }), 9);
                }
                pushed
            })
        };
        // SAFETY: no thread reads it before the close.
        reason.with_mut(|reason| unsafe { *reason = 9 });
        let taken = open_all(close(&inbox)).len();
        let refused = usize::from(sender.join().unwrap() == PushOutcome::Closed);
        assert_eq!(taken + refused, 1);
        assert!(!inbox.wake(), "an ended process is not scheduled");
    });
}
