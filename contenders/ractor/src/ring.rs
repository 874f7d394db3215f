//! A token passed around a ring of actors: `thread-ring`.

use std::time::Instant;

use purlin_contender::{Sample, Tally};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call_t};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::CALL_TIMEOUT_MS;

/// Member of the ring.
struct Member;

/// Messages of a member.
enum Post {
    /// Set the next member.
    Next(ActorRef<Post>),
    /// The token, with the number of hops left, including this one.
    Token(u64),
    /// Reply with the counts, and stop.
    Tell(RpcReplyPort<Tally>),
}

struct Membership {
    next: ActorRef<Post>,
    root: UnboundedSender<()>,
    tally: Tally,
}

impl Actor for Member {
    type Msg = Post;
    type State = Membership;
    type Arguments = UnboundedSender<()>;

    async fn pre_start(
        &self,
        myself: ActorRef<Post>,
        root: UnboundedSender<()>,
    ) -> Result<Membership, ActorProcessingErr> {
        Ok(Membership { next: myself, root, tally: Tally::default() })
    }

    async fn handle(
        &self,
        myself: ActorRef<Post>,
        post: Post,
        member: &mut Membership,
    ) -> Result<(), ActorProcessingErr> {
        match post {
            Post::Next(next) => member.next = next,
            Post::Token(hops) => {
                member.tally.received += 1;
                if hops == 1 {
                    member.root.send(())?;
                } else {
                    member.tally.sent += u64::from(member.next.cast(Post::Token(hops - 1)).is_ok());
                }
            }
            Post::Tell(reply) => {
                reply.send(member.tally)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

pub(crate) async fn thread_ring(processes: u64, n: u64) -> Outcome {
    let (root, mut home) = unbounded_channel();
    let mut ring = Vec::new();
    for _ in 0..processes {
        ring.push(Actor::spawn(None, Member, root.clone()).await?.0);
    }
    for (member, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        member.cast(Post::Next(next.clone()))?;
    }

    let start = Instant::now();
    let mut tally = Tally { sent: u64::from(ring[0].cast(Post::Token(n)).is_ok()), received: 0 };
    home.recv().await;
    let elapsed = start.elapsed();

    for member in &ring {
        tally += call_t!(member, Post::Tell, CALL_TIMEOUT_MS).map_err(|error| error.to_string())?;
    }
    Ok(Sample::new(elapsed, n, tally.sent, tally.received))
}
