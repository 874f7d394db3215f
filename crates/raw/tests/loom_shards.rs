//! Models of an inbox that changes between one stack and shards while senders push.
//!
//! Run with `scripts/test-loom.sh`. A model has two shards. The mode follows from the
//! [`Contention`] that the receiver takes with: an uncontended one removes shards, a contended one
//! installs them.
#![cfg(loom)]

mod mail;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, JoinHandle};
use mail::{close, fall_asleep, open, open_all, push_as, seal, take, take_with};
use purlin_raw::model::{
    Class, Contention, PushOutcome, ShardState, Shards, SleepOutcome, State, model, model_within,
};

/// Takes what arrived and leaves the inbox sharded; the wake ensures that the take swaps the word.
fn take_and_install(inbox: &State) -> Vec<u32> {
    assert!(!inbox.wake(), "the owner is awake");
    open_all(take_with(inbox, Contention::crowded()).arrived)
}

/// Takes what arrived and leaves the inbox with one stack.
fn take_and_remove(inbox: &State) -> Vec<u32> {
    assert!(!inbox.wake(), "the owner is awake");
    take(inbox)
}

/// Takes until the state word is empty, as a turn does.
fn drain(inbox: &State, seen: &mut Vec<u32>) {
    while inbox.has_arrivals() {
        seen.extend(open_all(take_with(inbox, Contention::crowded()).arrived));
    }
}

fn laned() -> Arc<State> {
    let inbox = Arc::new(State::new());
    assert!(take_and_install(&inbox).is_empty());
    inbox
}

/// Spawns a thread that sends `mail` in order.
fn sender<const N: usize>(
    number: u32,
    inbox: &Arc<State>,
    mail: [(Class, u32); N],
) -> JoinHandle<[PushOutcome; N]> {
    let inbox = Arc::clone(inbox);
    thread::spawn(move || mail.map(|(class, payload)| push_as(number, &inbox, class, payload)))
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
        let inbox = Arc::new(State::new());
        let other = sender(1, &inbox, messages([1, 2, 3]));
        let mut seen = take_and_install(&inbox);
        drain(&inbox, &mut seen);
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == PushOutcome::Queued));
        drain(&inbox, &mut seen);
        assert_eq!(seen, [1, 2, 3], "M2: in the order sent");
    });
}

#[test]
fn removing_shards_keeps_sender_order_and_loses_nothing() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, messages([1, 2, 3]));
        let mut seen = take_and_remove(&inbox);
        seen.extend(take(&inbox));
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == PushOutcome::Queued));
        seen.extend(take(&inbox));
        assert_eq!(seen, [1, 2, 3], "M2: in the order sent");
        assert!(!inbox.has_arrivals());
    });
}

#[test]
fn sender_with_a_stale_epoch_keeps_order_and_loses_nothing() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, messages([1, 2]));
        let mut seen = take_and_remove(&inbox);
        seen.extend(take_and_install(&inbox));
        assert!(other.join().unwrap().iter().all(|&pushed| pushed == PushOutcome::Queued));
        drain(&inbox, &mut seen);
        assert_eq!(seen, [1, 2], "M2: in the order sent");
    });
}

#[test]
fn two_senders_in_one_shard_lose_nothing_across_epochs() {
    model_within(1, || {
        let inbox = laned();
        let others = [sender(1, &inbox, messages([1])), sender(1, &inbox, messages([2]))];
        let mut seen = take_and_remove(&inbox);
        seen.extend(take_and_install(&inbox));
        drain(&inbox, &mut seen);
        for other in others {
            assert_eq!(other.join().unwrap(), [PushOutcome::Queued]);
        }
        drain(&inbox, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn sender_with_a_stale_epoch_announces_an_emptied_shard() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, messages([1]));
        let mut seen = take_and_remove(&inbox);
        seen.extend(take_and_install(&inbox));
        assert_eq!(push_as(1, &inbox, Class::Message, 2), PushOutcome::Queued);
        drain(&inbox, &mut seen);
        assert_eq!(other.join().unwrap(), [PushOutcome::Queued]);
        drain(&inbox, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn two_shards_are_both_taken_and_a_sleeper_is_scheduled_once() {
    model(|| {
        let inbox = laned();
        assert_eq!(fall_asleep(&inbox, false), SleepOutcome::Asleep);
        let others = [sender(0, &inbox, messages([1, 2])), sender(1, &inbox, messages([11, 12]))];
        let pushed: Vec<_> = others.into_iter().flat_map(|other| other.join().unwrap()).collect();
        assert_eq!(pushed.iter().filter(|&&pushed| pushed == PushOutcome::Schedule).count(), 1);
        assert_eq!(inbox.count(), 4);
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        assert_eq!(of(&seen, 1..10), [1, 2], "M2: in the order sent");
        assert_eq!(of(&seen, 10..20), [11, 12], "M2: in the order sent");
    });
}

#[test]
fn message_in_a_shard_is_seen_before_sleep_or_wakes_the_receiver() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, messages([7]));
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        let slept = fall_asleep(&inbox, false) == SleepOutcome::Asleep;
        let [pushed] = other.join().unwrap();
        assert_eq!(pushed == PushOutcome::Schedule, slept && seen.is_empty());
        drain(&inbox, &mut seen);
        assert_eq!(seen, [7]);
    });
}

