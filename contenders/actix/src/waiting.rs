//! What only waits, and timers: `timers` and `idle-memory`.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Sample, Tally, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::Tell;

/// How far off the timers are that are cancelled.
const SOON: Duration = Duration::from_secs(5);

/// How far off the other timers are: they outlive the run.
const LATE: Duration = Duration::from_secs(3600);

/// So many actors at most are started before the root looks which of them wait.
const AT_ONCE: u64 = 1000;

/// Keeps timers that are not to fire, and counts those that do.
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

    /// Ends, too: with timers that are to fire it would not by itself.
    fn handle(&mut self, _: Tell, context: &mut Context<Self>) -> MessageResult<Tell> {
        context.stop();
        MessageResult(self.timers)
    }
}

/// Sets a timer and cancels it in each of its turns.
struct Setter {
    n: u64,
    timers: Tally,
    root: UnboundedSender<Tally>,
}

/// Take the next turn. From itself.
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
            // The root waits for it and cannot have gone.
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

    /// One that fires was not cancelled, whatever was said.
    fn handle(&mut self, _: Fired, _: &mut Context<Self>) {
        self.timers.received -= 1;
    }
}

pub(crate) async fn timers(waiting: u64, n: u64) -> Outcome {
    let keeper = Keeper { timers: Tally::default(), n: waiting }.start();
    let (root, mut reports) = unbounded_channel();
    // The answer says that they are set: it comes from the first turn after.
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

/// Answered by who stands.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

impl Handler<Stand> for Keeper {
    type Result = ();

    fn handle(&mut self, _: Stand, _: &mut Context<Self>) {}
}

/// Tells that it is there and waits.
struct Idle {
    ready: UnboundedSender<()>,
}

impl Actor for Idle {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // The root counts these.
        let _ = self.ready.send(());
    }
}

/// The actors stay when the root has ended: nobody drops their addresses.
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
