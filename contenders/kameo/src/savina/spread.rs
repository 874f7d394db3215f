//! `spread`: actors that alternately call one server and compute.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::{Tell, Told};

/// The called server.
#[derive(Actor, Default)]
struct Server {
    tally: Tally,
}

/// Reply with this number.
struct Echo(u64);

impl Message<Echo> for Server {
    type Reply = u64;

    async fn handle(&mut self, Echo(number): Echo, _: &mut Context<Self, u64>) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        number
    }
}

impl Message<Tell> for Server {
    type Reply = Told;

    async fn handle(&mut self, _: Tell, _: &mut Context<Self, Told>) -> Told {
        Told(self.tally)
    }
}

/// Calls and computes, reports its counts and the last number, and stops.
struct Worker;

struct Steps {
    n: u64,
    steps: u64,
    server: ActorRef<Server>,
    root: UnboundedSender<(Tally, u64)>,
}

impl Actor for Worker {
    type Args = Steps;
    type Error = Infallible;

    async fn on_start(asked: Steps, _: ActorRef<Self>) -> Result<Self, Infallible> {
        let (mut x, mut tally) = (WORK_START, Tally::default());
        for _ in 0..asked.n {
            tally.sent += 1;
            let answer = asked.server.ask(Echo(x)).send().await;
            tally.received += u64::from(answer.is_ok_and(|answer| answer == x));
            x = work(x, asked.steps);
        }
        // Cannot fail: the root waits for this report.
        let _ = asked.root.send((tally, x));
        Ok(Worker)
    }
}

pub(crate) async fn spread(processes: u64, n: u64, us: u64) -> Outcome {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let (root, mut reports) = unbounded_channel();
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let server = Server::spawn(Server::default());
    for _ in 0..processes {
        Worker::spawn(Steps { n, steps, server: server.clone(), root: root.clone() });
    }
    for _ in 0..processes {
        let (counts, x) = reports.recv().await.unwrap_or_default();
        tally += counts;
        sink += x;
    }
    let elapsed = start.elapsed();

    tally += server.ask(Tell).send().await?.0;
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink))
}
