//! Messages in one direction: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::Signal;
use kameo::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// How often a receiver looks at the depth of its mailbox: every so many messages.
const LOOK_EVERY: u64 = 1024;

/// What travels.
struct Step(u64);

/// Receives its share of the messages and tells how many came. Ends when nobody refers to it.
struct Receiver {
    due: u64,
    received: u64,
    peak: u64,
    root: UnboundedSender<Received>,
}

/// What a receiver tells.
#[derive(Default)]
struct Received {
    received: u64,
    peak: u64,
}

impl Receiver {
    fn new(due: u64, root: UnboundedSender<Received>) -> Self {
        Receiver { due, received: 0, peak: 0, root }
    }

    fn tell_if_done(&self) {
        if self.received == self.due {
            // The root waits for it and cannot have gone.
            let _ = self.root.send(Received { received: self.received, peak: self.peak });
        }
    }
}

impl Actor for Receiver {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(receiver: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        receiver.tell_if_done();
        Ok(receiver)
    }
}

impl Message<Step> for Receiver {
    type Reply = ();

    async fn handle(&mut self, Step(step): Step, context: &mut Context<Self, ()>) {
        std::hint::black_box(step);
        self.received += 1;
        if self.received % LOOK_EVERY == 1 {
            let mailbox = context.actor_ref().mailbox_sender();
            let bound = mailbox.max_capacity().unwrap_or(0);
            self.peak = self.peak.max((bound - mailbox.capacity().unwrap_or(bound)) as u64);
        }
        self.tell_if_done();
    }
}

/// Sends its share to the receiver, tells how many went, and ends.
struct Sender;

impl Actor for Sender {
    type Args = (u64, ActorRef<Receiver>, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (share, receiver, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        // The root waits for it and cannot have gone.
        let _ = root.send(send_all(share, |_| &receiver).await);
        Ok(Sender)
    }
}

/// Sends that many messages, each to its receiver; how many went.
async fn send_all<'a>(n: u64, receiver: impl Fn(u64) -> &'a ActorRef<Receiver>) -> u64 {
    let mut sent = 0;
    for step in 0..n {
        sent += u64::from(receiver(step).tell(Step(step)).await.is_ok());
    }
    sent
}

/// `fan-in`, and with one sender `throughput`.
pub(crate) async fn fan_in(senders: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (tell_sent, mut told_sent) = unbounded_channel();

    let start = Instant::now();
    let receiver = Receiver::spawn(Receiver::new(n, root));
    for share in shares(n, senders) {
        Sender::spawn((share, receiver.clone(), tell_sent.clone()));
    }
    let report = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    drop(tell_sent);
    let mut sent = 0;
    while let Some(share) = told_sent.recv().await {
        sent += share;
    }
    Ok(Sample::new(elapsed, n, sent, report.received))
}

pub(crate) async fn fan_out(processes: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut receivers = Vec::new();
    for place in 0..processes {
        let share = n / processes + u64::from(place < n % processes);
        let receiver = Receiver::spawn(Receiver::new(share, root.clone()));
        receiver.wait_for_startup().await;
        receivers.push(receiver);
    }
    let mut received = 0;

    let start = Instant::now();
    let sent = send_all(n, |step| &receivers[(step % processes) as usize]).await;
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or_default().received;
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// The remote half of `call-vs-send`.
pub(crate) async fn call_vs_send(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let receiver = Receiver::spawn(Receiver::new(n, root));

    let start = Instant::now();
    let sent = send_all(n, |_| &receiver).await;
    let elapsed = start.elapsed();

    let Received { received, peak } = reports.recv().await.unwrap_or_default();
    let slot = (size_of::<Signal<Receiver>>() + size_of::<Step>()) as u64;
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * slot))
}
