//! Timers: `timers` and `timer-expiry`.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use kameo::prelude::*;
use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

/// Receiver of the timers that are cancelled.
#[derive(Actor)]
struct Idle;

/// Message of the cancelled timers, which is never delivered.
struct Call;

impl Message<Call> for Idle {
    type Reply = ();

    async fn handle(&mut self, _: Call, _: &mut Context<Self, ()>) {}
}

pub(crate) async fn timers(asked: Timers) -> Outcome {
    let actor = Idle::spawn(Idle);
    let mut window = Window::new(asked);
    for _ in 0..asked.window {
        window.add(actor.tell(Call).send_after(SOON));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..asked.n {
        if let Some(timer) = window.take() {
            received += u64::from(!timer.is_finished());
            timer.abort();
        }
        window.add(actor.tell(Call).send_after(SOON));
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = window.rest().filter(|timer| !timer.is_finished()).map(|timer| timer.abort());
    let waiting = waiting.count() as u64;
    Ok(Sample::new(elapsed, asked.n, sent, received).with("waiting", waiting))
}

/// Sets the timers and receives their messages.
struct Expecting {
    /// `None` once all timers have expired.
    expiries: Option<Expiries>,
    root: UnboundedSender<Sample>,
}

/// A timer that was due at this time has expired.
struct Expired(Instant);

impl Actor for Expecting {
    type Args = (Expiry, UnboundedSender<Sample>);
    type Error = Infallible;

    async fn on_start(
        (asked, root): Self::Args,
        myself: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        let mut expiries = Expiries::new(asked);
        for due in expiries.due() {
            let left = due.saturating_duration_since(Instant::now());
            myself.tell(Expired(due)).send_after(left);
            consume_budget().await;
        }
        expiries.all_set();
        Ok(Expecting { expiries: Some(expiries), root })
    }
}

impl Message<Expired> for Expecting {
    type Reply = ();

    async fn handle(&mut self, Expired(due): Expired, context: &mut Context<Self, ()>) {
        if let Some(done) = self.expiries.take_if(|expiries| !expiries.expired(due)) {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(done.sample());
            context.stop();
        }
    }
}

pub(crate) async fn timer_expiry(asked: Expiry) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let _actor = Expecting::spawn((asked, root));
    reports.recv().await.ok_or_else(|| "the actor has failed".into())
}
