//! `spread`: coroutines that call one server and compute in turn.

use std::time::Instant;

use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use may::sync::spsc;
use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};

use crate::channels::{call, receive};

/// A request, and the channel for its reply.
type Ask = (u64, spsc::Sender<u64>);

pub(crate) fn spread(processes: u64, n: u64, us: u64) -> Sample {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let (server, asked) = channel();
    let serving = go!(move || serve(asked));
    let tasks: Vec<_> = (0..processes)
        .map(|_| {
            let server = server.clone();
            go!(move || compute(n, steps, server))
        })
        .collect();
    drop(server);
    for task in tasks {
        let (counts, x) = task.join().unwrap_or_default();
        tally += counts;
        sink += x;
    }
    let elapsed = start.elapsed();

    tally += serving.join().unwrap_or_default();
    Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink)
}

fn compute(n: u64, steps: u64, server: Sender<Ask>) -> (Tally, u64) {
    let (mut tally, mut x) = (Tally::default(), WORK_START);
    for round in 0..n {
        tally.sent += 1;
        let answer = call(&server, |reply| (round, reply));
        tally.received += u64::from(answer == Some(round));
        x = work(x, steps);
    }
    (tally, x)
}

fn serve(asked: Receiver<Ask>) -> Tally {
    let mut tally = Tally::default();
    while let Some((round, reply)) = receive(&asked) {
        tally.received += 1;
        tally.sent += u64::from(reply.send(round).is_ok());
    }
    tally
}
