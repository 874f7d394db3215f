//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Colour, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// The mall. It answers the first of a pair when the second comes.
struct Mall {
    first: Option<(Colour, Addr<Creature>)>,
    left: u64,
    met: u64,
}

/// Answer with the colour of another creature, or with `None` after the last meeting.
#[derive(Message)]
#[rtype(result = "()")]
struct Meet(Colour, Addr<Creature>);

/// Reply with the number of meetings.
#[derive(Message)]
#[rtype(result = "u64")]
struct Report;

impl Actor for Mall {
    type Context = Context<Self>;
}

impl Handler<Meet> for Mall {
    type Result = ();

    fn handle(&mut self, Meet(colour, creature): Meet, _: &mut Context<Self>) {
        if self.left == 0 {
            return creature.do_send(Met(None));
        }
        match self.first.take() {
            None => self.first = Some((colour, creature)),
            Some((other, first)) => {
                self.left -= 1;
                self.met += 1;
                first.do_send(Met(Some(colour)));
                creature.do_send(Met(Some(other)));
            }
        }
    }
}

impl Handler<Report> for Mall {
    type Result = u64;

    fn handle(&mut self, _: Report, _: &mut Context<Self>) -> u64 {
        self.met
    }
}

/// A creature. It reports the number of its meetings.
struct Creature {
    colour: Colour,
    meetings: u64,
    mall: Addr<Mall>,
    root: UnboundedSender<u64>,
}

/// The colour of the other creature; `None` after the last meeting.
#[derive(Message)]
#[rtype(result = "()")]
struct Met(Option<Colour>);

impl Creature {
    fn meet(&self, context: &Context<Self>) {
        self.mall.do_send(Meet(self.colour, context.address()));
    }
}

impl Actor for Creature {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        self.meet(context);
    }
}

impl Handler<Met> for Creature {
    type Result = ();

    fn handle(&mut self, Met(other): Met, context: &mut Context<Self>) {
        match other {
            Some(other) => {
                self.colour = self.colour.complement(other);
                self.meetings += 1;
                self.meet(context);
            }
            // Cannot fail: the root waits for this report.
            None => drop(self.root.send(self.meetings)),
        }
    }
}

pub(crate) async fn chameneos(creatures: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut received = 0;

    let start = Instant::now();
    let mall = Mall { first: None, left: n, met: 0 }.start();
    for creature in 0..creatures {
        let (mall, root) = (mall.clone(), root.clone());
        Creature { colour: Colour::of(creature), meetings: 0, mall, root }.start();
    }
    for _ in 0..creatures {
        received += reports.recv().await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let met = mall.send(Report).await?;
    Ok(Sample::new(elapsed, n, 2 * met, received))
}
