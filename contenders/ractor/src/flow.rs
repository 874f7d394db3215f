//! One-way messages: `throughput`, `fan-in`, `fan-out` and `call-vs-send`.

use std::time::Instant;

use purlin_contender::{Delays, Depth, Sample, Stamps, shares};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of messages between two yields of a loop that only sends: faster than 64, and as fast as
/// 1024, for `call-vs-send` and `throughput`; `fan-in` does not depend on it.
const SENDS_PER_YIELD: u64 = 256;

/// The message: a timestamp, or 0.
struct Step(u64);

/// Estimated size of a message in a mailbox: the boxed message plus four words.
const SLOT: u64 = (size_of::<Step>() + 4 * size_of::<usize>()) as u64;

/// Receives its share of the messages, reports the number received, and stops.
struct Receiver;

struct Receiving {
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

impl Receiving {
    fn tell_if_done(&mut self, myself: &ActorRef<Step>) -> Result<(), ActorProcessingErr> {
        if self.received == self.due {
            let delays = std::mem::take(&mut self.delays);
            let peak = self.depth.peak();
            self.root.send(Received { received: self.received, peak, delays })?;
            myself.stop(None);
        }
        Ok(())
    }
}

impl Actor for Receiver {
    type Msg = Step;
    type State = Receiving;
    type Arguments = (u64, Depth, Stamps, UnboundedSender<Received>);

    async fn pre_start(
        &self,
        _: ActorRef<Step>,
        (due, depth, stamps, root): Self::Arguments,
    ) -> Result<Receiving, ActorProcessingErr> {
        Ok(Receiving { due, received: 0, depth, delays: Delays::new(stamps), root })
    }

    async fn post_start(
        &self,
        myself: ActorRef<Step>,
        receiving: &mut Receiving,
    ) -> Result<(), ActorProcessingErr> {
        receiving.tell_if_done(&myself)
    }

    async fn handle(
        &self,
        myself: ActorRef<Step>,
        Step(stamp): Step,
        receiving: &mut Receiving,
    ) -> Result<(), ActorProcessingErr> {
        receiving.delays.received(stamp);
        receiving.received += 1;
        receiving.depth.received(receiving.received);
        receiving.tell_if_done(&myself)
    }
}

/// Sends its share of the messages, reports the number sent, and stops.
struct Sender;

type Sending = (u64, ActorRef<Step>, Stamps, UnboundedSender<u64>);

impl Actor for Sender {
    type Msg = ();
    type State = Sending;
    type Arguments = Sending;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        sending: Sending,
    ) -> Result<Sending, ActorProcessingErr> {
        Ok(sending)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (share, receiver, stamps, root): &mut Sending,
    ) -> Result<(), ActorProcessingErr> {
        root.send(send_all(*share, |_| receiver, *stamps, &Depth::default()).await)?;
        myself.stop(None);
        Ok(())
    }
}

/// Sends `n` messages, each to the actor that `receiver` returns. Returns the number sent.
async fn send_all<'a>(
    n: u64,
    receiver: impl Fn(u64) -> &'a ActorRef<Step>,
    stamps: Stamps,
    depth: &Depth,
) -> u64 {
    let mut sent = 0;
    for step in 0..n {
        sent += u64::from(receiver(step).cast(Step(stamps.of(step))).is_ok());
        depth.sent(sent);
        if step % SENDS_PER_YIELD == SENDS_PER_YIELD - 1 {
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
    let (receiver, _) = Actor::spawn(None, Receiver, (n, Depth::default(), stamps, root)).await?;
    for share in shares(n, senders) {
        Actor::spawn(None, Sender, (share, receiver.clone(), stamps, tell_sent.clone())).await?;
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
        let receiver = (share, Depth::default(), Stamps::default(), root.clone());
        receivers.push(Actor::spawn(None, Receiver, receiver).await?.0);
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
    let (receiver, _) =
        Actor::spawn(None, Receiver, (n, depth.clone(), Stamps::default(), root)).await?;

    let start = Instant::now();
    let sent = send_all(n, |_| &receiver, Stamps::default(), &depth).await;
    let elapsed = start.elapsed();

    let Received { received, peak, .. } = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(elapsed, n, sent, received)
        .with("queue_peak", peak)
        .with("queue_peak_bytes", peak * SLOT))
}
