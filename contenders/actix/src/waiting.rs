//! Timers and idle actors: `timers` and `idle-memory`.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Sample, Tally, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::Tell;

/// Duration of the timers that are cancelled while the clock runs.
const SOON: Duration = Duration::from_secs(5);

/// Duration of the other timers, which do not fire during the run.
const LATE: Duration = Duration::from_secs(3600);

/// Maximum number of actors started before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// Owns the timers that must not fire during the run, and counts any that do.
struct Keeper {
    timers: Tally,
    n: u64,
}

/// A timer has fired.
#[derive(Message)]
#[rtype(result = "()")]
struct Fired;

impl Actor for Keeper {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        for _ in 0..self.n {
            context.notify_later(Fired, LATE);
            self.timers.sent += 1;
        }
    }
}

impl Handler<Fired> for Keeper {
    type Result = ();

    fn handle(&mut self, _: Fired, _: &mut Context<Self>) {
        self.timers.received += 1;
    }
}

impl Handler<Tell> for Keeper {
    type Result = MessageResult<Tell>;

    /// Also stops the actor, which pending timers would keep alive.
    fn handle(&mut self, _: Tell, context: &mut Context<Self>) -> MessageResult<Tell> {
        context.stop();
        MessageResult(self.timers)
    }
}

/// Sets and cancels one timer per turn.
struct Setter {
    n: u64,
    timers: Tally,
    root: UnboundedSender<Tally>,
}

/// Take the next turn; the actor notifies itself.
#[derive(Message)]
#[rtype(result = "()")]
struct Turn;

impl Actor for Setter {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        context.notify(Turn);
    }
}

impl Handler<Turn> for Setter {
    type Result = ();

    fn handle(&mut self, _: Turn, context: &mut Context<Self>) {
        if self.timers.sent == self.n {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(self.timers);
            return;
        }
        let timer = context.notify_later(Fired, SOON);
        self.timers.sent += 1;
        self.timers.received += u64::from(context.cancel_future(timer));
        context.notify(Turn);
    }
}

impl Handler<Fired> for Setter {
    type Result = ();

    /// A timer that fires was not cancelled, even if `cancel_future` returned `true`.
    fn handle(&mut self, _: Fired, _: &mut Context<Self>) {
        self.timers.received -= 1;
    }
}

pub(crate) async fn timers(waiting: u64, n: u64) -> Outcome {
    let keeper = Keeper { timers: Tally::default(), n: waiting }.start();
    let (root, mut reports) = unbounded_channel();
    // The response shows that the timers are set: it is sent after `started` has returned.
    keeper.send(Stand).await?;

    let start = Instant::now();
    let setter = Setter { n, timers: Tally::default(), root }.start();
    let timers = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    drop(setter);
    let others = keeper.send(Tell).await?;
    Ok(Sample::new(elapsed, n, timers.sent, timers.received)
        .with("waiting", others.sent - others.received))
}

/// Empty message; the response shows that the actor has started.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

impl Handler<Stand> for Keeper {
    type Result = ();

    fn handle(&mut self, _: Stand, _: &mut Context<Self>) {}
}

/// Reports that it has started, and waits.
struct Idle {
    ready: UnboundedSender<()>,
}

impl Actor for Idle {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // The root counts the reports: a failed send is missing in the result.
        let _ = self.ready.send(());
    }
}

/// The actors outlive the root: their addresses are leaked.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let mut actors = Vec::new();
    let mut received = 0;

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            actors.push(Idle { ready: ready.clone() }.start());
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
