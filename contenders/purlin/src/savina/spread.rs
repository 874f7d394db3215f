//! `spread`: processes that call one server and compute in turn.

use std::time::Instant;

use purlin::{Pid, Process, Reply, spawn};
use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};

/// Messages of the server.
enum Ask {
    Echo(u64, Reply<u64>),
    /// Report and end.
    Close(Reply<Tally>),
}

/// Report of a process to the root.
pub(crate) struct Report {
    tally: Tally,
    x: u64,
}

pub(crate) async fn spread(mut me: Process<Report>, processes: u64, n: u64, us: u64) -> Sample {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let server = spawn(serve);
    for _ in 0..processes {
        let (server, root) = (server.clone(), me.pid());
        spawn(move |_: Process<()>| compute(n, steps, server, root));
    }
    for _ in 0..processes {
        let report = me.receive().await;
        tally += report.tally;
        sink += report.x;
    }
    let elapsed = start.elapsed();

    tally += server.call(Ask::Close).await.unwrap_or_default();
    Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink)
}

async fn compute(n: u64, steps: u64, server: Pid<Ask>, root: Pid<Report>) {
    let (mut tally, mut x) = (Tally::default(), WORK_START);
    for round in 0..n {
        tally.sent += 1;
        let answer = server.call(|reply| Ask::Echo(round, reply)).await;
        tally.received += u64::from(answer.is_ok_and(|back| back == round));
        x = work(x, steps);
    }
    root.send(Report { tally, x });
}

async fn serve(mut me: Process<Ask>) {
    let mut tally = Tally::default();
    loop {
        match me.receive().await {
            Ask::Echo(round, reply) => {
                tally.received += 1;
                reply.send(round);
                tally.sent += 1;
            }
            Ask::Close(reply) => return reply.send(tally),
        }
    }
}
