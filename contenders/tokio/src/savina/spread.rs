//! `spread`: tasks that call one server and compute in turn.

use std::time::Instant;

use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::request::call;

/// A request, and the channel for its reply.
type Ask = (u64, oneshot::Sender<u64>);

pub(crate) async fn spread(processes: u64, n: u64, us: u64) -> Sample {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let (server, asked) = unbounded_channel();
    let serving = tokio::spawn(serve(asked));
    let tasks: Vec<_> =
        (0..processes).map(|_| tokio::spawn(compute(n, steps, server.clone()))).collect();
    drop(server);
    for task in tasks {
        let (counts, x) = task.await.unwrap_or_default();
        tally += counts;
        sink += x;
    }
    let elapsed = start.elapsed();

    tally += serving.await.unwrap_or_default();
    Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink)
}

async fn compute(n: u64, steps: u64, server: UnboundedSender<Ask>) -> (Tally, u64) {
    let (mut tally, mut x) = (Tally::default(), WORK_START);
    for round in 0..n {
        tally.sent += 1;
        let answer = call(&server, |reply| (round, reply)).await;
        tally.received += u64::from(answer == Some(round));
        x = work(x, steps);
    }
    (tally, x)
}

async fn serve(mut asked: UnboundedReceiver<Ask>) -> Tally {
    let mut tally = Tally::default();
    while let Some((round, reply)) = asked.recv().await {
        tally.received += 1;
        tally.sent += u64::from(reply.send(round).is_ok());
    }
    tally
}