#[test]
fn sleeper_is_woken_for_a_message_pushed_into_a_non_empty_shard() {
    model(|| {
        let inbox = laned();
        let others = [sender(1, &inbox, messages([1])), sender(1, &inbox, messages([2]))];
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        let slept = fall_asleep(&inbox, false) == SleepOutcome::Asleep;
        let scheduled = others.map(|other| other.join().unwrap()[0] == PushOutcome::Schedule);
        let scheduled = scheduled.iter().filter(|&&scheduled| scheduled).count();
        assert!(scheduled <= usize::from(slept), "an awake process is not scheduled");
        if seen.len() < 2 {
            assert!(!slept || scheduled == 1, "the sleeper was not woken");
        }
        drain(&inbox, &mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn message_behind_an_unannounced_one_does_not_wait_for_its_sender() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, messages([1]));
        assert_eq!(push_as(1, &inbox, Class::Message, 2), PushOutcome::Queued);
        assert!(inbox.has_arrivals(), "the receiver would not look");
        assert_eq!(other.join().unwrap(), [PushOutcome::Queued]);
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        assert_eq!(seen.len(), 2);
    });
}

#[test]
fn deaf_process_sleeps_with_messages_in_shards_but_not_with_a_signal() {
    model(|| {
        let inbox = laned();
        let other = sender(1, &inbox, [(Class::Message, 1), (Class::Signal, 2)]);
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        let slept = fall_asleep(&inbox, true) == SleepOutcome::Asleep;
        let pushed = other.join().unwrap();
        assert_eq!(pushed[0], PushOutcome::Queued, "a message wakes no deaf process");
        let missed = !seen.contains(&2);
        assert!(!missed || pushed[1] == PushOutcome::Schedule || !slept, "a signal slept on");
        assert!(!missed || inbox.has_signals());
        drain(&inbox, &mut seen);
        assert_eq!(seen, [1, 2], "M2: in the order sent");
        assert!(!inbox.has_signals());
    });
}

#[test]
fn deaf_sleeper_is_woken_by_a_signal_behind_another_senders_message() {
    model(|| {
        let inbox = laned();
        assert_eq!(fall_asleep(&inbox, true), SleepOutcome::Asleep);
        let other = sender(1, &inbox, messages([1]));
        assert_eq!(push_as(1, &inbox, Class::Signal, 2), PushOutcome::Schedule);
        assert_eq!(other.join().unwrap(), [PushOutcome::Queued]);
        let mut seen = Vec::new();
        drain(&inbox, &mut seen);
        assert_eq!(seen.len(), 2);
    });
}

#[test]
fn signal_during_a_mode_change_is_taken_or_prevents_sleep() {
    for install in [true, false] {
        model(move || {
            let inbox = if install { Arc::new(State::new()) } else { laned() };
            let other = sender(1, &inbox, [(Class::Message, 1), (Class::Signal, 2)]);
            let mut seen = if install { take_and_install(&inbox) } else { take_and_remove(&inbox) };
            let slept = fall_asleep(&inbox, true) == SleepOutcome::Asleep;
            let pushed = other.join().unwrap();
            let woken = pushed[1] == PushOutcome::Schedule;
            assert!(seen.contains(&2) || woken == slept, "a signal slept on, or woke the awake");
            drain(&inbox, &mut seen);
            assert_eq!(seen, [1, 2], "M2: in the order sent");
        });
    }
}

