//! One-way messages: `throughput`, `fan-in` and `fan-out`.

use std::iter::repeat;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Delays, Sample, Stamps, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of messages or actors between two yields of a loop that only sends or starts actors.
pub(crate) const YIELD_EVERY: u64 = 256;

/// The message: a timestamp, or 0.
#[derive(Message)]
#[rtype(result = "()")]
struct Step(u64);

/// Empty message; the response shows that the actor has started.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

/// Receives its share of the messages and reports the number received. Stops when the last address
/// is dropped.
struct Receiver {
    due: u64,
    received: u64,
    delays: Delays,
    root: UnboundedSender<Received>,
}

/// Report of a receiver.
#[derive(Default)]
struct Received {
    received: u64,
    delays: Delays,
}

impl Receiver {
    fn new(due: u64, stamps: Stamps, root: UnboundedSender<Received>) -> Self {
        Receiver { due, received: 0, delays: Delays::new(stamps), root }
    }

    fn tell_if_done(&mut self) {
        if self.received == self.due {
            let delays = std::mem::take(&mut self.delays);
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(Received { received: self.received, delays });
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
        let sending = async move { send_all(share, repeat(&receiver), stamps).await };
        let told = sending.into_actor(self).map(|sent, sender, _| {
            // Cannot fail: the root waits for this report.
            let _ = sender.root.send(sent);
        });
        context.spawn(told);
    }
}

/// Sends `n` messages, each to the next of `receivers`. Returns the number sent.
async fn send_all<'a>(
    n: u64,
    receivers: impl Iterator<Item = &'a Addr<Receiver>>,
    stamps: Stamps,
) -> u64 {
    let mut sent = 0;
    for (step, receiver) in (0..n).zip(receivers) {
        receiver.do_send(Step(stamps.of(step)));
        sent += 1;
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
    let receiver = Receiver::new(n, stamps, root).start();
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
        let receiver = Receiver::new(share, Stamps::default(), root.clone()).start();
        receiver.send(Stand).await?;
        receivers.push(receiver);
    }
    let mut received = 0;

    let start = Instant::now();
    let sent = send_all(n, receivers.iter().cycle(), Stamps::default()).await;
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or_default().received;
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}
