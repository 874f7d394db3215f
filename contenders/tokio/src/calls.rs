//! Cost of a function call and of a message: `call-vs-send`.

use std::time::Instant;

use purlin_contender::{Mode, Sample, tail_call};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::yield_now;

use crate::messages::YIELD_EVERY;

/// The message of a step.
type Step = (u64,);

/// Number of messages between two samples of the receiver's queue length.
const LOOK_EVERY: u64 = 1024;

pub(crate) async fn call_vs_send(mode: Mode, n: u64) -> Sample {
    match mode {
        Mode::Local => tail_call(n, 1),
        Mode::Remote => remote(n).await,
    }
}

async fn remote(n: u64) -> Sample {
    let (receiver, mailbox) = unbounded_channel();
    let dropper = tokio::spawn(drop_all(mailbox));
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
    let (received, peak) = dropper.await.unwrap_or_default();
    Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * size_of::<Step>() as u64)
}

/// Receives and drops messages until the channel is closed. Returns the number received and the
/// peak queue length.
async fn drop_all(mut mailbox: UnboundedReceiver<Step>) -> (u64, u64) {
    let (mut received, mut peak) = (0, 0);
    while mailbox.recv().await.is_some() {
        received += 1;
        if received % LOOK_EVERY == 1 {
            peak = peak.max(mailbox.len() as u64);
        }
    }
    (received, peak)
}
