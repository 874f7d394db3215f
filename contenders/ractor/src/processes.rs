//! Chains of actors: `spawn-chain` and `serial-spawn`.

use std::pin::Pin;
use std::time::Instant;

use purlin_contender::{Sample, shares};
use ractor::{Actor, ActorProcessingErr, ActorRef, SpawnErr};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Spawns the next actor of the chain and stops; the last one reports how many ran.
struct Link;

/// Number of actors left, including this one; number that ran before it; channel for the report.
type Place = (u64, u64, UnboundedSender<u64>);

impl Actor for Link {
    type Msg = ();
    type State = Place;
    type Arguments = Place;

    async fn pre_start(&self, _: ActorRef<()>, place: Place) -> Result<Place, ActorProcessingErr> {
        Ok(place)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (left, ran, root): &mut Place,
    ) -> Result<(), ActorProcessingErr> {
        if *left == 1 {
            root.send(*ran + 1)?;
        } else {
            chain(*left - 1, *ran + 1, root.clone()).await?;
        }
        myself.stop(None);
        Ok(())
    }
}

/// WHY boxed: the compiler cannot prove that a future that spawns its own type is `Send`.
fn chain(
    left: u64,
    ran: u64,
    root: UnboundedSender<u64>,
) -> Pin<Box<dyn Future<Output = Result<(), SpawnErr>> + Send>> {
    Box::pin(async move { Actor::spawn(None, Link, (left, ran, root)).await.map(drop) })
}

pub(crate) async fn spawn_chain(n: u64, reps: u64) -> Outcome {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        chain(n, 0, root.clone()).await?;
        sent += n;
        received += mailbox.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(start.elapsed(), n * reps, sent, received))
}

pub(crate) async fn serial_spawn(m: u64, total: u64) -> Outcome {
    let (root, mut mailbox) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for length in shares(total, m) {
        chain(length, 0, root.clone()).await?;
        sent += length;
    }
    for _ in 0..m {
        received += mailbox.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(start.elapsed(), total, sent, received))
}
