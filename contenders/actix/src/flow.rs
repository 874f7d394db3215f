//! Messages in one direction: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Delays, Depth, Sample, Stamps, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// How often a loop that only sends lets others run: every so many messages.
const YIELD_EVERY: u64 = 1024;

/// What travels: a stamp.
#[derive(Message)]
#[rtype(result = "()")]
struct Step(u64);

/// What a message takes in a mailbox: a node of the queue, and a box with a place for the reply.
const SLOT: u64 = (size_of::<Option<Step>>() + 5 * size_of::<usize>()) as u64;

/// Answered by who stands.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

/// Receives its share of the messages and tells how many came. Ends when nobody refers to it.
struct Receiver {
    due: u64,
    received: u64,
    depth: Depth,
    delays: Delays,
    root: UnboundedSender<Received>,
}

/// What a receiver tells.
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
            // The root waits for it and cannot have gone.
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

/// Sends its share to the receiver, tells how many went, and ends.
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
            // The root waits for it and cannot have gone.
            let _ = sender.root.send(sent);
        });
        context.spawn(told);
    }
}

/// Sends that many messages, each to its receiver; how many went.
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

/// `fan-in`, and with one sender `throughput`.
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

/// The remote half of `call-vs-send`.
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
