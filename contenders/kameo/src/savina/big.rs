//! `big`: actors that ping each other at random.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::{DrawStream, Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::{Tell, Told};

/// Member of the crowd.
struct Member {
    number: usize,
    draws: DrawStream,
    left: u64,
    members: Arc<[ActorRef<Member>]>,
    tally: Tally,
    root: UnboundedSender<()>,
}

/// A ping, with the number of its sender.
struct Ping(usize);

struct Pong;

impl Member {
    /// Pings another member, or reports that none is left to ping.
    async fn go_on(&mut self) {
        if self.left == 0 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
            return;
        }
        self.left -= 1;
        let partner = self.draws.below(self.members.len() as u64) as usize;
        let ping = Ping(self.number);
        self.tally.sent += u64::from(self.members[partner].tell(ping).send().await.is_ok());
    }
}

impl Actor for Member {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut member: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        member.go_on().await;
        Ok(member)
    }
}

impl Message<Ping> for Member {
    type Reply = ();

    async fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.tally.sent += u64::from(self.members[from].tell(Pong).send().await.is_ok());
    }
}

impl Message<Pong> for Member {
    type Reply = ();

    async fn handle(&mut self, _: Pong, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.go_on().await;
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
    let prepared: Vec<_> =
        (0..processes).map(|_| Member::prepare_with_mailbox(unbounded())).collect();
    let members: Arc<[_]> = prepared.iter().map(|member| member.actor_ref().clone()).collect();
    for (number, member) in prepared.into_iter().enumerate() {
        member.spawn(Member {
            number,
            draws: DrawStream::new(number as u64),
            left: n,
            members: Arc::clone(&members),
            tally: Tally::default(),
            root: root.clone(),
        });
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
