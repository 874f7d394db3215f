//! Chains of processes: `spawn-chain` and `serial-spawn`.

use std::time::Instant;

use purlin::{Pid, Process, spawn};
use purlin_contender::{Sample, shares};

/// Spawns a process that spawns the next one and exits; the last one reports how many ran.
fn chain(left: u64, ran: u64, root: Pid<u64>) {
    spawn(move |_: Process<()>| async move {
        if left == 1 {
            root.send(ran + 1);
        } else {
            chain(left - 1, ran + 1, root);
        }
    });
}

pub(crate) async fn spawn_chain(mut me: Process<u64>, n: u64, reps: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        chain(n, 0, me.pid());
        sent += n;
        received += me.receive().await;
    }
    Sample::new(start.elapsed(), n * reps, sent, received)
}

pub(crate) async fn serial_spawn(mut me: Process<u64>, m: u64, total: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for length in shares(total, m) {
        chain(length, 0, me.pid());
        sent += length;
    }
    for _ in 0..m {
        received += me.receive().await;
    }
    Sample::new(start.elapsed(), total, sent, received)
}
