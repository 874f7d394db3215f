//! Two actors that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{Exchange, Payloads, Side, Sides};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// One of the two actors.
#[derive(Actor)]
struct Worker<G: Payloads> {
    /// `None` once all work is done and all messages of the partner have arrived.
    side: Option<Side<G>>,
    /// `None` until the actor is started.
    partner: Option<ActorRef<Worker<G>>>,
    root: UnboundedSender<Side<G>>,
}

/// Start to exchange messages with this partner.
struct Start<G: Payloads>(ActorRef<Worker<G>>);

/// Do the next piece of work; the actor sends this to itself.
struct Piece;

/// A message of the partner.
struct Parcel<M>(M);

impl<G: Payloads> Worker<G> {
    fn new(side: Side<G>, root: UnboundedSender<Side<G>>) -> Self {
        Worker { side: Some(side), partner: None, root }
    }

    fn tell_if_done(&mut self, context: &mut Context<Self, ()>) {
        if let Some(side) = self.side.take_if(|side| side.is_done()) {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(side);
            context.stop();
        }
    }
}

impl<G: Payloads> Message<Start<G>> for Worker<G> {
    type Reply = ();

    async fn handle(&mut self, Start(partner): Start<G>, context: &mut Context<Self, ()>) {
        self.partner = Some(partner);
        // Cannot fail: the actor sends to itself.
        let _ = context.actor_ref().tell(Piece).send().await;
    }
}

impl<G: Payloads> Message<Piece> for Worker<G> {
    type Reply = ();

    async fn handle(&mut self, _: Piece, context: &mut Context<Self, ()>) {
        if let (Some(side), Some(partner)) = (&mut self.side, &self.partner) {
            for _ in 0..side.work() {
                let parcel = Parcel(side.supply());
                side.sent(partner.tell(parcel).send().await.is_ok());
            }
            if side.has_work() {
                let _ = context.actor_ref().tell(Piece).send().await;
            }
        }
        self.tell_if_done(context);
    }
}

impl<G: Payloads> Message<Parcel<G::Message>> for Worker<G> {
    type Reply = ();

    async fn handle(
        &mut self,
        Parcel(message): Parcel<G::Message>,
        context: &mut Context<Self, ()>,
    ) {
        if let Some(side) = &mut self.side {
            side.accept(message);
        }
        self.tell_if_done(context);
    }
}

/// Runs the repetitions. `payloads` builds the payload of one side before the clock starts.
///
/// WHY no bound: two actors that send to each other from their handlers would deadlock on full
/// mailboxes.
pub(crate) async fn exchange<G: Payloads>(asked: Exchange, payloads: impl Fn() -> G) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut sides = Sides::new(asked, payloads);
    for _ in 0..asked.reps {
        let pair = sides.pair().ok_or("a side has not come back")?;
        let [one, other] = pair
            .map(|side| Worker::spawn_with_mailbox(Worker::new(side, root.clone()), unbounded()));
        one.wait_for_startup().await;
        other.wait_for_startup().await;

        let start = Instant::now();
        one.tell(Start(other.clone())).send().await.map_err(|_| ENDED)?;
        other.tell(Start(one)).send().await.map_err(|_| ENDED)?;
        let (one, other) = (reports.recv().await, reports.recv().await);
        let elapsed = start.elapsed();

        sides.ended(elapsed, [one.ok_or(ENDED)?, other.ok_or(ENDED)?]);
    }
    Ok(sides.sample())
}

/// Error for a side that is gone. kameo's error contains the message, which need not be printable.
const ENDED: &str = "a side has ended too early";
