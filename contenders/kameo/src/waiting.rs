//! Timers and idle actors: `timers` and `idle-memory`.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use kameo::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// Duration of the timers that are cancelled while the clock runs.
const SOON: Duration = Duration::from_secs(5);

/// Duration of the other timers, which do not fire during the run.
const LATE: Duration = Duration::from_secs(3600);

/// Maximum number of actors spawned before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// Reports that it has started, and waits.
struct Idle;

/// Message of the timers; none of them fires, so it is never delivered.
struct Call;

impl Actor for Idle {
    type Args = UnboundedSender<()>;
    type Error = Infallible;

    async fn on_start(ready: Self::Args, _: ActorRef<Self>) -> Result<Self, Infallible> {
        // The root counts the reports: a failed send is missing in the result.
        let _ = ready.send(());
        Ok(Idle)
    }
}

impl Message<Call> for Idle {
    type Reply = ();

    async fn handle(&mut self, _: Call, _: &mut Context<Self, ()>) {}
}

pub(crate) async fn timers(waiting: u64, n: u64) -> Outcome {
    let (ready, _ready) = unbounded_channel();
    let actor = Idle::spawn(ready);
    let mut others = Vec::new();
    for _ in 0..waiting {
        others.push(actor.tell(Call).send_after(LATE));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let timer = actor.tell(Call).send_after(SOON);
        sent += 1;
        received += u64::from(!timer.is_finished());
        timer.abort();
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = others.iter().filter(|other| !other.is_finished()).count();
    others.iter().for_each(|other| other.abort());
    Ok(Sample::new(elapsed, n, sent, received).with("waiting", waiting as u64))
}

/// The actors outlive the root: their references are leaked.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let mut actors = Vec::new();
    let mut received = 0;

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            actors.push(Idle::spawn(ready.clone()));
        }
        for _ in 0..share {
            received += u64::from(waits.recv().await.is_some());
        }
    }
    let elapsed = start.elapsed();

    let sent = actors.len() as u64;
    std::mem::forget(actors);
    Ok(Sample::new(elapsed, n, sent, received))
}
