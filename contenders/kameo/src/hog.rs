//! Round trips while other actors compute without pause: `hog`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{Hog, Participant, Probe};
use tokio::runtime::Runtime;

use crate::Outcome;

/// Sets a timer for each trip, and starts the trips. Holds the only reference to the partner, which
/// therefore stops with this actor.
struct First {
    partner: ActorRef<Partner>,
    trips: Participant,
}

/// A timer has fired that was due at this time.
struct Due(Instant);

/// A completed trip.
struct Back(Instant);

impl Actor for First {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(first: Self, myself: ActorRef<Self>) -> Result<Self, Infallible> {
        for due in first.trips.due() {
            let left = due.saturating_duration_since(Instant::now());
            myself.tell(Due(due)).send_after(left);
        }
        Ok(first)
    }
}

impl Message<Due> for First {
    type Reply = ();

    async fn handle(&mut self, Due(due): Due, context: &mut Context<Self, ()>) {
        let start = self.trips.start(due);
        self.proceed(Some(start), context).await;
    }
}

impl Message<Back> for First {
    type Reply = ();

    async fn handle(&mut self, Back(start): Back, context: &mut Context<Self, ()>) {
        let next = self.trips.back(start);
        self.proceed(next, context).await;
    }
}

impl First {
    /// Starts a trip, or stops at the end of the run.
    async fn proceed(&self, start: Option<Instant>, context: &mut Context<Self, ()>) {
        if self.trips.is_over() {
            context.stop();
        } else if let Some(start) = start {
            // A failed send is not counted as a completed trip.
            let _ = self.partner.tell(Trip(start, context.actor_ref().clone())).send().await;
        }
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
        let _ = first.tell(Back(start)).send().await;
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

/// WHY no bound: due trips must not block returning trips.
pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Outcome {
    let _inside = runtime.enter();
    let probe = Probe::new(asked);
    let partner = Partner::spawn_with_mailbox(Partner { _seat: probe.participant() }, unbounded());
    let first = First { partner, trips: probe.participant() };
    let first = First::spawn_with_mailbox(first, unbounded());
    for _ in 0..asked.hogs {
        Busy::spawn(probe.participant());
    }
    let sample = probe.run();
    drop(first);
    Ok(sample)
}
