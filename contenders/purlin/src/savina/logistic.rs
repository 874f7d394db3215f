//! `logistic-map`: series whose terms are computed by other processes.

use std::time::{Duration, Instant};

use purlin::{Pid, Process, Reply, consume_budget, receive, spawn};
use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};

/// Messages of a worker.
enum ToWorker {
    /// Ask for the next term.
    Next,
    /// Report the last term and end.
    Get,
}

/// Messages of a computer.
enum ToComputer {
    Compute(f64, Reply<f64>),
    Close,
}

/// Messages of the root.
pub(crate) enum Report {
    Term(f64, Tally),
    Computed(Tally),
}

pub(crate) async fn logistic_map(
    mut me: Process<Report>,
    series: u64,
    terms: u64,
    reps: u64,
) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let begin = |number| {
            let Series { rate, start } = Series::new(number);
            let (root, of_computer) = (me.pid(), me.pid());
            let computer = spawn(move |me| compute(me, rate, of_computer));
            spawn(move |me| work(me, start, computer, root))
        };
        let workers: Vec<_> = (0..series).map(begin).collect();
        for _ in 0..terms {
            for worker in &workers {
                worker.send(ToWorker::Next);
                tally.sent += 1;
                consume_budget().await;
            }
        }
        for worker in &workers {
            worker.send(ToWorker::Get);
        }
        for _ in 0..series {
            receive!(me, {
                Report::Term(term, counts) => {
                    sum += scaled_term(term);
                    tally += counts;
                },
            });
        }
        elapsed += start.elapsed();

        for _ in 0..series {
            tally += receive!(me, { Report::Computed(counts) => counts });
        }
    }
    let all = series * terms * reps;
    Sample::new(elapsed, all, tally.sent, tally.received).with("sum", sum)
}

async fn work(mut me: Process<ToWorker>, start: f64, computer: Pid<ToComputer>, root: Pid<Report>) {
    let (mut x, mut tally) = (start, Tally::default());
    while let ToWorker::Next = me.receive().await {
        tally.received += 1;
        tally.sent += 1;
        if let Ok(next) = computer.call(|reply| ToComputer::Compute(x, reply)).await {
            tally.received += 1;
            x = next;
        }
    }
    computer.send(ToComputer::Close);
    root.send(Report::Term(x, tally));
}

async fn compute(mut me: Process<ToComputer>, rate: f64, root: Pid<Report>) {
    let mut tally = Tally::default();
    while let ToComputer::Compute(x, reply) = me.receive().await {
        tally.received += 1;
        reply.send(logistic(rate, x));
        tally.sent += 1;
    }
    root.send(Report::Computed(tally));
}
