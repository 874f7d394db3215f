//! Cost of a function call and of a message: `call-vs-send`.

use std::time::Instant;

use may::coroutine::yield_now;
use may::go;
use may::sync::spsc::{Receiver, channel};
use purlin_contender::{Depth, Mode, Sample, tail_call};

use crate::messages::YIELD_EVERY;

/// The message of a step.
type Step = (u64,);

pub(crate) fn call_vs_send(mode: Mode, n: u64) -> Sample {
    match mode {
        Mode::Local => tail_call(n, 1),
        Mode::Remote => remote(n),
    }
}

fn remote(n: u64) -> Sample {
    let (receiver, mailbox) = channel();
    let depth = Depth::default();
    let seen = depth.clone();
    let dropper = go!(move || drop_all(n, &mailbox, seen));
    let mut sent = 0;

    let start = Instant::now();
    for left in (0..n).rev() {
        sent += u64::from(receiver.send((left,)).is_ok());
        depth.sent(sent);
        if left % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now();
        }
    }
    let elapsed = start.elapsed();

    let (received, peak) = dropper.join().unwrap_or_default();
    Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * size_of::<Step>() as u64)
}

/// Receives and drops `n` messages. Returns the number received and the peak queue length.
fn drop_all(n: u64, mailbox: &Receiver<Step>, mut depth: Depth) -> (u64, u64) {
    let mut received = 0;
    while received < n && mailbox.recv().is_ok() {
        received += 1;
        depth.received(received);
    }
    (received, depth.peak())
}
