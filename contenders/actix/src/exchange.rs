//! Two actors that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Exchange, Payloads, Side, Sides};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// One of the two actors.
struct Worker<G: Payloads + Unpin> {
    /// `None` once all work is done and all messages of the partner have arrived.
    side: Option<Side<G>>,
    /// `None` until the actor is started.
    partner: Option<Addr<Worker<G>>>,
    root: UnboundedSender<Side<G>>,
}

/// Empty message; the response shows that the actor has started.
#[derive(Message)]
#[rtype(result = "()")]
struct Stand;

/// Start to exchange messages with this partner.
#[derive(Message)]
#[rtype(result = "()")]
struct Start<G: Payloads + Unpin>(Addr<Worker<G>>);

/// Do the next piece of work; the actor notifies itself.
#[derive(Message)]
#[rtype(result = "()")]
struct Piece;

/// A message of the partner.
#[derive(Message)]
#[rtype(result = "()")]
struct Parcel<M>(M);

impl<G: Payloads + Unpin> Worker<G> {
    fn tell_if_done(&mut self, context: &mut Context<Self>) {
        if let Some(side) = self.side.take_if(|side| side.is_done()) {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(side);
            context.stop();
        }
    }
}

impl<G: Payloads + Unpin> Actor for Worker<G> {
    type Context = Context<Self>;
}

impl<G: Payloads + Unpin> Handler<Stand> for Worker<G> {
    type Result = ();

    fn handle(&mut self, _: Stand, _: &mut Context<Self>) {}
}

impl<G: Payloads + Unpin> Handler<Start<G>> for Worker<G> {
    type Result = ();

    fn handle(&mut self, Start(partner): Start<G>, context: &mut Context<Self>) {
        self.partner = Some(partner);
        context.notify(Piece);
    }
}

impl<G: Payloads + Unpin> Handler<Piece> for Worker<G> {
    type Result = ();

    fn handle(&mut self, _: Piece, context: &mut Context<Self>) {
        if let (Some(side), Some(partner)) = (&mut self.side, &self.partner) {
            for _ in 0..side.work() {
                partner.do_send(Parcel(side.supply()));
                side.sent(true);
            }
            if side.has_work() {
                context.notify(Piece);
            }
        }
        self.tell_if_done(context);
    }
}

impl<G: Payloads + Unpin> Handler<Parcel<G::Message>> for Worker<G> {
    type Result = ();

    fn handle(&mut self, Parcel(message): Parcel<G::Message>, context: &mut Context<Self>) {
        if let Some(side) = &mut self.side {
            side.accept(message);
        }
        self.tell_if_done(context);
    }
}

/// Runs the repetitions. `payloads` builds the payload of one side before the clock starts.
pub(crate) async fn exchange<G: Payloads + Unpin>(
    asked: Exchange,
    payloads: impl Fn() -> G,
) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut sides = Sides::new(asked, payloads);
    for _ in 0..asked.reps {
        let pair = sides.pair().ok_or("a side has not come back")?;
        let [one, other] =
            pair.map(|side| Worker { side: Some(side), partner: None, root: root.clone() }.start());
        one.send(Stand).await?;
        other.send(Stand).await?;

        let start = Instant::now();
        one.do_send(Start(other.clone()));
        other.do_send(Start(one));
        let (one, other) = (reports.recv().await, reports.recv().await);
        let elapsed = start.elapsed();

        sides.ended(elapsed, [one.ok_or(ENDED)?, other.ok_or(ENDED)?]);
    }
    Ok(sides.sample())
}

/// Error for a side that is gone.
const ENDED: &str = "a side has ended too early";
