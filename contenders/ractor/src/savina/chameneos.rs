//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use purlin_contender::{Colour, Sample};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// The mall. It answers the first of a pair when the second comes.
struct Mall;

/// Messages of the mall.
enum ToMall {
    /// Reply with the colour of another creature, or with `None` after the last meeting.
    Meet(Colour, RpcReplyPort<Option<Colour>>),
    /// Reply with the number of meetings, and stop.
    Report(RpcReplyPort<u64>),
}

struct Meetings {
    first: Option<(Colour, RpcReplyPort<Option<Colour>>)>,
    left: u64,
    met: u64,
}

impl Actor for Mall {
    type Msg = ToMall;
    type State = Meetings;
    type Arguments = u64;

    async fn pre_start(&self, _: ActorRef<ToMall>, n: u64) -> Result<Meetings, ActorProcessingErr> {
        Ok(Meetings { first: None, left: n, met: 0 })
    }

    async fn handle(
        &self,
        myself: ActorRef<ToMall>,
        message: ToMall,
        mall: &mut Meetings,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToMall::Meet(_, creature) if mall.left == 0 => creature.send(None)?,
            ToMall::Meet(colour, creature) => match mall.first.take() {
                None => mall.first = Some((colour, creature)),
                Some((other, first)) => {
                    mall.left -= 1;
                    mall.met += 1;
                    first.send(Some(colour))?;
                    creature.send(Some(other))?;
                }
            },
            ToMall::Report(reply) => {
                reply.send(mall.met)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// A creature. It reports the number of its meetings.
struct Creature;

type Life = (Colour, ActorRef<ToMall>, UnboundedSender<u64>);

impl Actor for Creature {
    type Msg = ();
    type State = Life;
    type Arguments = Life;

    async fn pre_start(&self, _: ActorRef<()>, life: Life) -> Result<Life, ActorProcessingErr> {
        Ok(life)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (colour, mall, root): &mut Life,
    ) -> Result<(), ActorProcessingErr> {
        let mut meetings = 0;
        while let Some(other) = ask!(mall, ToMall::Meet, *colour)? {
            *colour = colour.complement(other);
            meetings += 1;
        }
        root.send(meetings)?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn chameneos(creatures: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut received = 0;

    let start = Instant::now();
    let (mall, _) = Actor::spawn(None, Mall, n).await?;
    for creature in 0..creatures {
        let life = (Colour::of(creature), mall.clone(), root.clone());
        Actor::spawn(None, Creature, life).await?;
    }
    for _ in 0..creatures {
        received += reports.recv().await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let met = ask!(mall, ToMall::Report)?;
    Ok(Sample::new(elapsed, n, 2 * met, received))
}
