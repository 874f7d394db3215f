//! `big`: actors that ping each other at random.

use std::sync::Arc;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{DrawStream, Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::{Tell, Told};

/// Member of the crowd.
#[derive(Actor)]
struct Member {
    draws: DrawStream,
    left: u64,
    members: Arc<[ActorRef<Member>]>,
    tally: Tally,
    root: UnboundedSender<()>,
}

/// Begin: these are the members.
struct Members(Arc<[ActorRef<Member>]>);

/// A ping of this member.
struct Ping(ActorRef<Member>);

struct Pong;

impl Member {
    /// Pings another member, or reports that none is left to ping.
    async fn go_on(&mut self, myself: &ActorRef<Member>) {
        if self.left == 0 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
            return;
        }
        self.left -= 1;
        let partner = self.draws.below(self.members.len() as u64) as usize;
        let ping = Ping(myself.clone());
        self.tally.sent += u64::from(self.members[partner].tell(ping).send().await.is_ok());
    }
}

impl Message<Members> for Member {
    type Reply = ();

    async fn handle(&mut self, Members(members): Members, context: &mut Context<Self, ()>) {
        self.members = members;
        self.go_on(context.actor_ref()).await;
    }
}

impl Message<Ping> for Member {
    type Reply = ();

    async fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.tally.sent += u64::from(from.tell(Pong).send().await.is_ok());
    }
}

impl Message<Pong> for Member {
    type Reply = ();

    async fn handle(&mut self, _: Pong, context: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.go_on(context.actor_ref()).await;
    }
}

impl Message<Tell> for Member {
    type Reply = Told;

    /// Also stops the actor, which the other members would keep alive.
    async fn handle(&mut self, _: Tell, context: &mut Context<Self, Told>) -> Told {
        context.stop();
        Told(self.tally)
    }
}

/// WHY no bound: members send to each other from their handlers and would deadlock on full
/// mailboxes.
pub(crate) async fn big(processes: u64, n: u64) -> Outcome {
    let (root, mut done) = unbounded_channel();
    let mut tally = Tally::default();

    let start = Instant::now();
    let member = |number| Member {
        draws: DrawStream::new(number),
        left: n,
        members: Arc::new([]),
        tally: Tally::default(),
        root: root.clone(),
    };
    let members: Arc<[_]> = (0..processes)
        .map(|number| Member::spawn_with_mailbox(member(number), unbounded()))
        .collect();
    for member in members.iter() {
        member.tell(Members(Arc::clone(&members))).send().await?;
    }
    for _ in 0..processes {
        done.recv().await;
    }
    let elapsed = start.elapsed();

    for member in members.iter() {
        tally += member.ask(Tell).send().await?.0;
    }
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received))
}
