//! Many senders to one receiver, processes and threads, messages and signals: enough contention for
//! the inbox to switch its mode, depending on the machine.
//!
//! Blind spot: how often it switches depends on the number of CPUs; the unit tests of `purlin-raw`
//! force it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{DropCounter, Numbered, ends, node, stop};
use futures_util::FutureExt;
use purlin::{ExitReason, Pid, Process, consume_budget, spawn};

const PROCESSES: usize = 24;
const THREADS: usize = 4;
const EACH: usize = 2_000;

/// State shared by the senders.
#[derive(Clone)]
struct Crowd {
    to: Pid<Numbered>,
    drop_counter: DropCounter,
    accepted: Arc<AtomicUsize>,
}

impl Crowd {
    /// Sends one message, and before every 50th a signal; returns `false` if the message was
    /// rejected.
    fn send(&self, sender: usize, number: usize) -> bool {
        if number % 50 == 49 {
            // Asks for the exit reason and drops the future: a signal is on its way to the
            // receiver.
            let _ = self.to.ended().now_or_never();
        }
        let sent = self.to.try_send(self.drop_counter.message(sender, number)).is_ok();
        self.accepted.fetch_add(usize::from(sent), Ordering::Relaxed);
        sent
    }
}

/// Receives `most` messages and checks the order per sender.
async fn receive_some(mut me: Process<Numbered>, most: usize, received: Arc<AtomicUsize>) {
    let mut next = [0; PROCESSES + THREADS];
    for _ in 0..most {
        let message = me.receive().await;
        assert_eq!(message.number, next[message.sender], "M2: in the order sent");
        next[message.sender] += 1;
        received.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs all senders against a receiver that takes `most` messages.
fn crowd(most: usize) {
    let node = node(2);
    let (drop_counter, accepted) = (DropCounter::default(), Arc::new(AtomicUsize::new(0)));
    let received = Arc::new(AtomicUsize::new(0));
    let to = node.spawn({
        let received = Arc::clone(&received);
        move |me| receive_some(me, most, received)
    });
    let all = Crowd {
        to: to.clone(),
        drop_counter: drop_counter.clone(),
        accepted: Arc::clone(&accepted),
    };
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let all = all.clone();
            std::thread::spawn(move || {
                (0..EACH).all(|number| all.send(PROCESSES + thread, number));
            })
        })
        .collect();
    node.block_on(async move |_: Process<()>| {
        let senders: Vec<_> = (0..PROCESSES)
            .map(|sender| {
                let all = all.clone();
                spawn(async move |_: Process<()>| {
                    for number in 0..EACH {
                        if !all.send(sender, number) {
                            return;
                        }
                        consume_budget().await;
                    }
                })
            })
            .collect();
        for sender in senders {
            assert_eq!(sender.ended().await, ExitReason::Normal);
        }
    });
    threads.into_iter().for_each(|thread| thread.join().expect("a thread sends"));
    assert_eq!(ends(&to), ExitReason::Normal);
    let received = received.load(Ordering::Relaxed);
    assert_eq!(received, most);
    let dropped = node.dropped_messages() as usize;
    let accepted = accepted.load(Ordering::Relaxed);
    assert_eq!(accepted, received + dropped, "messages were lost or doubled");
    assert_eq!(drop_counter.dropped(), drop_counter.born(), "payloads leaked");
    stop(&node);
}

// M2, M4, F3: each sender's messages arrive in order and none is lost, with any number of senders
#[test]
fn messages_of_many_processes_and_threads_arrive_in_order_per_sender() {
    crowd((PROCESSES + THREADS) * EACH);
}

// M2, M4: messages queued when the receiver ends are dropped once; later ones are rejected
#[test]
fn no_message_leaks_when_the_receiver_ends_under_load() {
    crowd((PROCESSES + THREADS) * EACH / 2);
}
