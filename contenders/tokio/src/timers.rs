//! Timers: `timers` and `timer-expiry`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::consume_budget;
use tokio::time::{Sleep, sleep, sleep_until};

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

pub(crate) async fn timers(asked: Timers) -> Sample {
    let mut window = Window::new(asked);
    for _ in 0..asked.window {
        window.add(set().await);
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..asked.n {
        received += u64::from(window.take().is_some_and(cancel));
        window.add(set().await);
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = window.rest().map(cancel).filter(|in_time| *in_time).count();
    Sample::new(elapsed, asked.n, sent, received).with("waiting", waiting as u64)
}

/// Sets a timer: a `Sleep` registers on the first poll.
async fn set() -> Pin<Box<Sleep>> {
    let mut timer = Box::pin(sleep(SOON));
    poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_pending())).await;
    timer
}

/// Cancels a timer by dropping it. Returns whether it was in time.
fn cancel(timer: Pin<Box<Sleep>>) -> bool {
    !timer.is_elapsed()
}

/// Each timer is a task that sleeps and sends.
pub(crate) async fn timer_expiry(asked: Expiry) -> Sample {
    let (expired, mut timers) = unbounded_channel();
    let mut expiries = Expiries::new(asked);
    for due in expiries.due() {
        let expired = expired.clone();
        tokio::spawn(async move {
            sleep_until(due.into()).await;
            let _ = expired.send(due);
        });
        consume_budget().await;
    }
    expiries.all_set();
    while let Some(due) = timers.recv().await {
        if !expiries.expired(due) {
            break;
        }
    }
    expiries.sample()
}
