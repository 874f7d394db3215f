//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Colour, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::Outcome;

/// The mall. It answers the first of a pair when the second comes.
struct Mall {
    first: Option<Meet>,
    left: u64,
    met: u64,
}

/// Answer with the colour of another creature, or with `None` after the last meeting.
#[derive(Message)]
#[rtype(result = "()")]
struct Meet(Colour, oneshot::Sender<Option<Colour>>);

/// Reply with the number of meetings.
#[derive(Message)]
#[rtype(result = "u64")]
struct Report;

impl Actor for Mall {
    type Context = Context<Self>;
}

impl Handler<Meet> for Mall {
    type Result = ();

    fn handle(&mut self, Meet(colour, reply): Meet, _: &mut Context<Self>) {
        // A reply can only be lost if the creature has failed.
        if self.left == 0 {
            let _ = reply.send(None);
        } else if let Some(Meet(other, first)) = self.first.take() {
            self.left -= 1;
            self.met += 1;
            let _ = first.send(Some(colour));
            let _ = reply.send(Some(other));
        } else {
            self.first = Some(Meet(colour, reply));
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
    mall: Addr<Mall>,
    root: UnboundedSender<u64>,
}

impl Actor for Creature {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (mut colour, mall, root) = (self.colour, self.mall.clone(), self.root.clone());
        let meeting = async move {
            let mut meetings = 0;
            while let Some(other) = meet(&mall, colour).await {
                colour = colour.complement(other);
                meetings += 1;
            }
            // Cannot fail: the root waits for this report.
            let _ = root.send(meetings);
        };
        context.spawn(meeting.into_actor(self));
    }
}

async fn meet(mall: &Addr<Mall>, colour: Colour) -> Option<Colour> {
    let (reply, other) = oneshot::channel();
    mall.do_send(Meet(colour, reply));
    other.await.unwrap_or(None)
}

pub(crate) async fn chameneos(creatures: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut received = 0;

    let start = Instant::now();
    let mall = Mall { first: None, left: n, met: 0 }.start();
    for creature in 0..creatures {
        let (mall, root) = (mall.clone(), root.clone());
        Creature { colour: Colour::of(creature), mall, root }.start();
    }
    for _ in 0..creatures {
        received += reports.recv().await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let met = mall.send(Report).await?;
    Ok(Sample::new(elapsed, n, 2 * met, received))
}
