//! Round trips while other actors compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not the arbiter's
//! thread.

use std::sync::mpsc::channel;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Hog, Participant, Probe, Tell};

use crate::Outcome;

/// Starts the trips. Holds the only address of the partner, which therefore stops with this actor.
struct First {
    partner: Addr<Partner>,
    participant: Participant,
}

impl Actor for First {
    type Context = Context<Self>;
}

/// A command of the probe.
#[derive(Message)]
#[rtype(result = "()")]
struct Told(Tell);

/// A completed trip.
#[derive(Message)]
#[rtype(result = "()")]
struct Back(Instant);

impl Handler<Told> for First {
    type Result = ();

    fn handle(&mut self, Told(what): Told, context: &mut Context<Self>) {
        match what {
            Tell::Start(due) => self.partner.do_send(Trip(due, context.address())),
            Tell::End => context.stop(),
        }
    }
}

impl Handler<Back> for First {
    type Result = ();

    fn handle(&mut self, Back(start): Back, context: &mut Context<Self>) {
        if let Some(next) = self.participant.back(start) {
            self.partner.do_send(Trip(next, context.address()));
        }
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
    let participant = probe.participant();
    arbiter.spawn_fn(move || {
        let partner = Partner { _seat: participant.clone() }.start();
        let _ = tx.send(First { partner, participant: participant.clone() }.start());
        for _ in 0..asked.hogs {
            Busy { participant: participant.clone() }.start();
        }
    });
    let first = rx.recv()?;
    Ok(probe.run(move |what| first.do_send(Told(what))))
}
