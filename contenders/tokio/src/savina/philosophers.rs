//! `philosophers`: philosophers who ask an arbiter for their forks.

use std::time::Instant;

use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::request::call;

/// Messages of the arbiter.
enum ToArbiter {
    /// Answered with whether both forks were free, and are now taken.
    Hungry(usize, oneshot::Sender<bool>),
    Done(usize),
}

pub(crate) async fn philosophers(count: u64, n: u64) -> Sample {
    let start = Instant::now();
    let (arbiter, mailbox) = unbounded_channel();
    let serving = tokio::spawn(serve(mailbox, count as usize));
    let philosophers: Vec<_> = (0..count as usize)
        .map(|seat| tokio::spawn(philosopher(seat, n, arbiter.clone())))
        .collect();
    drop(arbiter);
    let mut eaten = 0;
    for philosopher in philosophers {
        eaten += philosopher.await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let (granted, denied) = serving.await.unwrap_or_default();
    Sample::new(elapsed, count * n, granted, eaten).with("denied", denied)
}

/// Returns the number of meals of a philosopher.
async fn philosopher(seat: usize, n: u64, arbiter: UnboundedSender<ToArbiter>) -> u64 {
    let mut meals = 0;
    while meals < n {
        match call(&arbiter, |reply| ToArbiter::Hungry(seat, reply)).await {
            Some(true) if arbiter.send(ToArbiter::Done(seat)).is_ok() => meals += 1,
            Some(false) => {}
            _ => break,
        }
    }
    meals
}

/// Returns the numbers of meals granted and of requests denied.
async fn serve(mut mailbox: UnboundedReceiver<ToArbiter>, count: usize) -> (u64, u64) {
    let mut taken = vec![false; count];
    let (mut granted, mut denied) = (0, 0);
    while let Some(message) = mailbox.recv().await {
        match message {
            ToArbiter::Hungry(seat, reply) => {
                let free = !taken[seat] && !taken[(seat + 1) % count];
                if free {
                    taken[seat] = true;
                    taken[(seat + 1) % count] = true;
                    granted += 1;
                } else {
                    denied += 1;
                }
                // The reply can only be lost if the philosopher has failed.
                let _ = reply.send(free);
            }
            ToArbiter::Done(seat) => {
                taken[seat] = false;
                taken[(seat + 1) % count] = false;
            }
        }
    }
    (granted, denied)
}
