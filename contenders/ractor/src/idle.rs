//! Idle actors: `idle-memory`.

use std::time::Instant;

use purlin_contender::{Sample, shares};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Maximum number of actors spawned before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// Reports that it has started, and waits.
struct Idle;

impl Actor for Idle {
    type Msg = ();
    type State = ();
    type Arguments = UnboundedSender<()>;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        ready: UnboundedSender<()>,
    ) -> Result<(), ActorProcessingErr> {
        ready.send(())?;
        Ok(())
    }
}

/// The actors outlive the root: a ractor actor stays alive without references to it.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            Actor::spawn(None, Idle, ready.clone()).await?;
            sent += 1;
        }
        for _ in 0..share {
            received += u64::from(waits.recv().await.is_some());
        }
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}
