//! Chains of actors: `spawn-chain` and `serial-spawn`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Spawns the next actor of the chain and stops, because no references to it are left; the last one
/// reports how many ran.
struct Link;

impl Actor for Link {
    /// Number of actors left, including this one; number that ran before it; channel for the
    /// report.
    type Args = (u64, u64, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (left, ran, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        if left == 1 {
            // Cannot fail: the root waits for this report.
            let _ = root.send(ran + 1);
        } else {
            Link::spawn((left - 1, ran + 1, root));
        }
        Ok(Link)
    }
}

pub(crate) async fn spawn_chain(n: u64, reps: u64) -> Outcome {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        Link::spawn((n, 0, root.clone()));
        sent += n;
        received += mailbox.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(start.elapsed(), n * reps, sent, received))
}

pub(crate) async fn serial_spawn(m: u64, total: u64) -> Outcome {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for length in shares(total, m) {
        Link::spawn((length, 0, root.clone()));
        sent += length;
    }
    for _ in 0..m {
        received += mailbox.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(start.elapsed(), total, sent, received))
}
