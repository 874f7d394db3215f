//! Timers and idle actors: `timers` and `idle-memory`.

use std::time::{Duration, Instant};

use purlin_contender::{Sample, shares};
use ractor::{Actor, ActorProcessingErr, ActorRef};
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

impl Actor for Idle {
    type Msg = ();
    type State = ();
    type Arguments = UnboundedSender<()>;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        ready: UnboundedSender<()>,
    ) -> Result<(), ActorProcessingErr> {
        ready.send(())?;
        Ok(())
    }
}

pub(crate) async fn timers(waiting: u64, n: u64) -> Outcome {
    let (ready, _ready) = unbounded_channel();
    let (actor, _) = Actor::spawn(None, Idle, ready).await?;
    let mut others = Vec::new();
    for _ in 0..waiting {
        others.push(actor.send_after(LATE, || ()));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let timer = actor.send_after(SOON, || ());
        sent += 1;
        received += u64::from(!timer.is_finished());
        timer.abort();
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = others.iter().filter(|other| !other.is_finished()).count();
    others.iter().for_each(|other| other.abort());
    actor.stop(None);
    Ok(Sample::new(elapsed, n, sent, received).with("waiting", waiting as u64))
}

/// The actors outlive the root: a ractor actor stays alive without references to it.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            Actor::spawn(None, Idle, ready.clone()).await?;
            sent += 1;
        }
        for _ in 0..share {
            received += u64::from(waits.recv().await.is_some());
        }
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}
