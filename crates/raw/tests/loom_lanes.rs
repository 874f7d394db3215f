//! Models of an inbox that changes between one stack and shards while senders push.
//!
//! Run with `scripts/test-loom.sh`. A model has two shards. The mode follows from the [`Traffic`]
//! that the receiver takes with: an uncontended one removes shards, a contended one installs them.
#![cfg(loom)]

mod mail;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, JoinHandle};
use mail::{open, open_all, push_as, seal, take};
use purlin_raw::model::{Class, Found, Head, Lanes, Pushed, Slept, Traffic, model, model_within};

/// Takes what arrived and leaves the inbox sharded; the wake ensures that the take swaps the word.
fn take_and_install(head: &Head) -> Vec<u32> {
    assert!(!head.wake(), "the owner is awake");
    open_all(head.take(&mut Traffic::crowded()).arrived)
}

/// Takes what arrived and leaves the inbox with one stack.
fn take_and_remove(head: &Head) -> Vec<u32> {
    assert!(!head.wake(), "the owner is awake");
    take(head)
}

/// Takes until the state word is empty, as a turn does.
fn drain(head: &Head, seen: &mut Vec<u32>) {
    while head.has_news() {
        seen.extend(open_all(head.take(&mut Traffic::crowded()).arrived));
    }
}

fn laned() -> Arc<Head> {
    let head = Arc::new(Head::new());
    assert!(take_and_install(&head).is_empty());
    head
}

/// Spawns a thread that sends `mail` in order.
fn sender<const N: usize>(
    number: u32,
    head: &Arc<Head>,
    mail: [(Class, u32); N],
) -> JoinHandle<[Pushed; N]> {
    let head = Arc::clone(head);
    thread::spawn(move || mail.map(|(class, payload)| push_as(number, &head, class, payload)))
}

fn messages<const N: usize>(payloads: [u32; N]) -> [(Class, u32); N] {
    payloads.map(|payload| (Class::Message, payload))
}

/// Returns the payloads of one sender, which lie in `range`.
fn of(seen: &[u32], range: std::ops::Range<u32>) -> Vec<u32> {
    seen.iter().copied().filter(|payload| range.contains(payload)).collect()
}

#[test]
fn installing_shards_keeps_sender_order_and_loses_nothing() {
    model(|| {
        let head = Arc::new(Head::new());
        let other = sender(1, &head, messages([1, 2, 3]));
        let mut seen = take_and_install(&head);
        drain(&head, &mut seen);
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == Pushed::Queued));
        drain(&head, &mut seen);
        assert_eq!(seen, [1, 2, 3], "M2: in the order sent");
    });
}

#[test]
fn removing_shards_keeps_sender_order_and_loses_nothing() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, messages([1, 2, 3]));
        let mut seen = take_and_remove(&head);
        seen.extend(take(&head));
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == Pushed::Queued));
        seen.extend(take(&head));
        assert_eq!(seen, [1, 2, 3], "M2: in the order sent");
        assert!(!head.has_news());
    });
}

#[test]
fn sender_with_a_stale_epoch_keeps_order_and_loses_nothing() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, messages([1, 2]));
        let mut seen = take_and_remove(&head);
        seen.extend(take_and_install(&head));
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == Pushed::Queued));
        drain(&head, &mut seen);
        assert_eq!(seen, [1, 2], "M2: in the order sent");
    });
}

#[test]
fn two_senders_in_one_shard_lose_nothing_across_epochs() {
    model_within(1, || {
        let head = laned();
        let others = [sender(1, &head, messages([1])), sender(1, &head, messages([2]))];
        let mut seen = take_and_remove(&head);
        seen.extend(take_and_install(&head));
        drain(&head, &mut seen);
        for other in others {
            assert_eq!(other.join().unwrap(), [Pushed::Queued]);
        }
        drain(&head, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn sender_with_a_stale_epoch_announces_an_emptied_shard() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, messages([1]));
        let mut seen = take_and_remove(&head);
        seen.extend(take_and_install(&head));
        assert_eq!(push_as(1, &head, Class::Message, 2), Pushed::Queued);
        drain(&head, &mut seen);
        assert_eq!(other.join().unwrap(), [Pushed::Queued]);
        drain(&head, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn two_shards_are_both_taken_and_a_sleeper_is_scheduled_once() {
    model(|| {
        let head = laned();
        assert_eq!(head.sleep(false), Slept::Asleep);
        let others = [sender(0, &head, messages([1, 2])), sender(1, &head, messages([11, 12]))];
        let pushed: Vec<_> = others.into_iter().flat_map(|other| other.join().unwrap()).collect();
        assert_eq!(pushed.iter().filter(|&&pushed| pushed == Pushed::Schedule).count(), 1);
        assert_eq!(head.count(), 4);
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        assert_eq!(of(&seen, 1..10), [1, 2], "M2: in the order sent");
        assert_eq!(of(&seen, 10..20), [11, 12], "M2: in the order sent");
    });
}

#[test]
fn message_in_a_shard_is_seen_before_sleep_or_wakes_the_receiver() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, messages([7]));
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        let slept = head.sleep(false) == Slept::Asleep;
        let [pushed] = other.join().unwrap();
        assert_eq!(pushed == Pushed::Schedule, slept && seen.is_empty());
        drain(&head, &mut seen);
        assert_eq!(seen, [7]);
    });
}

