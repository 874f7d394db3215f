//! One-way messages to one receiver: `throughput` and `fan-in`.

use std::time::Instant;

use purlin_contender::{Delays, Flow, Sample, Stamps, shares};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::{JoinHandle, yield_now};

/// Number of messages or tasks between two yields of a loop that only sends or spawns.
///
/// Measured on two cores, with one and with two workers, against 16, 32, 128, 256 and
/// `consume_budget` after each message: 64 is the fastest or within the noise of the fastest. With
/// 1024 one sender is up to 7 % faster, and a message waits 25 µs in place of 1.7.
pub(crate) const YIELD_EVERY: u64 = 64;

/// Capacity of a bounded channel.
pub(crate) const CAPACITY: usize = 1024;

/// Maximum number of messages of one `recv_many`.
pub(crate) const BATCH: usize = 256;

/// `fan-in`; `throughput` is `fan-in` with one sender.
pub(crate) async fn fan_in(senders: u64, n: u64, flow: Flow) -> Sample {
    let stamps = Stamps::from_now();
    let mut received = Received { count: 0, delays: Delays::new(stamps) };

    let start = Instant::now();
    let senders: Vec<JoinHandle<u64>> = match flow {
        Flow::Bounded => {
            let (receiver, mut mailbox) = channel(CAPACITY);
            let spawn = |share| tokio::spawn(send_waiting(share, stamps, receiver.clone()));
            let senders = shares(n, senders).map(spawn).collect();
            drop(receiver);
            while let Some(stamp) = mailbox.recv().await {
                received.take(stamp);
            }
            senders
        }
        Flow::Unbounded | Flow::ReceiveMany => {
            let (receiver, mailbox) = unbounded_channel();
            let spawn = |share| tokio::spawn(send_all(share, stamps, receiver.clone()));
            let senders = shares(n, senders).map(spawn).collect();
            drop(receiver);
            if flow == Flow::Unbounded {
                one_by_one(mailbox, &mut received).await;
            } else {
                in_batches(mailbox, &mut received).await;
            }
            senders
        }
    };
    let elapsed = start.elapsed();

    let mut sent = 0;
    for sender in senders {
        sent += sender.await.unwrap_or(0);
    }
    Sample::new(elapsed, n, sent, received.count).with_delays(received.delays)
}

/// Messages received so far.
struct Received {
    count: u64,
    delays: Delays,
}

impl Received {
    fn take(&mut self, stamp: u64) {
        self.delays.received(stamp);
        self.count += 1;
    }
}

async fn one_by_one(mut mailbox: UnboundedReceiver<u64>, received: &mut Received) {
    while let Some(stamp) = mailbox.recv().await {
        received.take(stamp);
    }
}

async fn in_batches(mut mailbox: UnboundedReceiver<u64>, received: &mut Received) {
    let mut batch = Vec::with_capacity(BATCH);
    while mailbox.recv_many(&mut batch, BATCH).await > 0 {
        batch.drain(..).for_each(|stamp| received.take(stamp));
    }
}

async fn send_all(n: u64, stamps: Stamps, receiver: UnboundedSender<u64>) -> u64 {
    let mut sent = 0;
    for message in 0..n {
        sent += u64::from(receiver.send(stamps.of(message)).is_ok());
        if message % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now().await;
        }
    }
    sent
}

/// Like [`send_all`]; waits for capacity, which also lets other tasks run.
async fn send_waiting(n: u64, stamps: Stamps, receiver: Sender<u64>) -> u64 {
    let mut sent = 0;
    for message in 0..n {
        sent += u64::from(receiver.send(stamps.of(message)).await.is_ok());
    }
    sent
}
