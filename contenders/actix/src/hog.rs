//! Round trips while others compute for ever: `hog`.
//!
//! The thread that serves the lab is not the arbiter's: it starts the trips and ends the run.

use std::sync::mpsc::channel;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Hog, Probe, Seat, Tell};

use crate::Outcome;

/// Starts the trips. The partner ends when nobody refers to it, which is with this one.
struct First {
    partner: Addr<Partner>,
    seat: Seat,
}

impl Actor for First {
    type Context = Context<Self>;
}

/// Told by the probe.
#[derive(Message)]
#[rtype(result = "()")]
struct Told(Tell);

/// A trip that is back.
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
        if let Some(next) = self.seat.back(start) {
            self.partner.do_send(Trip(next, context.address()));
        }
    }
}

/// Sends back whatever arrives. Its seat is taken until it ends.
struct Partner {
    _seat: Seat,
}

impl Actor for Partner {
    type Context = Context<Self>;
}

/// When it was due, and who waits for it.
#[derive(Message)]
#[rtype(result = "()")]
struct Trip(Instant, Addr<First>);

impl Handler<Trip> for Partner {
    type Result = ();

    fn handle(&mut self, Trip(start, first): Trip, _: &mut Context<Self>) {
        first.do_send(Back(start));
    }
}

/// Computes, and ends since nobody refers to it.
struct Busy {
    seat: Seat,
}

impl Actor for Busy {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.seat.compute();
    }
}

pub(crate) fn hog(arbiter: &Arbiter, asked: Hog) -> Outcome {
    let probe = Probe::new(asked);
    let (tell, told) = channel();
    let seat = probe.seat();
    arbiter.spawn_fn(move || {
        let partner = Partner { _seat: seat.clone() }.start();
        let _ = tell.send(First { partner, seat: seat.clone() }.start());
        for _ in 0..asked.hogs {
            Busy { seat: seat.clone() }.start();
        }
    });
    let first = told.recv()?;
    Ok(probe.run(move |what| first.do_send(Told(what))))
}
