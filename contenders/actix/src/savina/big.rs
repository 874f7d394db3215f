//! `big`: actors that ping each other at random.

use std::sync::Arc;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{DrawStream, Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::Tell;

/// Member of the crowd.
struct Member {
    number: usize,
    draws: DrawStream,
    left: u64,
    members: Arc<[Addr<Member>]>,
    tally: Tally,
    root: UnboundedSender<()>,
}

/// A ping, with the number of its sender.
#[derive(Message)]
#[rtype(result = "()")]
struct Ping(usize);

#[derive(Message)]
#[rtype(result = "()")]
struct Pong;

impl Member {
    /// Pings another member, or reports that none is left to ping.
    fn go_on(&mut self) {
        if self.left == 0 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
            return;
        }
        self.left -= 1;
        let partner = self.draws.below(self.members.len() as u64) as usize;
        self.members[partner].do_send(Ping(self.number));
        self.tally.sent += 1;
    }
}

impl Actor for Member {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.go_on();
    }
}

impl Handler<Ping> for Member {
    type Result = ();

    fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self>) {
        self.tally.received += 1;
        self.members[from].do_send(Pong);
        self.tally.sent += 1;
    }
}

impl Handler<Pong> for Member {
    type Result = ();

    fn handle(&mut self, _: Pong, _: &mut Context<Self>) {
        self.tally.received += 1;
        self.go_on();
    }
}

impl Handler<Tell> for Member {
    type Result = MessageResult<Tell>;

    /// Also stops the actor, which the other members would keep alive.
    fn handle(&mut self, _: Tell, context: &mut Context<Self>) -> MessageResult<Tell> {
        context.stop();
        MessageResult(self.tally)
    }
}

pub(crate) async fn big(processes: u64, n: u64) -> Outcome {
    let (root, mut done) = unbounded_channel();
    let mut tally = Tally::default();

    let start = Instant::now();
    let contexts: Vec<_> = (0..processes).map(|_| Context::new()).collect();
    let members: Arc<[_]> = contexts.iter().map(Context::address).collect();
    for (number, context) in contexts.into_iter().enumerate() {
        context.run(Member {
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
        tally += member.send(Tell).await?;
    }
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received))
}
