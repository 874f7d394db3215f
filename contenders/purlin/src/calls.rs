//! Cost of a function call and of a message: `call-vs-send`.

use std::time::Instant;

use purlin::{Pid, Process, consume_budget, spawn};
use purlin_contender::{Mode, Sample, tail_call};

/// Number of messages between two samples of the receiver's mailbox length.
const LOOK_EVERY: u64 = 1024;

/// Messages of the receiver.
enum Step {
    Down(u64),
    Count,
}

/// Final report of the receiver.
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
    // A queued message is an envelope: the message and a header of one word.
    let slot = (size_of::<usize>() + size_of::<Step>()) as u64;
    Sample::new(elapsed, n, sent, counted.received)
        .with("queue_peak", counted.peak)
        .with("queue_peak_bytes", counted.peak * slot)
}

/// Receives and drops messages until it is asked for the count.
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
