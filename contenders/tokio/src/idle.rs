//! Idle tasks: `idle-memory`.

use std::time::Instant;

use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Maximum number of tasks spawned before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

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
