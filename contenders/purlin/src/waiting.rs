//! Timers and idle processes: `timers` and `idle-memory`.

use std::time::{Duration, Instant};

use purlin::{Pid, Process, consume_budget, spawn};
use purlin_contender::{Sample, shares};

/// Duration of the timers that are cancelled while the clock runs.
const SOON: Duration = Duration::from_secs(5);

/// Duration of the other timers, which do not fire during the run.
const LATE: Duration = Duration::from_secs(3600);

/// Maximum number of processes spawned before the root receives their ready messages. It keeps the
/// root's mailbox small.
const AT_ONCE: u64 = 1000;

pub(crate) async fn timers(me: Process<u64>, waiting: u64, n: u64) -> Sample {
    let own = me.pid();
    let mut others = Vec::new();
    for message in 0..waiting {
        others.push(own.send_after(LATE, message));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for message in 0..n {
        let timer = own.send_after(SOON, message);
        sent += 1;
        received += u64::from(timer.cancel().is_some());
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = others.iter().filter(|other| other.cancel().is_some()).count();
    Sample::new(elapsed, n, sent, received).with("waiting", waiting as u64)
}

/// The processes outlive the root: none of them receives a message.
pub(crate) async fn idle_memory(mut me: Process<()>, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            let root = me.pid();
            spawn(move |me| wait(me, root));
            sent += 1;
        }
        for _ in 0..share {
            me.receive().await;
            received += 1;
        }
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Reports that it runs, and waits.
async fn wait(mut me: Process<()>, root: Pid<()>) {
    root.send(());
    me.receive().await;
}
