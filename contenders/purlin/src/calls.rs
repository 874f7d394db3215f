//! What a call costs and what a message costs: `call-vs-send`.

use std::time::Instant;

use purlin::{Pid, Process, consume_budget, spawn};
use purlin_contender::{Mode, Sample, tail_call};

/// How often the receiver looks at the length of its mailbox: every so many messages.
const LOOK_EVERY: u64 = 1024;

/// What the receiver gets.
enum Step {
    Down(u64),
    Count,
}

/// What the receiver says at the end.
pub(crate) struct Counted {
    received: u64,
    peak: u64,
}

pub(crate) async fn call_vs_send(me: Process<Counted>, mode: Mode, n: u64) -> Sample {
    match mode {
        Mode::Local => tail_call(n, 1),
        Mode::Remote => remote(me, n).await,
    }
}

async fn remote(mut me: Process<Counted>, n: u64) -> Sample {
    let root = me.pid();
    let receiver = spawn(move |me| drop_all(me, root));
    let mut sent = 0;

    let start = Instant::now();
    for left in (0..n).rev() {
        receiver.send(Step::Down(left));
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    receiver.send(Step::Count);
    let counted = me.receive().await;
    // A message is kept in a cell of its own with one word beside it.
    let slot = (size_of::<usize>() + size_of::<Step>()) as u64;
    Sample::new(elapsed, n, sent, counted.received)
        .with("queue_peak", counted.peak)
        .with("queue_peak_bytes", counted.peak * slot)
}

/// Receives and drops until it is asked for the count.
async fn drop_all(mut me: Process<Step>, root: Pid<Counted>) {
    let (mut received, mut peak) = (0, 0);
    while let Step::Down(left) = me.receive().await {
        std::hint::black_box(left);
        received += 1;
        if received % LOOK_EVERY == 1 {
            peak = peak.max(me.mailbox_len() as u64);
        }
    }
    root.send(Counted { received, peak });
}
