//! `logistic-map`: series whose terms are computed by other tasks.

use std::time::{Duration, Instant};

use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::request::call;
use crate::flow::YIELD_EVERY;

/// Messages of a worker.
enum ToWorker {
    /// Ask for the next term.
    Next,
    /// Answer with the last term.
    Get(oneshot::Sender<f64>),
}

/// Request of a worker: the current term, answered with the next one.
type Compute = (f64, oneshot::Sender<f64>);

pub(crate) async fn logistic_map(series: u64, terms: u64, reps: u64) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (mut workers, mut tasks) = (Vec::new(), Vec::new());
        for number in 0..series {
            let Series { rate, start } = Series::new(number);
            let (computer, requests) = unbounded_channel();
            let (worker, mailbox) = unbounded_channel();
            tasks.push(tokio::spawn(compute(requests, rate)));
            tasks.push(tokio::spawn(work(mailbox, start, computer)));
            workers.push(worker);
        }
        for term in 1..=terms {
            for worker in &workers {
                tally.sent += u64::from(worker.send(ToWorker::Next).is_ok());
            }
            if term % (YIELD_EVERY / series).max(1) == 0 {
                yield_now().await;
            }
        }
        let last: Vec<_> = workers
            .iter()
            .map(|worker| {
                let (reply, answer) = oneshot::channel();
                worker.send(ToWorker::Get(reply)).map(|()| answer)
            })
            .collect();
        for answer in last.into_iter().flatten() {
            sum += answer.await.map_or(0, scaled_term);
        }
        elapsed += start.elapsed();

        drop(workers);
        for task in tasks {
            tally += task.await.unwrap_or_default();
        }
    }
    let all = series * terms * reps;
    Sample::new(elapsed, all, tally.sent, tally.received).with("sum", sum)
}

async fn work(
    mut mailbox: UnboundedReceiver<ToWorker>,
    start: f64,
    computer: UnboundedSender<Compute>,
) -> Tally {
    let (mut x, mut tally) = (start, Tally::default());
    while let Some(message) = mailbox.recv().await {
        match message {
            ToWorker::Next => {
                tally.received += 1;
                tally.sent += 1;
                if let Some(next) = call(&computer, |reply| (x, reply)).await {
                    tally.received += 1;
                    x = next;
                }
            }
            // The reply can only be lost if the root has failed.
            ToWorker::Get(reply) => drop(reply.send(x)),
        }
    }
    tally
}

async fn compute(mut requests: UnboundedReceiver<Compute>, rate: f64) -> Tally {
    let mut tally = Tally::default();
    while let Some((x, reply)) = requests.recv().await {
        tally.received += 1;
        tally.sent += u64::from(reply.send(logistic(rate, x)).is_ok());
    }
    tally
}