#[test]
fn writes_before_sleep_are_seen_by_the_waking_sender() {
    model(|| {
        let inbox = laned();
        let state = Arc::new(UnsafeCell::new(0));
        let other = {
            let (inbox, state) = (Arc::clone(&inbox), Arc::clone(&state));
            thread::spawn(move || {
                let pushed = push_as(1, &inbox, Class::Message, 1);
                if pushed == PushOutcome::Schedule {
                    // SAFETY: the thread that clears `ASLEEP` runs the process next.
                    state.with_mut(|state| unsafe { *state += 1 });
                }
                pushed
            })
        };
        // SAFETY: the receiver is awake.
        state.with_mut(|state| unsafe { *state += 1 });
        let slept = fall_asleep(&inbox, false) == SleepOutcome::Asleep;
        assert_eq!(other.join().unwrap() == PushOutcome::Schedule, slept);
        drain(&inbox, &mut Vec::new());
    });
}

#[test]
fn message_in_a_shard_is_drained_by_close_or_returned_to_its_sender() {
    for stale in [true, false] {
        model(move || {
            let inbox = laned();
            let reason = Arc::new(UnsafeCell::new(0));
            let other = {
                let (inbox, reason) = (Arc::clone(&inbox), Arc::clone(&reason));
                thread::spawn(move || {
                    let pushed = [1, 2].map(|payload| push_as(1, &inbox, Class::Message, payload));
                    if inbox.is_closed() {
                        // SAFETY: written before the close that was seen.
                        assert_eq!(reason.with(|reason| unsafe { *reason }), 9);
                    }
                    pushed
                })
            };
            // With `stale` the process ends with one stack, and the sender may still have the old
            // epoch.
            let mut seen = if stale { take_and_remove(&inbox) } else { Vec::new() };
            // SAFETY: no thread reads it before the close.
            reason.with_mut(|reason| unsafe { *reason = 9 });
            seen.extend(open_all(close(&inbox)));
            let pushed = other.join().unwrap();
            let accepted = pushed.iter().filter(|&&pushed| pushed != PushOutcome::Closed).count();
            assert_eq!(seen, [1, 2][..accepted], "taken or refused, and the later one last");
            assert_ne!(pushed, [PushOutcome::Closed, PushOutcome::Queued]);
            assert!(!inbox.wake(), "an ended process is not scheduled");
            assert_eq!(inbox.count(), 0);
        });
    }
}

#[test]
fn wake_publishes_earlier_writes_during_mode_changes() {
    for contention in [Contention::new, Contention::crowded] {
        model(move || {
            let inbox = laned();
            let news = Arc::new(UnsafeCell::new(0));
            let waker = {
                let (inbox, news) = (Arc::clone(&inbox), Arc::clone(&news));
                thread::spawn(move || {
                    // SAFETY: the receiver reads it only after it has seen the wake.
                    news.with_mut(|news| unsafe { *news = 5 });
                    inbox.wake()
                })
            };
            while !take_with(&inbox, contention()).woken {
                thread::yield_now();
            }
            // SAFETY: as above.
            assert_eq!(news.with(|news| unsafe { *news }), 5);
            assert!(!waker.join().unwrap(), "an awake process is not scheduled");
        });
    }
}

#[test]
fn count_during_installation_sees_initialised_shards() {
    model(|| {
        let inbox = Arc::new(State::new());
        assert_eq!(push_as(1, &inbox, Class::Message, 1), PushOutcome::Queued);
        let glance = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || inbox.count())
        };
        assert_eq!(take_and_install(&inbox), [1]);
        assert!(glance.join().unwrap() <= 1);
    });
}

// A late announcement can set the bit in the next epoch: the take then opens the shard.
#[test]
fn push_into_a_shard_opened_by_a_take_observes_its_epoch() {
    model(|| {
        // SAFETY: this thread is the only receiver.
        let take = |shards: &Shards| unsafe { shards.take(0b10) };
        let (shards, epoch) = (Arc::new(Shards::new()), Arc::new(AtomicUsize::new(1)));
        // SAFETY: this thread is the only receiver, and no epoch is in progress.
        assert_eq!(unsafe { shards.freeze(1) }.len, 0);
        let latecomer = {
            let (shards, epoch) = (Arc::clone(&shards), Arc::clone(&epoch));
            thread::spawn(move || {
                let header = seal(Class::Message, 1);
                // SAFETY: the envelope is owned here.
                match unsafe { shards.push(1, header, 1) } {
                    ShardState::Frozen => assert_eq!(open(header), 1),
                    // Relaxed: only the shard may publish the store.
                    _ => assert_eq!(epoch.load(Ordering::Relaxed), 2, "the epoch has changed"),
                }
            })
        };
        epoch.store(2, Ordering::Relaxed);
        let mut seen = open_all(take(&shards));
        latecomer.join().unwrap();
        seen.extend(open_all(take(&shards)));
        assert!(seen.is_empty() || seen == [1]);
    });
}
