//! Cost of a message to another actor: `call-vs-send` in mode `remote`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Depth, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;
use crate::flow::YIELD_EVERY;

/// The message of a step.
#[derive(Message)]
#[rtype(result = "()")]
struct Step(#[expect(dead_code, reason = "the receiver drops it")] u64);

/// Estimated size of a message in a mailbox: a queue node, and a boxed envelope with a field for
/// the response channel.
const SLOT: u64 = (size_of::<Option<Step>>() + 5 * size_of::<usize>()) as u64;

/// Drops its messages, and reports the number received and the peak queue length. Stops when the
/// last address is dropped.
struct Dropper {
    due: u64,
    received: u64,
    depth: Depth,
    root: UnboundedSender<(u64, u64)>,
}

impl Dropper {
    fn tell_if_done(&self) {
        if self.received == self.due {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send((self.received, self.depth.peak()));
        }
    }
}

impl Actor for Dropper {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.tell_if_done();
    }
}

impl Handler<Step> for Dropper {
    type Result = ();

    fn handle(&mut self, _: Step, _: &mut Context<Self>) {
        self.received += 1;
        self.depth.received(self.received);
        self.tell_if_done();
    }
}

pub(crate) async fn call_vs_send(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let depth = Depth::default();
    let receiver = Dropper { due: n, received: 0, depth: depth.clone(), root }.start();
    let mut sent = 0;

    let start = Instant::now();
    for left in (0..n).rev() {
        receiver.do_send(Step(left));
        sent += 1;
        depth.sent(sent);
        if left % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now().await;
        }
    }
    let elapsed = start.elapsed();

    let (received, peak) = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * SLOT))
}
