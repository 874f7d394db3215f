//! Timers: `timers` and `timer-expiry`.
//!
//! A task with many timers has them in a `DelayQueue`, from which it receives the expired ones.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};
use tokio::task::consume_budget;
use tokio_util::time::DelayQueue;

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

pub(crate) async fn timers(asked: Timers) -> Sample {
    let mut queue = DelayQueue::new();
    let mut window = Window::new(asked);
    for _ in 0..asked.window {
        window.add(queue.insert((), SOON));
    }
    // Registers the queue with the runtime's timer.
    poll_fn(|cx| Poll::Ready(queue.poll_expired(cx).is_pending())).await;
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..asked.n {
        received += u64::from(window.take().is_some_and(|key| queue.try_remove(&key).is_some()));
        window.add(queue.insert((), SOON));
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = window.rest().filter(|key| queue.try_remove(key).is_some()).count();
    Sample::new(elapsed, asked.n, sent, received).with("waiting", waiting as u64)
}

pub(crate) async fn timer_expiry(asked: Expiry) -> Sample {
    let mut queue = DelayQueue::new();
    let mut expiries = Expiries::new(asked);
    for due in expiries.due() {
        queue.insert_at(due, due.into());
        consume_budget().await;
    }
    expiries.all_set();
    while let Some(expired) = poll_fn(|cx| queue.poll_expired(cx)).await {
        if !expiries.expired(expired.into_inner()) {
            break;
        }
    }
    expiries.sample()
}
