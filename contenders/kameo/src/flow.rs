//! One-way messages: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::Signal;
use kameo::prelude::*;
use purlin_contender::{Delays, Sample, Stamps, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Number of messages between two samples of the receiver's mailbox depth.
const LOOK_EVERY: u64 = 1024;

/// The message: a timestamp, or 0.
struct Step(u64);

/// Receives its share of the messages and reports the number received. Stops when the last
/// reference to it is dropped.
struct Receiver {
    due: u64,
    received: u64,
    peak: u64,
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
    fn new(due: u64, stamps: Stamps, root: UnboundedSender<Received>) -> Self {
        Receiver { due, received: 0, peak: 0, delays: Delays::new(stamps), root }
    }

    fn tell_if_done(&mut self) {
        if self.received == self.due {
            let delays = std::mem::take(&mut self.delays);
            let report = Received { received: self.received, peak: self.peak, delays };
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

    async fn handle(&mut self, Step(stamp): Step, context: &mut Context<Self, ()>) {
        self.delays.received(stamp);
        self.received += 1;
        if self.received % LOOK_EVERY == 1 {
            let mailbox = context.actor_ref().mailbox_sender();
            let bound = mailbox.max_capacity().unwrap_or(0);
            self.peak = self.peak.max((bound - mailbox.capacity().unwrap_or(bound)) as u64);
        }
        self.tell_if_done();
    }
}

/// Sends its share of the messages, reports the number sent, and stops.
struct Sender;

impl Actor for Sender {
    type Args = (u64, ActorRef<Receiver>, Stamps, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (share, receiver, stamps, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        // Cannot fail: the root waits for this report.
        let _ = root.send(send_all(share, |_| &receiver, stamps).await);
        Ok(Sender)
    }
}

/// Sends `n` messages, each to the actor that `receiver` returns. Returns the number sent.
async fn send_all<'a>(
    n: u64,
    receiver: impl Fn(u64) -> &'a ActorRef<Receiver>,
    stamps: Stamps,
) -> u64 {
    let mut sent = 0;
    for step in 0..n {
        sent += u64::from(receiver(step).tell(Step(stamps.of(step))).await.is_ok());
    }
    sent
}

/// `fan-in`; `throughput` is `fan-in` with one sender.
pub(crate) async fn fan_in(senders: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (tell_sent, mut told_sent) = unbounded_channel();
    let stamps = Stamps::from_now();

    let start = Instant::now();
    let receiver = Receiver::spawn(Receiver::new(n, stamps, root));
    for share in shares(n, senders) {
        Sender::spawn((share, receiver.clone(), stamps, tell_sent.clone()));
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
        let receiver = Receiver::spawn(Receiver::new(share, Stamps::default(), root.clone()));
        receiver.wait_for_startup().await;
        receivers.push(receiver);
    }
    let mut received = 0;

    let start = Instant::now();
    let turn = |step| &receivers[(step % processes) as usize];
    let sent = send_all(n, turn, Stamps::default()).await;
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or_default().received;
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// `call-vs-send` in mode `remote`.
pub(crate) async fn call_vs_send(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let receiver = Receiver::spawn(Receiver::new(n, Stamps::default(), root));

    let start = Instant::now();
    let sent = send_all(n, |_| &receiver, Stamps::default()).await;
    let elapsed = start.elapsed();

    let Received { received, peak, .. } = reports.recv().await.unwrap_or_default();
    let slot = (size_of::<Signal<Receiver>>() + size_of::<Step>()) as u64;
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * slot))
}
