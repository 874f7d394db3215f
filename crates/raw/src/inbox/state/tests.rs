//! Tests of the state word: mode changes under many senders, and the predicates on a word.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::word::{FLAGS, SHARDS};
use super::*;
use crate::inbox::header::Envelope;

const SENDERS: u32 = 6;
const EACH: u32 = 20_000;

/// Sender and sequence number.
type Mail = (u32, u32);

/// Sends all messages of one sender; every seventh, and the last, is a signal. Returns how many
/// were accepted.
fn send_all(inbox: &State, sender: u32, runnable: &Sender<()>) -> u32 {
    for number in 0..EACH {
        let signal = number % 7 == 6 || number == EACH - 1;
        let class = if signal { Class::Signal } else { Class::Message };
        let header = Envelope::<Mail>::seal(class, (sender, number));
        // SAFETY: the envelope is owned here and given away.
        match unsafe { inbox.push(header, class, || sender) } {
            PushOutcome::Queued => {}
            PushOutcome::Schedule => runnable.send(()).expect("the owner waits"),
            PushOutcome::Closed => {
                // SAFETY: a refused header is owned again, and was sealed with this type.
                drop(unsafe { Envelope::<Mail>::open(header) });
                return number;
            }
        }
        if number % 32 == sender {
            // WHY: gives the receiver a chance to find the inbox empty and sleep.
            std::thread::yield_now();
        }
    }
    EACH
}

/// Opens a batch and checks that each sender's sequence numbers are consecutive.
fn check(arrived: &Batch, next: &mut [u32]) {
    let mut rest = arrived.oldest;
    while let Some(header) = NonNull::new(rest) {
        // SAFETY: the batch is owned here, and every envelope in it was sealed as `Mail`.
        let ((sender, number), _empty) = unsafe {
            rest = header.as_ref().next();
            Envelope::<Mail>::open(header)
        };
        assert_eq!(number, next[sender as usize], "M2: in the order sent, none lost or doubled");
        next[sender as usize] += 1;
    }
}

/// The receiver: takes, changes the mode every third take and sleeps in both ways until it has
/// received `most`. Returns the number received per sender.
fn receive(inbox: &State, woken: &Receiver<()>, most: u32) -> [u32; SENDERS as usize] {
    let mut next = [0; SENDERS as usize];
    let (mut turn, mut sleeps) = (0usize, 0);
    while next.iter().sum::<u32>() < most {
        turn += 1;
        let mut contention = if turn % 6 < 3 { Contention::crowded() } else { Contention::new() };
        // SAFETY: this thread is the only receiver, and awake.
        check(&unsafe { inbox.take(&mut contention) }.arrived, &mut next);
        let over = next.iter().sum::<u32>() >= most;
        // SAFETY: as above; a sleeper waits until it is scheduled.
        if !over && unsafe { inbox.sleep(turn.is_multiple_of(2)) } == SleepOutcome::Asleep {
            sleeps += 1;
            woken.recv().expect("a sleeper is scheduled");
        }
    }
    println!("{sleeps} sleeps");
    next
}

/// Runs all senders against a receiver that ends after `most` messages. Returns, per sender,
/// how many were accepted, and how many were received or dropped.
fn crowd(most: u32) -> (Vec<u32>, [u32; SENDERS as usize]) {
    let inbox = State::new();
    let (runnable, woken) = channel();
    let counts = std::thread::scope(|scope| {
        let senders = (0..SENDERS).map(|sender| {
            let (inbox, runnable) = (&inbox, runnable.clone());
            scope.spawn(move || send_all(inbox, sender, &runnable))
        });
        let senders: Vec<_> = senders.collect();
        let mut next = receive(&inbox, &woken, most);
        // WHY: makes it likely that signals are queued at the end.
        std::thread::yield_now();
        // SAFETY: as in `receive`.
        check(&unsafe { inbox.close() }, &mut next);
        let accepted = senders.into_iter().map(|sender| sender.join().expect("it only sends"));
        (accepted.collect(), next)
    });
    drop(runnable);
    assert_eq!(woken.try_iter().count(), 0, "a process was scheduled that was awake");
    counts
}