#[test]
fn sleeper_is_woken_for_a_message_pushed_into_a_non_empty_shard() {
    model(|| {
        let head = laned();
        let others = [sender(1, &head, messages([1])), sender(1, &head, messages([2]))];
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        let slept = head.sleep(false) == Slept::Asleep;
        let scheduled = others.map(|other| other.join().unwrap()[0] == Pushed::Schedule);
        let scheduled = scheduled.iter().filter(|&&scheduled| scheduled).count();
        assert!(scheduled <= usize::from(slept), "nobody schedules a process that is awake");
        if seen.len() < 2 {
            assert!(!slept || scheduled == 1, "nobody woke the sleeper");
        }
        drain(&head, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn message_behind_an_unannounced_one_does_not_wait_for_its_sender() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, messages([1]));
        assert_eq!(push_as(1, &head, Class::Message, 2), Pushed::Queued);
        assert!(head.has_news(), "the receiver would not look");
        assert_eq!(other.join().unwrap(), [Pushed::Queued]);
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        assert_eq!(seen.len(), 2);
    });
}

#[test]
fn deaf_process_sleeps_with_messages_in_shards_but_not_with_a_signal() {
    model(|| {
        let head = laned();
        let other = sender(1, &head, [(Class::Message, 1), (Class::Signal, 2)]);
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        let slept = head.sleep(true) == Slept::Asleep;
        let pushed = other.join().unwrap();
        assert_eq!(pushed[0], Pushed::Queued, "a message wakes no deaf process");
        let missed = !seen.contains(&2);
        assert!(!missed || pushed[1] == Pushed::Schedule || !slept, "a signal slept on");
        assert!(!missed || head.has_signals());
        drain(&head, &mut seen);
        assert_eq!(seen, [1, 2], "M2: in the order sent");
        assert!(!head.has_signals());
    });
}

#[test]
fn deaf_sleeper_is_woken_by_a_signal_behind_another_senders_message() {
    model(|| {
        let head = laned();
        assert_eq!(head.sleep(true), Slept::Asleep);
        let other = sender(1, &head, messages([1]));
        assert_eq!(push_as(1, &head, Class::Signal, 2), Pushed::Schedule);
        assert_eq!(other.join().unwrap(), [Pushed::Queued]);
        let mut seen = Vec::new();
        drain(&head, &mut seen);
        assert_eq!(seen.len(), 2);
    });
}

#[test]
fn signal_during_a_mode_change_is_taken_or_prevents_sleep() {
    for install in [true, false] {
        model(move || {
            let head = if install { Arc::new(Head::new()) } else { laned() };
            let other = sender(1, &head, [(Class::Message, 1), (Class::Signal, 2)]);
            let mut seen = if install { take_and_install(&head) } else { take_and_remove(&head) };
            let slept = head.sleep(true) == Slept::Asleep;
            let pushed = other.join().unwrap();
            let woken = pushed[1] == Pushed::Schedule;
            assert!(seen.contains(&2) || woken == slept, "a signal slept on, or woke the awake");
            drain(&head, &mut seen);
            assert_eq!(seen, [1, 2], "M2: in the order sent");
        });
    }
}

