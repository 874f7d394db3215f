//! Timers: `timers` and `timer-expiry`.

use std::time::{Duration, Instant};

use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

/// Receiver of the timers that are cancelled.
struct Idle;

impl Actor for Idle {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

pub(crate) async fn timers(asked: Timers) -> Outcome {
    let (actor, _) = Actor::spawn(None, Idle, ()).await?;
    let mut window = Window::new(asked);
    for _ in 0..asked.window {
        window.add(actor.send_after(SOON, || ()));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..asked.n {
        if let Some(timer) = window.take() {
            received += u64::from(!timer.is_finished());
            timer.abort();
        }
        window.add(actor.send_after(SOON, || ()));
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = window.rest().filter(|timer| !timer.is_finished()).map(|timer| timer.abort());
    let waiting = waiting.count() as u64;
    actor.stop(None);
    Ok(Sample::new(elapsed, asked.n, sent, received).with("waiting", waiting))
}

/// Sets the timers and receives their messages.
struct Expecting;

struct Waiting {
    /// `None` once all timers have expired.
    expiries: Option<Expiries>,
    root: UnboundedSender<Sample>,
}

impl Actor for Expecting {
    type Msg = Instant;
    type State = Waiting;
    type Arguments = (Expiry, UnboundedSender<Sample>);

    async fn pre_start(
        &self,
        myself: ActorRef<Instant>,
        (asked, root): Self::Arguments,
    ) -> Result<Waiting, ActorProcessingErr> {
        let mut expiries = Expiries::new(asked);
        for due in expiries.due() {
            myself.send_after(due.saturating_duration_since(Instant::now()), move || due);
            consume_budget().await;
        }
        expiries.all_set();
        Ok(Waiting { expiries: Some(expiries), root })
    }

    async fn handle(
        &self,
        myself: ActorRef<Instant>,
        due: Instant,
        waiting: &mut Waiting,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(done) = waiting.expiries.take_if(|expiries| !expiries.expired(due)) {
            waiting.root.send(done.sample())?;
            myself.stop(None);
        }
        Ok(())
    }
}

pub(crate) async fn timer_expiry(asked: Expiry) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    Actor::spawn(None, Expecting, (asked, root)).await?;
    reports.recv().await.ok_or_else(|| "the actor has failed".into())
}
