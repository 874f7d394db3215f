//! Chains of actors: `spawn-chain` and `serial-spawn`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Starts the next actor of the chain and stops, because no addresses of it are left; the last one
/// reports how many ran.
struct Link {
    /// Number of actors left, including this one.
    left: u64,
    ran: u64,
    root: UnboundedSender<u64>,
}

impl Actor for Link {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        let Link { left, ran, root } = self;
        if *left == 1 {
            // Cannot fail: the root waits for this report.
            let _ = root.send(*ran + 1);
        } else {
            Link { left: *left - 1, ran: *ran + 1, root: root.clone() }.start();
        }
    }
}

pub(crate) async fn spawn_chain(n: u64, reps: u64) -> Outcome {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        Link { left: n, ran: 0, root: root.clone() }.start();
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
        Link { left: length, ran: 0, root: root.clone() }.start();
        sent += length;
    }
    for _ in 0..m {
        received += mailbox.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(start.elapsed(), total, sent, received))
}
