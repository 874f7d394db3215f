//! `big`: actors that ping each other at random.

use std::sync::Arc;
use std::time::Instant;

use purlin_contender::{DrawStream, Sample, Tally};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// Member of the crowd.
struct Member;

/// Messages of a member.
enum ToMember {
    /// Begin: these are the members.
    Members(Arc<[ActorRef<ToMember>]>),
    /// A ping of this member.
    Ping(ActorRef<ToMember>),
    Pong,
    /// Reply with the counts, and stop.
    Report(RpcReplyPort<Tally>),
}

struct Pings {
    draw: DrawStream,
    left: u64,
    members: Arc<[ActorRef<ToMember>]>,
    tally: Tally,
    root: UnboundedSender<()>,
}

impl Pings {
    /// Pings another member, or reports that none is left to ping.
    fn go_on(&mut self, myself: ActorRef<ToMember>) -> Result<(), ActorProcessingErr> {
        if self.left == 0 {
            return Ok(self.root.send(())?);
        }
        self.left -= 1;
        let partner = self.draw.below(self.members.len() as u64) as usize;
        self.tally.sent += u64::from(self.members[partner].cast(ToMember::Ping(myself)).is_ok());
        Ok(())
    }
}

impl Actor for Member {
    type Msg = ToMember;
    type State = Pings;
    type Arguments = (u64, u64, UnboundedSender<()>);

    async fn pre_start(
        &self,
        _: ActorRef<ToMember>,
        (number, n, root): Self::Arguments,
    ) -> Result<Pings, ActorProcessingErr> {
        let (draw, members) = (DrawStream::new(number), Arc::new([]));
        Ok(Pings { draw, left: n, members, tally: Tally::default(), root })
    }

    async fn handle(
        &self,
        myself: ActorRef<ToMember>,
        message: ToMember,
        pings: &mut Pings,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToMember::Members(members) => {
                pings.members = members;
                pings.go_on(myself)?;
            }
            ToMember::Ping(from) => {
                pings.tally.received += 1;
                pings.tally.sent += u64::from(from.cast(ToMember::Pong).is_ok());
            }
            ToMember::Pong => {
                pings.tally.received += 1;
                pings.go_on(myself)?;
            }
            ToMember::Report(reply) => {
                // WHY: the members refer to each other.
                pings.members = Arc::new([]);
                reply.send(pings.tally)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

pub(crate) async fn big(processes: u64, n: u64) -> Outcome {
    let (root, mut done) = unbounded_channel();
    let (mut members, mut tally) = (Vec::new(), Tally::default());

    let start = Instant::now();
    for number in 0..processes {
        members.push(Actor::spawn(None, Member, (number, n, root.clone())).await?.0);
    }
    let members: Arc<[_]> = members.into();
    for member in members.iter() {
        member.cast(ToMember::Members(Arc::clone(&members))).map_err(|error| error.to_string())?;
    }
    for _ in 0..processes {
        done.recv().await;
    }
    let elapsed = start.elapsed();

    for member in members.iter() {
        tally += ask!(member, ToMember::Report)?;
    }
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received))
}
