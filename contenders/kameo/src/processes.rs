//! Actors one after another: `spawn-chain` and `serial-spawn`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Spawns the next one and ends, since nobody refers to it; the last tells how many of them ran.
struct Link;

impl Actor for Link {
    /// How many are left, itself among them; how many ran before it; who wants to know.
    type Args = (u64, u64, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (left, ran, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        if left == 1 {
            // The root waits for it and cannot have gone.
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
