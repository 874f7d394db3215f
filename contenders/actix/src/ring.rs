//! A token passed around a ring of actors: `thread-ring`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::Tell;

/// Member of the ring.
struct Member {
    next: Option<Addr<Member>>,
    root: UnboundedSender<()>,
    tally: Tally,
}

impl Actor for Member {
    type Context = Context<Self>;
}

/// Set the next member.
#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Member>);

/// The token, with the number of hops left, including this one.
#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

impl Handler<Next> for Member {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

impl Handler<Token> for Member {
    type Result = ();

    fn handle(&mut self, Token(hops): Token, _: &mut Context<Self>) {
        self.tally.received += 1;
        if hops == 1 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
        } else if let Some(next) = &self.next {
            next.do_send(Token(hops - 1));
            self.tally.sent += 1;
        }
    }
}

impl Handler<Tell> for Member {
    type Result = MessageResult<Tell>;

    /// Also stops the actor, which the address held by the previous member would keep alive.
    fn handle(&mut self, _: Tell, context: &mut Context<Self>) -> MessageResult<Tell> {
        context.stop();
        MessageResult(self.tally)
    }
}

pub(crate) async fn thread_ring(processes: u64, n: u64) -> Outcome {
    let (root, mut home) = unbounded_channel();
    let member = || Member { next: None, root: root.clone(), tally: Tally::default() };
    let ring: Vec<_> = (0..processes).map(|_| member().start()).collect();
    for (member, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        member.send(Next(next.clone())).await?;
    }

    let start = Instant::now();
    ring[0].do_send(Token(n));
    let mut tally = Tally { sent: 1, received: 0 };
    home.recv().await;
    let elapsed = start.elapsed();

    for member in &ring {
        tally += member.send(Tell).await?;
    }
    Ok(Sample::new(elapsed, n, tally.sent, tally.received))
}
