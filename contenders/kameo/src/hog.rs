//! Round trips while other actors compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not a thread of the
//! runtime.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{Hog, Participant, Probe, Tell};
use tokio::runtime::Runtime;

use crate::Outcome;

/// Starts the trips. Holds the only reference to the partner, which therefore stops with this
/// actor.
#[derive(Actor)]
struct First {
    partner: ActorRef<Partner>,
    participant: Participant,
}

/// A command of the probe.
struct Told(Tell);

/// A completed trip.
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
        if let Some(next) = self.participant.back(start) {
            self.start(next, context.actor_ref()).await;
        }
    }
}

impl First {
    async fn start(&self, at: Instant, myself: &ActorRef<Self>) {
        // A failed send is not counted as a completed trip.
        let _ = self.partner.tell(Trip(at, myself.clone())).await;
    }
}

/// Sends each message back. Holds its participant until it stops.
#[derive(Actor)]
struct Partner {
    _seat: Participant,
}

/// A trip: its start time, and the actor that waits for it.
struct Trip(Instant, ActorRef<First>);

impl Message<Trip> for Partner {
    type Reply = ();

    async fn handle(&mut self, Trip(start, first): Trip, _: &mut Context<Self, ()>) {
        // Fails if the run has ended and the first actor has stopped.
        let _ = first.tell(Back(start)).await;
    }
}

/// Computes until the run is stopped, and then stops, because no references to it are left.
struct Busy;

impl Actor for Busy {
    type Args = Participant;
    type Error = Infallible;

    async fn on_start(participant: Participant, _: ActorRef<Self>) -> Result<Self, Infallible> {
        participant.compute();
        Ok(Busy)
    }
}

/// WHY no bound: due trips must block neither returning trips nor the probe.
pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Outcome {
    let _inside = runtime.enter();
    let probe = Probe::new(asked);
    let partner = Partner::spawn_with_mailbox(Partner { _seat: probe.participant() }, unbounded());
    let first =
        First::spawn_with_mailbox(First { partner, participant: probe.participant() }, unbounded());
    for _ in 0..asked.hogs {
        Busy::spawn(probe.participant());
    }
    Ok(probe.run(move |what| {
        // Fails if the actor has failed; the trips are then missing in the result.
        let _ = first.tell(Told(what)).try_send();
    }))
}
