//! One-way messages: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Delays, Depth, Sample, Stamps, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of messages or actors between two yields of a loop that only sends or starts actors.
pub(crate) const YIELD_EVERY: u64 = 256;

/// The message: a timestamp, or 0.
#[derive(Message)]
#[rtype(result = "()")]
struct Step(u64);

/// Estimated size of a message in a mailbox: a queue node, and a boxed envelope with a field for
/// the response channel.
const SLOT: u64 = (size_of::<Option<Step>>() + 5 * size_of::<usize>()) as u64;

/// Empty message; the response shows that the actor has started.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

/// Receives its share of the messages and reports the number received. Stops when the last address
/// is dropped.
struct Receiver {
    due: u64,
    received: u64,
    depth: Depth,
    delays: Delays,
    root: UnboundedSender<Received>,
}

/// Report of a receiver.
#[derive(Default)]
struct Received {
    received: u64,
    peak: u64,
    delays: Delays,
}

impl Receiver {
    fn new(due: u64, depth: Depth, stamps: Stamps, root: UnboundedSender<Received>) -> Self {
        Receiver { due, received: 0, depth, delays: Delays::new(stamps), root }
    }

    fn tell_if_done(&mut self) {
        if self.received == self.due {
            let delays = std::mem::take(&mut self.delays);
            let report = Received { received: self.received, peak: self.depth.peak(), delays };
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(report);
        }
    }
}

impl Actor for Receiver {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.tell_if_done();
    }
}

impl Handler<Stand> for Receiver {
    type Result = ();

    fn handle(&mut self, _: Stand, _: &mut Context<Self>) {}
}

impl Handler<Step> for Receiver {
    type Result = ();

    fn handle(&mut self, Step(stamp): Step, _: &mut Context<Self>) {
        self.delays.received(stamp);
        self.received += 1;
        self.depth.received(self.received);
        self.tell_if_done();
    }
}

/// Sends its share of the messages, reports the number sent, and stops.
struct Sender {
    share: u64,
    receiver: Addr<Receiver>,
    stamps: Stamps,
    root: UnboundedSender<u64>,
}

impl Actor for Sender {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (share, receiver, stamps) = (self.share, self.receiver.clone(), self.stamps);
        let sending =
            async move { send_all(share, |_| &receiver, stamps, &Depth::default()).await };
        let told = sending.into_actor(self).map(|sent, sender, _| {
            // Cannot fail: the root waits for this report.
            let _ = sender.root.send(sent);
        });
        context.spawn(told);
    }
}

/// Sends `n` messages, each to the actor that `receiver` returns. Returns the number sent.
async fn send_all<'a>(
    n: u64,
    receiver: impl Fn(u64) -> &'a Addr<Receiver>,
    stamps: Stamps,
    depth: &Depth,
) -> u64 {
    let mut sent = 0;
    for step in 0..n {
        receiver(step).do_send(Step(stamps.of(step)));
        sent += 1;
        depth.sent(sent);
        if step % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now().await;
        }
    }
    sent
}

/// `fan-in`; `throughput` is `fan-in` with one sender.
pub(crate) async fn fan_in(senders: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (tell_sent, mut told_sent) = unbounded_channel();
    let stamps = Stamps::from_now();

    let start = Instant::now();
    let receiver = Receiver::new(n, Depth::default(), stamps, root).start();
    for share in shares(n, senders) {
        Sender { share, receiver: receiver.clone(), stamps, root: tell_sent.clone() }.start();
    }
    let report = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    drop(tell_sent);
    let mut sent = 0;
    while let Some(share) = told_sent.recv().await {
        sent += share;
    }
    Ok(Sample::new(elapsed, n, sent, report.received).with_delays(report.delays))
}

pub(crate) async fn fan_out(processes: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut receivers = Vec::new();
    for place in 0..processes {
        let share = n / processes + u64::from(place < n % processes);
        let depth = Depth::default();
        let receiver = Receiver::new(share, depth, Stamps::default(), root.clone()).start();
        receiver.send(Stand).await?;
        receivers.push(receiver);
    }
    let mut received = 0;

    let start = Instant::now();
    let turn = |step| &receivers[(step % processes) as usize];
    let sent = send_all(n, turn, Stamps::default(), &Depth::default()).await;
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or_default().received;
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// `call-vs-send` in mode `remote`.
pub(crate) async fn call_vs_send(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let depth = Depth::default();
    let receiver = Receiver::new(n, depth.clone(), Stamps::default(), root).start();

    let start = Instant::now();
    let sent = send_all(n, |_| &receiver, Stamps::default(), &depth).await;
    let elapsed = start.elapsed();

    let Received { received, peak, .. } = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * SLOT))
}
