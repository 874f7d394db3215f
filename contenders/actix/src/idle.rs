//! Idle actors: `idle-memory`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Sample, shares};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Maximum number of actors started before the root receives their ready messages.
const AT_ONCE: u64 = 1000;

/// Reports that it has started, and waits.
struct Idle {
    ready: UnboundedSender<()>,
}

impl Actor for Idle {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // The root counts the reports: a failed send is missing in the result.
        let _ = self.ready.send(());
    }
}

/// The actors outlive the root: their addresses are leaked.
pub(crate) async fn idle_memory(n: u64) -> Outcome {
    let (ready, mut waits) = unbounded_channel();
    let mut actors = Vec::new();
    let mut received = 0;

    let start = Instant::now();
    for share in shares(n, n.div_ceil(AT_ONCE)) {
        for _ in 0..share {
            actors.push(Idle { ready: ready.clone() }.start());
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
