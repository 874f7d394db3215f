//! Workloads on a queue: the same code on simulated and on real cores.

use std::sync::Arc;

use crate::platform::{AtomicBool, AtomicU64, Ordering, hint, now, thread, work};
use crate::queues::{Queue, Receiver};

/// Computing around each message, in nanoseconds. Charged in a simulation only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    /// Before a send.
    pub(crate) send: f64,
    /// After a receive.
    pub(crate) receive: f64,
}

/// Word on a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Flag(AtomicBool);

#[derive(Default)]
#[repr(align(64))]
struct Count(AtomicU64);

/// Result of [`fan_in`], in messages per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed {
    /// All sends, divided by the time until the last sender has finished.
    pub(crate) sent: f64,
    /// All messages, divided by the time until the last one is received.
    pub(crate) received: f64,
}

/// Messages of one batch of [`own_inbox`].
const BATCH: u64 = 256;

/// One thread sends to itself. Returns the nanoseconds of one message.
pub(crate) fn own_inbox<Q: Queue>(messages: u64, cost: Work) -> f64 {
    let (queue, mut receiver) = Q::new();
    let mut turn = || {
        for message in 0..BATCH {
            work(cost.send);
            queue.send(message, 1);
        }
        receiver.receive(|_| work(cost.receive));
    };
    turn();
    let begun = now();
    (0..messages / BATCH).for_each(|_| turn());
    (now() - begun) / (messages / BATCH * BATCH) as f64
}

/// Waits for messages; spins while the receiver sleeps.
fn receive_some<R: Receiver>(receiver: &mut R, awake: &Flag, mut f: impl FnMut(u64)) -> usize {
    loop {
        let received = receiver.receive(&mut f);
        if received > 0 {
            return received;
        }
        if receiver.sleep() {
            while !awake.0.load(Ordering::Acquire) {
                hint::spin_loop();
            }
            awake.0.store(false, Ordering::Relaxed);
        }
    }
}

fn send<Q: Queue>(queue: &Q, message: u64, sender: u32, awake: &Flag) {
    if queue.send(message, sender) {
        awake.0.store(true, Ordering::Release);
    }
}

/// Two threads send one message to and fro. Returns the nanoseconds of one round trip.
pub(crate) fn ping_pong<Q: Queue>(trips: u64, cost: Work) -> f64 {
    let ((to, mut here), (back, mut there)) = (Q::new(), Q::new());
    let (to_awake, back_awake) = (Arc::<Flag>::default(), Arc::<Flag>::default());
    let (from_other, wakes) = (Arc::clone(&back), Arc::clone(&back_awake));
    let other_awake = Arc::clone(&to_awake);
    let other = thread::spawn(move || {
        for trip in 0..trips {
            receive_some(&mut here, &other_awake, |_| work(cost.receive));
            work(cost.send);
            send(&*from_other, trip, 1, &wakes);
        }
    });
    let begun = now();
    for trip in 0..trips {
        work(cost.send);
        send(&*to, trip, 0, &to_awake);
        receive_some(&mut there, &back_awake, |_| work(cost.receive));
    }
    let time = now() - begun;
    other.join().expect("the other thread ends");
    time / trips as f64
}

/// `senders` threads send `each` messages to the thread that calls, which receives at the same time.
pub(crate) fn fan_in<Q: Queue>(senders: u32, each: u64, cost: Work) -> Speed {
    let (queue, mut receiver) = Q::new();
    let awake = Arc::<Flag>::default();
    let ready = Arc::<Count>::default();
    let go = Arc::<Flag>::default();
    let threads: Vec<_> = (0..senders)
        .map(|sender| {
            let (queue, awake) = (Arc::clone(&queue), Arc::clone(&awake));
            let (ready, go) = (Arc::clone(&ready), Arc::clone(&go));
            thread::spawn(move || {
                ready.0.fetch_add(1, Ordering::AcqRel);
                while !go.0.load(Ordering::Acquire) {
                    hint::spin_loop();
                }
                for message in 0..each {
                    work(cost.send);
                    send(&*queue, message, sender, &awake);
                }
                now()
            })
        })
        .collect();
    while ready.0.load(Ordering::Acquire) < u64::from(senders) {
        hint::spin_loop();
    }
    let begun = now();
    go.0.store(true, Ordering::Release);
    let all = u64::from(senders) * each;
    let mut received = 0;
    while received < all {
        received += receive_some(&mut receiver, &awake, |_| work(cost.receive)) as u64;
    }
    let received = now() - begun;
    let ends = threads.into_iter().map(|thread| thread.join().expect("a sender ends"));
    let sent = ends.fold(begun, f64::max) - begun;
    let per_second = |time: f64| all as f64 / time * 1e9;
    Speed { sent: per_second(sent), received: per_second(received) }
}
