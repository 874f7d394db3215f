//! Idle processes: `idle-memory`.

use std::time::Instant;

use purlin::{Process, spawn};
use purlin_contender::{Sample, shares};

/// Maximum number of processes spawned before the root receives their ready messages. It keeps the
/// root's mailbox small.
const AT_ONCE: u64 = 1000;

/// Each process reports that it runs, and waits. The processes outlive the root: none of them receives a
/// message.
pub(crate) async fn idle_memory(mut me: Process<()>, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            let root = me.pid();
            // WHY no `async fn`: it would have its arguments twice.
            spawn(move |mut me: Process<()>| async move {
                root.send(());
                me.receive().await;
            });
            sent += 1;
        }
        for _ in 0..share {
            me.receive().await;
            received += 1;
        }
    }
    Sample::new(start.elapsed(), n, sent, received)
}
