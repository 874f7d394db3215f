//! Idle actors: `idle-memory`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Maximum number of actors spawned before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// Reports that it has started, and waits.
struct Idle;

impl Actor for Idle {
    type Args = UnboundedSender<()>;
    type Error = Infallible;

    async fn on_start(ready: Self::Args, _: ActorRef<Self>) -> Result<Self, Infallible> {
        // The root counts the reports: a failed send is missing in the result.
        let _ = ready.send(());
        Ok(Idle)
    }
}

/// The actors outlive the root: their references are leaked.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let mut actors = Vec::new();
    let mut received = 0;

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            actors.push(Idle::spawn(ready.clone()));
        }
        for _ in 0..share {
            received += u64::from(waits.recv().await.is_some());
        }
    }
    let elapsed = start.elapsed();

    let sent = actors.len() as u64;
    std::mem::forget(actors);
    Ok(Sample::new(elapsed, n, sent, received))
}
