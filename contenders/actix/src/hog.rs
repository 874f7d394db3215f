//! Round trips while other actors compute without pause: `hog`.

use std::sync::mpsc::channel;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Hog, Participant, Probe};

use crate::Outcome;

/// Sets a timer for each trip, and starts the trips. Holds the only address of the partner, which
/// therefore stops with this actor.
struct First {
    partner: Addr<Partner>,
    trips: Participant,
}

impl Actor for First {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        for due in self.trips.due() {
            context.notify_later(Due(due), due.saturating_duration_since(Instant::now()));
        }
    }
}

impl First {
    /// Starts a trip, or stops at the end of the run.
    fn proceed(&self, start: Option<Instant>, context: &mut Context<Self>) {
        if self.trips.is_over() {
            context.stop();
        } else if let Some(start) = start {
            self.partner.do_send(Trip(start, context.address()));
        }
    }
}

/// A timer has fired that was due at this time.
#[derive(Message)]
#[rtype(result = "()")]
struct Due(Instant);

/// A completed trip.
#[derive(Message)]
#[rtype(result = "()")]
struct Back(Instant);

impl Handler<Due> for First {
    type Result = ();

    fn handle(&mut self, Due(due): Due, context: &mut Context<Self>) {
        self.proceed(Some(self.trips.start(due)), context);
    }
}

impl Handler<Back> for First {
    type Result = ();

    fn handle(&mut self, Back(start): Back, context: &mut Context<Self>) {
        self.proceed(self.trips.back(start), context);
    }
}

/// Sends each message back. Holds its participant until it stops.
struct Partner {
    _seat: Participant,
}

impl Actor for Partner {
    type Context = Context<Self>;
}

/// A trip: its start time, and the actor that waits for it.
#[derive(Message)]
#[rtype(result = "()")]
struct Trip(Instant, Addr<First>);

impl Handler<Trip> for Partner {
    type Result = ();

    fn handle(&mut self, Trip(start, first): Trip, _: &mut Context<Self>) {
        first.do_send(Back(start));
    }
}

/// Computes until the run is stopped, and then stops, because no addresses of it are left.
struct Busy {
    participant: Participant,
}

impl Actor for Busy {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.participant.compute();
    }
}

pub(crate) fn hog(arbiter: &Arbiter, asked: Hog) -> Outcome {
    let probe = Probe::new(asked);
    let (tx, rx) = channel();
    let trips = probe.participant();
    arbiter.spawn_fn(move || {
        let partner = Partner { _seat: trips.clone() }.start();
        let _ = tx.send(First { partner, trips: trips.clone() }.start());
        for _ in 0..asked.hogs {
            Busy { participant: trips.clone() }.start();
        }
    });
    let first = rx.recv()?;
    let sample = probe.run();
    drop(first);
    Ok(sample)
}
