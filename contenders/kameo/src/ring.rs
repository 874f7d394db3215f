//! A token passed around a ring of actors: `thread-ring`.

use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::{Tell, Told};

/// Member of the ring.
#[derive(Actor)]
struct Member {
    next: Option<ActorRef<Member>>,
    root: UnboundedSender<()>,
    tally: Tally,
}

/// Set the next member.
struct Next(ActorRef<Member>);

/// The token, with the number of hops left, including this one.
struct Token(u64);

impl Message<Next> for Member {
    type Reply = ();

    async fn handle(&mut self, Next(next): Next, _: &mut Context<Self, ()>) {
        self.next = Some(next);
    }
}

impl Message<Token> for Member {
    type Reply = ();

    async fn handle(&mut self, Token(hops): Token, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        if hops == 1 {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(());
        } else if let Some(next) = &self.next {
            self.tally.sent += u64::from(next.tell(Token(hops - 1)).send().await.is_ok());
        }
    }
}

impl Message<Tell> for Member {
    type Reply = Told;

    /// Also stops the actor, which the reference held by the previous member would keep alive.
    async fn handle(&mut self, _: Tell, context: &mut Context<Self, Told>) -> Told {
        context.stop();
        Told(self.tally)
    }
}

pub(crate) async fn thread_ring(processes: u64, n: u64) -> Outcome {
    let (root, mut home) = unbounded_channel();
    let member = || Member { next: None, root: root.clone(), tally: Tally::default() };
    let ring: Vec<_> = (0..processes).map(|_| Member::spawn(member())).collect();
    for (member, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        member.ask(Next(next.clone())).send().await?;
    }

    let start = Instant::now();
    let mut tally =
        Tally { sent: u64::from(ring[0].tell(Token(n)).send().await.is_ok()), received: 0 };
    home.recv().await;
    let elapsed = start.elapsed();

    for member in &ring {
        tally += member.ask(Tell).send().await?.0;
    }
    Ok(Sample::new(elapsed, n, tally.sent, tally.received))
}
