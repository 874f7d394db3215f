//! `chameneos`: creatures that meet in pairs at a mall.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use kameo::reply::{DelegatedReply, ReplySender};
use purlin_contender::{Colour, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// The mall. It answers the first of a pair when the second comes.
#[derive(Actor)]
struct Mall {
    first: Option<(Colour, ReplySender<Option<Colour>>)>,
    left: u64,
    met: u64,
}

/// Reply with the colour of another creature, or with `None` after the last meeting.
struct Meet(Colour);

/// Reply with the number of meetings.
struct Report;

impl Message<Meet> for Mall {
    type Reply = DelegatedReply<Option<Colour>>;

    async fn handle(
        &mut self,
        Meet(colour): Meet,
        context: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        if self.left == 0 {
            return context.reply(None);
        }
        match self.first.take() {
            None => {
                let (delegated, creature) = context.reply_sender();
                self.first = creature.map(|creature| (colour, creature));
                delegated
            }
            Some((other, first)) => {
                self.left -= 1;
                self.met += 1;
                first.send(Some(colour));
                context.reply(Some(other))
            }
        }
    }
}

impl Message<Report> for Mall {
    type Reply = u64;

    async fn handle(&mut self, _: Report, _: &mut Context<Self, u64>) -> u64 {
        self.met
    }
}

/// A creature. It reports the number of its meetings and stops.
struct Creature;

impl Actor for Creature {
    type Args = (Colour, ActorRef<Mall>, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (mut colour, mall, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        let mut meetings = 0;
        while let Ok(Some(other)) = mall.ask(Meet(colour)).send().await {
            colour = colour.complement(other);
            meetings += 1;
        }
        // Cannot fail: the root waits for this report.
        let _ = root.send(meetings);
        Ok(Creature)
    }
}

pub(crate) async fn chameneos(creatures: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut received = 0;

    let start = Instant::now();
    let mall = Mall::spawn(Mall { first: None, left: n, met: 0 });
    for creature in 0..creatures {
        Creature::spawn((Colour::of(creature), mall.clone(), root.clone()));
    }
    for _ in 0..creatures {
        received += reports.recv().await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let met = mall.ask(Report).send().await?;
    Ok(Sample::new(elapsed, n, 2 * met, received))
}
