//! Two actors that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::marker::PhantomData;
use std::time::Instant;

use purlin_contender::{Exchange, Payloads, Side, Sides};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// One of the two actors.
struct Worker<G>(PhantomData<fn(G)>);

/// Messages of a worker.
enum Post<G: Payloads> {
    /// Start to exchange messages with this partner.
    Start(ActorRef<Post<G>>),
    /// Do the next piece of work; the actor sends this to itself.
    Piece,
    /// A message of the partner.
    Message(G::Message),
}

struct Working<G: Payloads> {
    /// `None` once all work is done and all messages of the partner have arrived.
    side: Option<Side<G>>,
    /// `None` until the actor is started.
    partner: Option<ActorRef<Post<G>>>,
    root: UnboundedSender<Side<G>>,
}

impl<G: Payloads> Actor for Worker<G> {
    type Msg = Post<G>;
    type State = Working<G>;
    type Arguments = (Side<G>, UnboundedSender<Side<G>>);

    async fn pre_start(
        &self,
        _: ActorRef<Post<G>>,
        (side, root): Self::Arguments,
    ) -> Result<Working<G>, ActorProcessingErr> {
        Ok(Working { side: Some(side), partner: None, root })
    }

    async fn handle(
        &self,
        myself: ActorRef<Post<G>>,
        post: Post<G>,
        working: &mut Working<G>,
    ) -> Result<(), ActorProcessingErr> {
        let Some(side) = &mut working.side else { return Ok(()) };
        match post {
            Post::Start(partner) => {
                working.partner = Some(partner);
                myself.send_message(Post::Piece).map_err(|_| ENDED)?;
            }
            Post::Piece => {
                let Some(partner) = &working.partner else { return Ok(()) };
                for _ in 0..side.work() {
                    let message = Post::Message(side.supply());
                    side.sent(partner.send_message(message).is_ok());
                }
                if side.has_work() {
                    myself.send_message(Post::Piece).map_err(|_| ENDED)?;
                }
            }
            Post::Message(message) => side.accept(message),
        }
        if side.is_done() {
            let done = working.side.take();
            done.into_iter().try_for_each(|side| working.root.send(side)).map_err(|_| ENDED)?;
            myself.stop(None);
        }
        Ok(())
    }
}

/// Error for a message that cannot be delivered. ractor's error contains the message, which need
/// not be printable.
const ENDED: &str = "the receiver has ended";

/// Runs the repetitions. `payloads` builds the payload of one side before the clock starts.
pub(crate) async fn exchange<G: Payloads>(asked: Exchange, payloads: impl Fn() -> G) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut sides = Sides::new(asked, payloads);
    for _ in 0..asked.reps {
        let [one, other] = sides.pair().ok_or("a side has not come back")?;
        let (one, _) = Actor::spawn(None, Worker(PhantomData), (one, root.clone())).await?;
        let (other, _) = Actor::spawn(None, Worker(PhantomData), (other, root.clone())).await?;

        let start = Instant::now();
        one.send_message(Post::Start(other.clone())).map_err(|_| ENDED)?;
        other.send_message(Post::Start(one)).map_err(|_| ENDED)?;
        let (one, other) = (reports.recv().await, reports.recv().await);
        let elapsed = start.elapsed();

        sides.ended(elapsed, [one.ok_or(ENDED)?, other.ok_or(ENDED)?]);
    }
    Ok(sides.sample())
}
