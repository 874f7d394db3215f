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
    draws: DrawStream,
    left: u64,
    members: Arc<[Addr<Member>]>,
    tally: Tally,
    root: UnboundedSender<()>,
}

/// Begin: these are the members.
#[derive(Message)]
#[rtype(result = "()")]
struct Members(Arc<[Addr<Member>]>);

/// A ping of this member.
#[derive(Message)]
#[rtype(result = "()")]
struct Ping(Addr<Member>);

#[derive(Message)]
#[rtype(result = "()")]
struct Pong;

impl Member {
    /// Pings another member, or reports that none is left to ping.
    fn go_on(&mut self, context: &Context<Self>) {
        if self.left == 0 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
            return;
        }
        self.left -= 1;
        let partner = self.draws.below(self.members.len() as u64) as usize;
        self.members[partner].do_send(Ping(context.address()));
        self.tally.sent += 1;
    }
}

impl Actor for Member {
    type Context = Context<Self>;
}

impl Handler<Members> for Member {
    type Result = ();

    fn handle(&mut self, Members(members): Members, context: &mut Context<Self>) {
        self.members = members;
        self.go_on(context);
    }
}

impl Handler<Ping> for Member {
    type Result = ();

    fn handle(&mut self, Ping(from): Ping, _: &mut Context<Self>) {
        self.tally.received += 1;
        from.do_send(Pong);
        self.tally.sent += 1;
    }
}

impl Handler<Pong> for Member {
    type Result = ();

    fn handle(&mut self, _: Pong, context: &mut Context<Self>) {
        self.tally.received += 1;
        self.go_on(context);
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
    let member = |number| Member {
        draws: DrawStream::new(number),
        left: n,
        members: Arc::new([]),
        tally: Tally::default(),
        root: root.clone(),
    };
    let members: Arc<[_]> = (0..processes).map(|number| member(number).start()).collect();
    for member in members.iter() {
        member.do_send(Members(Arc::clone(&members)));
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
