//! Models of the word of a process: every interleaving and every reordering that the memory model
//! allows, up to a bound of preemptions.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

mod mail;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use mail::{open, open_all, push, take};
use purlin_raw::model::{Class, Head, Lone, Pushed, Slept, Traffic, model};

#[test]
fn a_message_is_seen_before_sleep_or_wakes_the_sleeper() {
    model(|| {
        let head = Arc::new(Head::new());
        let sender = {
            let head = Arc::clone(&head);
            thread::spawn(move || push(&head, Class::Message, 7))
        };
        let mut seen = take(&head);
        let slept = seen.is_empty() && head.sleep(false) == Slept::Asleep;
        let pushed = sender.join().unwrap();
        assert_eq!(pushed == Pushed::Schedule, slept, "exactly the sleeper is scheduled");
        seen.extend(take(&head));
        assert_eq!(seen, [7]);
    });
}

// As a receive does: what comes alone is taken by itself, all else with the rest.
#[test]
fn a_message_that_is_alone_is_taken_in_its_turn_and_a_second_is_not_lost_behind_it() {
    model(|| {
        let head = Arc::new(Head::new());
        let sender = {
            let head = Arc::clone(&head);
            thread::spawn(move || [1, 2].map(|payload| push(&head, Class::Message, payload)))
        };
        let mut seen = Vec::new();
        while seen.len() < 2 {
            match head.take_lone(&mut Traffic::new()) {
                Lone::Link(link) => seen.push(open(link)),
                Lone::Nothing => {}
                Lone::Others => seen.extend(take(&head)),
            }
            thread::yield_now();
        }
        assert_eq!(seen, [1, 2], "M2: in the order sent");
        assert_eq!(sender.join().unwrap(), [Pushed::Queued; 2]);
        assert_eq!(head.sleep(false), Slept::Asleep, "nothing is left");
    });
}

#[test]
fn a_wake_is_seen_before_sleep_or_schedules_the_sleeper_and_brings_its_news() {
    model(|| {
        let head = Arc::new(Head::new());
        let news = Arc::new(UnsafeCell::new(0));
        let waker = {
            let (head, news) = (Arc::clone(&head), Arc::clone(&news));
            thread::spawn(move || {
                // SAFETY: the owner reads it only after it has learnt of the wake.
                news.with_mut(|news| unsafe { *news = 5 });
                head.wake()
            })
        };
        let read = |news: &UnsafeCell<i32>| news.with(|news| unsafe { *news });
        if head.sleep(false) == Slept::Asleep {
            assert!(waker.join().unwrap(), "whoever finds a sleeper schedules it");
            assert_eq!(read(&news), 5);
        } else {
            assert!(head.take(&mut Traffic::new()).woken);
            assert_eq!(read(&news), 5);
            assert!(!waker.join().unwrap(), "nobody schedules a process that is awake");
        }
    });
}

#[test]
fn news_that_a_turn_did_not_see_is_followed_by_another_wake() {
    model(|| {
        let head = Arc::new(Head::new());
        let news = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let wakers: Vec<_> = (0..2)
            .map(|i| {
                let (head, news) = (Arc::clone(&head), Arc::clone(&news));
                thread::spawn(move || {
                    // Relaxed: the wake alone must carry the news.
                    news[i].store(1, Ordering::Relaxed);
                    head.wake()
                })
            })
            .collect();
        let _ = head.take(&mut Traffic::new());
        let seen = news.iter().filter(|news| news.load(Ordering::Relaxed) == 1).count();
        for waker in wakers {
            assert!(!waker.join().unwrap(), "nobody schedules a process that is awake");
        }
        assert!(seen == 2 || head.take(&mut Traffic::new()).woken);
    });
}