#[test]
fn writes_before_sleep_are_seen_by_the_waking_sender() {
    model(|| {
        let head = laned();
        let state = Arc::new(UnsafeCell::new(0));
        let other = {
            let (head, state) = (Arc::clone(&head), Arc::clone(&state));
            thread::spawn(move || {
                let pushed = push_as(1, &head, Class::Message, 1);
                if pushed == Pushed::Schedule {
                    // SAFETY: the thread that clears `ASLEEP` runs the process next.
                    state.with_mut(|state| unsafe { *state += 1 });
                }
                pushed
            })
        };
        // SAFETY: the receiver is awake.
        state.with_mut(|state| unsafe { *state += 1 });
        let slept = head.sleep(false) == Slept::Asleep;
        assert_eq!(other.join().unwrap() == Pushed::Schedule, slept);
        drain(&head, &mut Vec::new());
    });
}

#[test]
fn message_in_a_shard_is_drained_by_close_or_returned_to_its_sender() {
    for stale in [true, false] {
        model(move || {
            let head = laned();
            let reason = Arc::new(UnsafeCell::new(0));
            let other = {
                let (head, reason) = (Arc::clone(&head), Arc::clone(&reason));
                thread::spawn(move || {
                    let pushed = [1, 2].map(|payload| push_as(1, &head, Class::Message, payload));
                    if head.is_closed() {
                        // SAFETY: written before the close that was seen.
                        assert_eq!(reason.with(|reason| unsafe { *reason }), 9);
                    }
                    pushed
                })
            };
            // With `stale` the process ends with one stack, and the sender may still have the old
            // epoch.
            let mut seen = if stale { take_and_remove(&head) } else { Vec::new() };
            // SAFETY: no thread reads it before the close.
            reason.with_mut(|reason| unsafe { *reason = 9 });
            seen.extend(open_all(head.close()));
            let pushed = other.join().unwrap();
            let accepted = pushed.iter().filter(|&&pushed| pushed != Pushed::Closed).count();
            assert_eq!(seen, [1, 2][..accepted], "taken or refused, and the later one last");
            assert_ne!(pushed, [Pushed::Closed, Pushed::Queued]);
            assert!(!head.wake(), "nobody schedules a process that has ended");
            assert_eq!(head.count(), 0);
        });
    }
}

#[test]
fn wake_publishes_earlier_writes_during_mode_changes() {
    for traffic in [Traffic::new, Traffic::crowded] {
        model(move || {
            let head = laned();
            let news = Arc::new(UnsafeCell::new(0));
            let waker = {
                let (head, news) = (Arc::clone(&head), Arc::clone(&news));
                thread::spawn(move || {
                    // SAFETY: the receiver reads it only after it has seen the wake.
                    news.with_mut(|news| unsafe { *news = 5 });
                    head.wake()
                })
            };
            while !head.take(&mut traffic()).woken {
                thread::yield_now();
            }
            // SAFETY: as above.
            assert_eq!(news.with(|news| unsafe { *news }), 5);
            assert!(!waker.join().unwrap(), "nobody schedules a process that is awake");
        });
    }
}

#[test]
fn count_during_installation_sees_initialised_shards() {
    model(|| {
        let head = Arc::new(Head::new());
        assert_eq!(push_as(1, &head, Class::Message, 1), Pushed::Queued);
        let glance = {
            let head = Arc::clone(&head);
            thread::spawn(move || head.count())
        };
        assert_eq!(take_and_install(&head), [1]);
        assert!(glance.join().unwrap() <= 1);
    });
}

// A late announcement can set the bit in the next epoch: the take then opens the shard.
#[test]
fn push_into_a_shard_opened_by_a_take_observes_its_epoch() {
    model(|| {
        let (lanes, era) = (Arc::new(Lanes::new()), Arc::new(AtomicUsize::new(1)));
        assert_eq!(lanes.freeze(1).len, 0);
        let latecomer = {
            let (lanes, era) = (Arc::clone(&lanes), Arc::clone(&era));
            thread::spawn(move || {
                let link = seal(Class::Message, 1);
                // SAFETY: the envelope is owned here.
                match unsafe { lanes.push(1, link, 1) } {
                    Found::Frozen => assert_eq!(open(link), 1),
                    // Relaxed: only the shard may publish the store.
                    _ => assert_eq!(era.load(Ordering::Relaxed), 2, "it would not tell"),
                }
            })
        };
        era.store(2, Ordering::Relaxed);
        let mut seen = open_all(lanes.take(0b10));
        latecomer.join().unwrap();
        seen.extend(open_all(lanes.take(0b10)));
        assert!(seen.is_empty() || seen == [1]);
    });
}
