//! A supervisor whose only child stops, again and again: `restart`.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Tells that it is there, and stops when it is told to.
struct Stopping {
    root: UnboundedSender<()>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

impl Actor for Stopping {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        // The root counts these.
        let _ = self.root.send(());
    }
}

impl Supervised for Stopping {}

impl Handler<Stop> for Stopping {
    type Result = ();

    fn handle(&mut self, _: Stop, context: &mut Context<Self>) {
        context.stop();
    }
}

pub(crate) async fn restart(n: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut restarted, mut alive) = (Duration::ZERO, 0, 0);
    for _ in 0..reps {
        let (root, mut started) = unbounded_channel();
        let child = Supervisor::start(|_| Stopping { root });
        started.recv().await;

        let start = Instant::now();
        for _ in 0..n {
            child.do_send(Stop);
            restarted += u64::from(started.recv().await.is_some());
        }
        elapsed += start.elapsed();

        alive += u64::from(child.connected());
    }
    Ok(Sample::new(elapsed, n * reps, n * reps, restarted).with("alive", alive))
}