#[test]
fn two_senders_lose_nothing_keep_their_order_and_schedule_a_sleeper_once() {
    model(|| {
        let head = Arc::new(Head::new());
        assert_eq!(head.sleep(false), Slept::Asleep);
        let senders: Vec<_> = [[1, 2], [11, 12]]
            .into_iter()
            .map(|payloads| {
                let head = Arc::clone(&head);
                thread::spawn(move || payloads.map(|payload| push(&head, Class::Message, payload)))
            })
            .collect();
        let pushed: Vec<_> =
            senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
        assert_eq!(pushed.iter().filter(|&&pushed| pushed == Pushed::Schedule).count(), 1);
        assert_eq!(head.count(), 4);
        let seen = take(&head);
        for order in [[1, 2], [11, 12]] {
            let own: Vec<_> =
                seen.iter().copied().filter(|payload| order.contains(payload)).collect();
            assert_eq!(own, order, "M2: in the order sent");
        }
    });
}

#[test]
fn a_deaf_sleeper_is_woken_by_a_signal_and_not_by_a_message() {
    model(|| {
        let head = Arc::new(Head::new());
        assert_eq!(head.sleep(true), Slept::Asleep);
        let message = {
            let head = Arc::clone(&head);
            thread::spawn(move || push(&head, Class::Message, 1))
        };
        let signal = push(&head, Class::Signal, 2);
        assert_eq!(signal, Pushed::Schedule);
        assert_eq!(message.join().unwrap(), Pushed::Queued);
        assert_eq!(take(&head).len(), 2);
    });
}

#[test]
fn a_deaf_process_sleeps_on_messages_and_never_on_a_signal() {
    model(|| {
        let head = Arc::new(Head::new());
        let sender = {
            let head = Arc::clone(&head);
            thread::spawn(move || {
                let message = push(&head, Class::Message, 1);
                assert_eq!(message, Pushed::Queued);
                push(&head, Class::Signal, 2)
            })
        };
        let slept = head.sleep(true) == Slept::Asleep;
        let pushed = sender.join().unwrap();
        assert_eq!(pushed == Pushed::Schedule, slept, "a signal finds it awake or wakes it");
        assert!(head.has_signals());
        assert_eq!(take(&head), [1, 2]);
        assert!(!head.has_signals());
    });
}

#[test]
fn what_the_owner_wrote_before_it_slept_is_seen_by_whoever_wakes_it() {
    for by_message in [true, false] {
        model(move || {
            let head = Arc::new(Head::new());
            let state = Arc::new(UnsafeCell::new(0));
            let other = {
                let (head, state) = (Arc::clone(&head), Arc::clone(&state));
                thread::spawn(move || {
                    let scheduled = if by_message {
                        push(&head, Class::Message, 1) == Pushed::Schedule
                    } else {
                        head.wake()
                    };
                    if scheduled {
                        // SAFETY: whoever takes the sleep away runs the process next.
                        state.with_mut(|state| unsafe { *state += 1 });
                    }
                    scheduled
                })
            };
            // SAFETY: the owner is awake.
            state.with_mut(|state| unsafe { *state += 1 });
            let slept = head.sleep(false) == Slept::Asleep;
            assert_eq!(other.join().unwrap(), slept);
            take(&head);
        });
    }
}

#[test]
fn a_message_is_taken_at_the_end_or_comes_back_to_its_sender() {
    model(|| {
        let head = Arc::new(Head::new());
        let reason = Arc::new(UnsafeCell::new(0));
        let sender = {
            let (head, reason) = (Arc::clone(&head), Arc::clone(&reason));
            thread::spawn(move || {
                let pushed = push(&head, Class::Message, 1);
                if head.is_closed() {
                    // SAFETY: written before the close that was seen.
                    assert_eq!(reason.with(|reason| unsafe { *reason }), 9);
                }
                pushed
            })
        };
        // SAFETY: nobody reads it before the close.
        reason.with_mut(|reason| unsafe { *reason = 9 });
        let taken = open_all(head.close()).len();
        let refused = usize::from(sender.join().unwrap() == Pushed::Closed);
        assert_eq!(taken + refused, 1);
        assert!(!head.wake(), "nobody schedules a process that has ended");
    });
}
