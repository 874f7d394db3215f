//! Timers: `timers` and `timer-expiry`.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Expiries, Expiry, Sample, Tally, Timers, Window};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

/// Timers that are cancelled and set in one turn.
const AT_ONCE: u64 = 64;

/// Cancels and sets timers.
struct Setter {
    asked: Timers,
    window: Window<SpawnHandle>,
    timers: Tally,
    root: UnboundedSender<(Tally, u64)>,
}

/// A timer has fired.
#[derive(Message)]
#[rtype(result = "()")]
struct Fired;

/// Take the next turn; the actor notifies itself.
#[derive(Message)]
#[rtype(result = "()")]
struct Turn;

/// Empty message; the response shows that the actor has started.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

impl Actor for Setter {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        for _ in 0..self.asked.window {
            self.window.add(context.notify_later(Fired, SOON));
        }
    }
}

impl Handler<Stand> for Setter {
    type Result = ();

    fn handle(&mut self, _: Stand, _: &mut Context<Self>) {}
}

impl Handler<Turn> for Setter {
    type Result = ();

    fn handle(&mut self, _: Turn, context: &mut Context<Self>) {
        for _ in 0..AT_ONCE.min(self.asked.n - self.timers.sent) {
            if let Some(timer) = self.window.take() {
                self.timers.received += u64::from(context.cancel_future(timer));
            }
            self.window.add(context.notify_later(Fired, SOON));
            self.timers.sent += 1;
        }
        if self.timers.sent < self.asked.n {
            return context.notify(Turn);
        }
        let empty = Window::new(Timers { window: 0, ..self.asked });
        let waiting = std::mem::replace(&mut self.window, empty).rest().count() as u64;
        // Cannot fail: the root waits for this report.
        let _ = self.root.send((self.timers, waiting));
        context.stop();
    }
}

impl Handler<Fired> for Setter {
    type Result = ();

    /// A timer that fires was not cancelled, even if `cancel_future` returned `true`.
    fn handle(&mut self, _: Fired, _: &mut Context<Self>) {
        self.timers.received -= 1;
    }
}

pub(crate) async fn timers(asked: Timers) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let timers = Tally::default();
    let setter = Setter { asked, window: Window::new(asked), timers, root }.start();
    // The response shows that the timers are set: it is sent after `started` has returned.
    setter.send(Stand).await?;

    let start = Instant::now();
    setter.do_send(Turn);
    let (timers, waiting) = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    Ok(Sample::new(elapsed, asked.n, timers.sent, timers.received).with("waiting", waiting))
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
            let left = due.saturating_duration_since(Instant::now());
            context.notify_later(Expired(due), left);
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
