//! One-way messages: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::{Signal, unbounded};
use kameo::prelude::*;
use purlin_contender::{Delays, Depth, Flow, Sample, Stamps, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of messages between two yields of a loop that only sends: the fastest of 64, 256 and 1024
/// for `call-vs-send`, and not slower than they for `throughput` and `fan-in`.
const SENDS_PER_YIELD: u64 = 256;

/// The message: a timestamp, or 0.
struct Step(u64);

/// Receives its share of the messages and reports the number received. Stops when the last
/// reference to it is dropped.
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
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut receiver: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        receiver.tell_if_done();
        Ok(receiver)
    }
}

impl Message<Step> for Receiver {
    type Reply = ();

    async fn handle(&mut self, Step(stamp): Step, _: &mut Context<Self, ()>) {
        self.delays.received(stamp);
        self.received += 1;
        self.depth.received(self.received);
        self.tell_if_done();
    }
}

/// Sends its share of the messages, reports the number sent, and stops.
struct Sender;

impl Actor for Sender {
    type Args = (u64, ActorRef<Receiver>, Flow, Stamps, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (share, receiver, flow, stamps, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        // Cannot fail: the root waits for this report.
        let sent = send_all(share, |_| &receiver, flow, stamps, &Depth::default()).await;
        let _ = root.send(sent);
        Ok(Sender)
    }
}

/// Sends `n` messages, each to the actor that `receiver` returns. Returns the number sent.
async fn send_all<'a>(
    n: u64,
    receiver: impl Fn(u64) -> &'a ActorRef<Receiver>,
    flow: Flow,
    stamps: Stamps,
    depth: &Depth,
) -> u64 {
    let mut sent = 0;
    for step in 0..n {
        sent += u64::from(receiver(step).tell(Step(stamps.of(step))).send().await.is_ok());
        depth.sent(sent);
        if flow == Flow::Unbounded && step % SENDS_PER_YIELD == SENDS_PER_YIELD - 1 {
            yield_now().await;
        }
    }
    sent
}

/// Starts a receiver with the default mailbox or an unbounded one.
fn spawned(receiver: Receiver, flow: Flow) -> ActorRef<Receiver> {
    match flow {
        Flow::Unbounded => Receiver::spawn_with_mailbox(receiver, unbounded()),
        Flow::Bounded | Flow::ReceiveMany => Receiver::spawn(receiver),
    }
}

/// `fan-in`; `throughput` is `fan-in` with one sender.
pub(crate) async fn fan_in(senders: u64, n: u64, flow: Flow) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (tell_sent, mut told_sent) = unbounded_channel();
    let stamps = Stamps::from_now();

    let start = Instant::now();
    let receiver = spawned(Receiver::new(n, Depth::default(), stamps, root), flow);
    for share in shares(n, senders) {
        Sender::spawn((share, receiver.clone(), flow, stamps, tell_sent.clone()));
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
        let (depth, stamps) = (Depth::default(), Stamps::default());
        let receiver = Receiver::spawn(Receiver::new(share, depth, stamps, root.clone()));
        receiver.wait_for_startup().await;
        receivers.push(receiver);
    }
    let mut received = 0;

    let start = Instant::now();
    let turn = |step| &receivers[(step % processes) as usize];
    let sent = send_all(n, turn, Flow::Bounded, Stamps::default(), &Depth::default()).await;
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or_default().received;
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// `call-vs-send` in mode `remote`.
pub(crate) async fn call_vs_send(n: u64, flow: Flow) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let depth = Depth::default();
    let receiver = spawned(Receiver::new(n, depth.clone(), Stamps::default(), root), flow);

    let start = Instant::now();
    let sent = send_all(n, |_| &receiver, flow, Stamps::default(), &depth).await;
    let elapsed = start.elapsed();

    let Received { received, peak, .. } = reports.recv().await.unwrap_or_default();
    let slot = (size_of::<Signal<Receiver>>() + size_of::<Step>()) as u64;
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * slot))
}
