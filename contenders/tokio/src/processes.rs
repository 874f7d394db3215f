//! Chains of tasks: `spawn-chain` and `serial-spawn`.

use std::time::Instant;

use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Spawns a task that spawns the next one and ends; the last one reports how many ran.
fn chain(left: u64, ran: u64, root: UnboundedSender<u64>) {
    tokio::spawn(async move {
        if left == 1 {
            let _ = root.send(ran + 1);
        } else {
            chain(left - 1, ran + 1, root);
        }
    });
}

pub(crate) async fn spawn_chain(n: u64, reps: u64) -> Sample {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        chain(n, 0, root.clone());
        sent += n;
        received += mailbox.recv().await.unwrap_or(0);
    }
    Sample::new(start.elapsed(), n * reps, sent, received)
}

pub(crate) async fn serial_spawn(m: u64, total: u64) -> Sample {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for length in shares(total, m) {
        chain(length, 0, root.clone());
        sent += length;
    }
    drop(root);
    while let Some(ran) = mailbox.recv().await {
        received += ran;
    }
    Sample::new(start.elapsed(), total, sent, received)
}
