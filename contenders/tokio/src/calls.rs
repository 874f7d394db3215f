//! Cost of a function call and of a message: `call-vs-send`.

use std::time::{Duration, Instant};

use purlin_contender::{Flow, Mode, Sample, tail_call};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};
use tokio::task::yield_now;

use crate::flow::{BATCH, CAPACITY, YIELD_EVERY};

/// The message of a step.
type Step = (u64,);

/// Number of messages between two samples of the receiver's queue length.
const LOOK_EVERY: u64 = 1024;

pub(crate) async fn call_vs_send(mode: Mode, n: u64, flow: Flow) -> Sample {
    if mode == Mode::Local {
        return tail_call(n, 1);
    }
    let (elapsed, sent, counted) = match flow {
        Flow::Bounded => waiting(n).await,
        Flow::Unbounded => unbounded(n, |mailbox| tokio::spawn(drop_all(mailbox))).await,
        Flow::ReceiveMany => unbounded(n, |mailbox| tokio::spawn(drop_batches(mailbox))).await,
    };
    Sample::new(elapsed, n, sent, counted.received)
        .with("queue_peak", counted.peak)
        .with("queue_peak_bytes", counted.peak * size_of::<Step>() as u64)
}

/// Final report of the receiver.
#[derive(Default)]
struct Counted {
    received: u64,
    peak: u64,
}

impl Counted {
    /// Counts messages; `waiting` returns the queue length.
    fn add(&mut self, count: u64, waiting: impl FnOnce() -> usize) {
        let before = self.received;
        self.received += count;
        if before / LOOK_EVERY != self.received / LOOK_EVERY || before == 0 {
            self.peak = self.peak.max(waiting() as u64);
        }
    }
}

/// Sends all messages to the unbounded mailbox of the receiver that `start` starts.
async fn unbounded(
    n: u64,
    start: impl FnOnce(UnboundedReceiver<Step>) -> tokio::task::JoinHandle<Counted>,
) -> (Duration, u64, Counted) {
    let (receiver, mailbox) = unbounded_channel();
    let dropper = start(mailbox);
    let mut sent = 0;

    let start = Instant::now();
    for left in (0..n).rev() {
        sent += u64::from(receiver.send((left,)).is_ok());
        if left % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now().await;
        }
    }
    let elapsed = start.elapsed();

    drop(receiver);
    (elapsed, sent, dropper.await.unwrap_or_default())
}

/// Sends all messages to a bounded mailbox; waits for capacity.
async fn waiting(n: u64) -> (Duration, u64, Counted) {
    let (receiver, mailbox) = channel(CAPACITY);
    let dropper = tokio::spawn(drop_bounded(mailbox));
    let mut sent = 0;

    let start = Instant::now();
    for left in (0..n).rev() {
        sent += u64::from(receiver.send((left,)).await.is_ok());
    }
    let elapsed = start.elapsed();

    drop(receiver);
    (elapsed, sent, dropper.await.unwrap_or_default())
}

/// Receives and drops messages one by one until the channel is closed.
async fn drop_all(mut mailbox: UnboundedReceiver<Step>) -> Counted {
    let mut counted = Counted::default();
    while mailbox.recv().await.is_some() {
        counted.add(1, || mailbox.len());
    }
    counted
}

/// Like [`drop_all`], many messages per receive.
async fn drop_batches(mut mailbox: UnboundedReceiver<Step>) -> Counted {
    let mut counted = Counted::default();
    let mut batch = Vec::with_capacity(BATCH);
    while mailbox.recv_many(&mut batch, BATCH).await > 0 {
        counted.add(batch.len() as u64, || mailbox.len());
        batch.clear();
    }
    counted
}

/// Like [`drop_all`], from a bounded channel.
async fn drop_bounded(mut mailbox: Receiver<Step>) -> Counted {
    let mut counted = Counted::default();
    while mailbox.recv().await.is_some() {
        counted.add(1, || mailbox.len());
    }
    counted
}