// M2, M4: nothing is lost or reordered and no wake-up is lost while the inbox keeps changing
// its mode. Blind spot: covers only the interleavings of one machine's threads.
#[test]
fn mode_changes_under_many_senders_lose_nothing() {
    let (accepted, received) = crowd(SENDERS * EACH);
    assert_eq!((accepted, received), (vec![EACH; SENDERS as usize], [EACH; SENDERS as usize]));
}

// M2, M4: what was accepted was received or dropped at the end, in each sender's order
#[test]
fn close_during_mode_changes_drops_accepted_messages_and_refuses_the_rest() {
    for round in 0..100 {
        let most = round * round;
        let (accepted, received_or_dropped) = crowd(most);
        assert_eq!(accepted, received_or_dropped);
    }
}

/// Pushes that many messages of a sender.
fn push(inbox: &State, sender: u32, messages: u32) {
    for number in 0..messages {
        let header = Envelope::<Mail>::seal(Class::Message, (sender, number));
        // SAFETY: the envelope is owned here and given away.
        let _ = unsafe { inbox.push(header, Class::Message, || sender) };
    }
}

/// Takes what arrived, and drops it. Returns the number of messages.
fn take(inbox: &State, contention: &mut Contention) -> usize {
    // SAFETY: this thread is the receiver, which is awake.
    let arrived = unsafe { inbox.take(contention) }.arrived;
    check(&arrived, &mut [0; SENDERS as usize]);
    arrived.len
}

// The number of queued messages is exact, also beyond what a word can count.
#[test]
fn queued_messages_are_counted_in_stacks_and_shards_of_any_length() {
    const MORE: u32 = 100_000;
    let (inbox, mut contention) = (State::new(), Contention::new());
    for _ in 0..2 {
        push(&inbox, 0, MORE);
        assert_eq!(inbox.count(), MORE as usize);
        push(&inbox, 1, MORE);
        assert_eq!(inbox.count(), 2 * MORE as usize);
        assert_eq!(take(&inbox, &mut contention), 2 * MORE as usize);
        assert_eq!(inbox.count(), 0);
    }
    // The stack is taken by the installation of shards.
    push(&inbox, 0, MORE);
    let mut contention = Contention::crowded();
    assert_eq!(take(&inbox, &mut contention), MORE as usize);
    assert!(has_shards(inbox.word.load(Ordering::Relaxed)));
    assert_eq!(inbox.count(), 0);
    for _ in 0..2 {
        (0..3).for_each(|sender| push(&inbox, sender, MORE));
        assert_eq!(inbox.count(), 3 * MORE as usize);
        assert_eq!(take(&inbox, &mut contention), 3 * MORE as usize);
        assert_eq!(inbox.count(), 0);
    }
    // The shards are removed.
    push(&inbox, 0, MORE);
    assert_eq!(take(&inbox, &mut Contention::new()), MORE as usize);
    assert!(!has_shards(inbox.word.load(Ordering::Relaxed)));
    assert_eq!(inbox.count(), 0);
}

// Each predicate on the whole word agrees with the parts of the word.
#[test]
fn word_predicates_agree_with_its_parts() {
    for top in 0..1 << (usize::BITS - COUNT_SHIFT) {
        for (flags, header) in
            (0..=FLAGS).flat_map(|flags| [0, HEADER, 0x10].map(|header| (flags, header)))
        {
            let addr = top << COUNT_SHIFT | header | flags;
            let word = ptr::without_provenance_mut(addr);
            assert_eq!(is_quiet(word), header == 0 && flags == 0);
            assert_eq!(is_single(word), top == 1 && flags == 0);
            let room = !has_shards(word) && count(word) < COUNT_MAX;
            // No epoch has this number.
            assert!(has_room(word) == room || top == SHARDS >> COUNT_SHIFT | COUNT_MAX);
        }
    }
}
