//! Round trips while others compute for ever: `hog`.
//!
//! The thread that serves the lab is none of the runtime's: it starts the trips and ends the run.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{Hog, Probe, Seat, Tell};
use tokio::runtime::Runtime;

use crate::Outcome;

/// Starts the trips. The partner ends when nobody refers to it, which is with this one.
#[derive(Actor)]
struct First {
    partner: ActorRef<Partner>,
    seat: Seat,
}

/// Told by the probe.
struct Told(Tell);

/// A trip that is back.
struct Back(Instant);

impl Message<Told> for First {
    type Reply = ();

    async fn handle(&mut self, Told(what): Told, context: &mut Context<Self, ()>) {
        match what {
            Tell::Start(due) => self.start(due, context.actor_ref()).await,
            Tell::End => context.stop(),
        }
    }
}

impl Message<Back> for First {
    type Reply = ();

    async fn handle(&mut self, Back(start): Back, context: &mut Context<Self, ()>) {
        if let Some(next) = self.seat.back(start) {
            self.start(next, context.actor_ref()).await;
        }
    }
}

impl First {
    async fn start(&self, at: Instant, myself: &ActorRef<Self>) {
        // A trip that is lost is not counted as back.
        let _ = self.partner.tell(Trip(at, myself.clone())).await;
    }
}

/// Sends back whatever arrives. Its seat is taken until it ends.
#[derive(Actor)]
struct Partner {
    _seat: Seat,
}

/// When it was due, and who waits for it.
struct Trip(Instant, ActorRef<First>);

impl Message<Trip> for Partner {
    type Reply = ();

    async fn handle(&mut self, Trip(start, first): Trip, _: &mut Context<Self, ()>) {
        // One that is under way when the run is over may find nobody any more.
        let _ = first.tell(Back(start)).await;
    }
}

/// Computes, and ends since nobody refers to it.
struct Busy;

impl Actor for Busy {
    type Args = Seat;
    type Error = Infallible;

    async fn on_start(seat: Seat, _: ActorRef<Self>) -> Result<Self, Infallible> {
        seat.compute();
        Ok(Busy)
    }
}

/// WHY no bound: trips that are due must not hold up those that come back, nor the probe.
pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Outcome {
    let _inside = runtime.enter();
    let probe = Probe::new(asked);
    let partner = Partner::spawn_with_mailbox(Partner { _seat: probe.seat() }, unbounded());
    let first = First::spawn_with_mailbox(First { partner, seat: probe.seat() }, unbounded());
    for _ in 0..asked.hogs {
        Busy::spawn(probe.seat());
    }
    Ok(probe.run(move |what| {
        // Nobody is there any more if the actor has failed: the trips are then missing.
        let _ = first.tell(Told(what)).try_send();
    }))
}
