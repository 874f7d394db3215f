//! Timers: `timers` and `timer-expiry`.

use std::time::{Duration, Instant};

use actix::clock::{sleep, sleep_until};
use actix::prelude::*;
use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, yield_now};

use crate::Outcome;

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

/// Number of timers between two yields.
const YIELD_EVERY: u64 = 64;

/// Receiver of the timers that are cancelled.
struct Idle;

/// Message of the cancelled timers, which is never delivered.
#[derive(Message)]
#[rtype(result = "()")]
struct Fired;

impl Actor for Idle {
    type Context = Context<Self>;
}

impl Handler<Fired> for Idle {
    type Result = ();

    fn handle(&mut self, _: Fired, _: &mut Context<Self>) {}
}

/// Sets a timer.
///
/// WHY a task and not `notify_later`: an actor searches its list of timers to cancel one, and polls
/// all of them after each turn.
fn set(actor: &Addr<Idle>) -> JoinHandle<()> {
    let actor = actor.clone();
    actix::spawn(async move {
        sleep(SOON).await;
        actor.do_send(Fired);
    })
}

pub(crate) async fn timers(asked: Timers) -> Outcome {
    let actor = Idle.start();
    let mut window = Window::new(asked);
    for _ in 0..asked.window {
        window.add(set(&actor));
    }
    yield_now().await;
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..asked.n {
        if let Some(timer) = window.take() {
            received += u64::from(!timer.is_finished());
            timer.abort();
        }
        window.add(set(&actor));
        sent += 1;
        if sent % YIELD_EVERY == 0 {
            yield_now().await;
        }
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
#[derive(Message)]
#[rtype(result = "()")]
struct Expired(Instant);

impl Actor for Expecting {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let Some(expiries) = &mut self.expiries else { return };
        for due in expiries.due() {
            let myself = context.address();
            actix::spawn(async move {
                sleep_until(due.into()).await;
                myself.do_send(Expired(due));
            });
        }
        expiries.all_set();
    }
}

impl Handler<Expired> for Expecting {
    type Result = ();

    fn handle(&mut self, Expired(due): Expired, context: &mut Context<Self>) {
        if let Some(done) = self.expiries.take_if(|expiries| !expiries.expired(due)) {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(done.sample());
            context.stop();
        }
    }
}

pub(crate) async fn timer_expiry(asked: Expiry) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let _actor = Expecting { expiries: Some(Expiries::new(asked)), root }.start();
    reports.recv().await.ok_or_else(|| "the actor has failed".into())
}
