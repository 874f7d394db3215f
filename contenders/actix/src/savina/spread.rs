//! `spread`: actors that alternately call one server and compute.
//!
//! The computing actors are distributed over one arbiter for each core, as a user would do who
//! wants more than one core; the server stays on the arbiter of all other programs.

use std::thread::available_parallelism;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::Tell;

/// The called server.
#[derive(Default)]
struct Server {
    tally: Tally,
}

/// Reply with this number.
#[derive(Message)]
#[rtype(result = "u64")]
struct Echo(u64);

impl Actor for Server {
    type Context = Context<Self>;
}

impl Handler<Echo> for Server {
    type Result = u64;

    fn handle(&mut self, Echo(number): Echo, _: &mut Context<Self>) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        number
    }
}

impl Handler<Tell> for Server {
    type Result = MessageResult<Tell>;

    fn handle(&mut self, _: Tell, _: &mut Context<Self>) -> MessageResult<Tell> {
        MessageResult(self.tally)
    }
}

/// Calls and computes, and reports its counts and the last number.
struct Worker {
    n: u64,
    steps: u64,
    server: Addr<Server>,
    root: UnboundedSender<(Tally, u64)>,
}

impl Actor for Worker {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (n, steps) = (self.n, self.steps);
        let (server, root) = (self.server.clone(), self.root.clone());
        let working = async move {
            let (mut x, mut tally) = (WORK_START, Tally::default());
            for _ in 0..n {
                tally.sent += 1;
                let answer = server.send(Echo(x)).await;
                tally.received += u64::from(answer.is_ok_and(|answer| answer == x));
                x = work(x, steps);
            }
            // Cannot fail: the root waits for this report.
            let _ = root.send((tally, x));
        };
        context.spawn(working.into_actor(self));
    }
}

pub(crate) async fn spread(processes: u64, n: u64, us: u64) -> Outcome {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let cores = available_parallelism()?.get();
    let arbiters: Vec<_> = (0..cores).map(|_| Arbiter::new()).collect();
    let (root, mut reports) = unbounded_channel();
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let server = Server::default().start();
    for arbiter in arbiters.iter().cycle().take(processes as usize) {
        let worker = Worker { n, steps, server: server.clone(), root: root.clone() };
        Worker::start_in_arbiter(&arbiter.handle(), |_| worker);
    }
    for _ in 0..processes {
        let (counts, x) = reports.recv().await.unwrap_or_default();
        tally += counts;
        sink += x;
    }
    let elapsed = start.elapsed();

    for arbiter in arbiters {
        arbiter.stop();
        arbiter.join().map_err(|_| "an arbiter has failed")?;
    }
    tally += server.send(Tell).await?;
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink))
}
