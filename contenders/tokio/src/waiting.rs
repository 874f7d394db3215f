//! Timers and idle tasks: `timers` and `idle-memory`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;
use tokio::time::{Sleep, sleep};

/// Duration of the timers that are cancelled while the clock runs.
const SOON: Duration = Duration::from_secs(5);

/// Duration of the other timers, which do not fire during the run.
const LATE: Duration = Duration::from_secs(3600);

/// Maximum number of tasks spawned before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// A `Sleep` sets its timer on the first poll and cancels it on drop.
pub(crate) async fn timers(waiting: u64, n: u64) -> Sample {
    let mut others = Vec::new();
    for _ in 0..waiting {
        let mut other = Box::pin(sleep(LATE));
        if is_set(other.as_mut()).await {
            others.push(other);
        }
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let timer = std::pin::pin!(sleep(SOON));
        sent += 1;
        received += u64::from(is_set(timer).await);
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = others.iter().filter(|other| !other.is_elapsed()).count();
    Sample::new(elapsed, n, sent, received).with("waiting", waiting as u64)
}

/// Polls the timer once. Returns whether it is pending.
async fn is_set(mut timer: Pin<&mut Sleep>) -> bool {
    poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_pending())).await
}

/// The tasks outlive the root: the senders of their channels are leaked.
pub(crate) async fn idle_memory(n: u64) -> Sample {
    let (ready, mut waits) = unbounded_channel();
    let mut senders = Vec::new();
    let mut received = 0;

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            let (sender, mailbox) = unbounded_channel();
            senders.push(sender);
            tokio::spawn(wait(mailbox, ready.clone()));
        }
        for _ in 0..share {
            received += u64::from(waits.recv().await.is_some());
        }
    }
    let elapsed = start.elapsed();

    let sent = senders.len() as u64;
    std::mem::forget(senders);
    Sample::new(elapsed, n, sent, received)
}

/// Reports that it runs, and waits.
async fn wait(mut mailbox: UnboundedReceiver<()>, ready: UnboundedSender<()>) {
    let _ = ready.send(());
    drop(ready);
    mailbox.recv().await;
}
