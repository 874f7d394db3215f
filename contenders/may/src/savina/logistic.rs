//! `logistic-map`: series whose terms are computed by other coroutines.

use std::time::{Duration, Instant};

use may::coroutine::yield_now;
use may::go;
use may::sync::spsc::{Receiver, Sender, channel};
use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};

use crate::messages::YIELD_EVERY;

/// Messages of a worker.
enum ToWorker {
    /// Ask for the next term.
    Next,
    /// Answer with the last term, and end.
    Get(Sender<f64>),
}

/// Messages of a worker to its computer.
enum ToComputer {
    /// Answer the current term with the next one.
    Compute(f64, Sender<f64>),
    End,
}

pub(crate) fn logistic_map(series: u64, terms: u64, reps: u64) -> Sample {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (mut workers, mut tasks) = (Vec::new(), Vec::new());
        for number in 0..series {
            let Series { rate, start } = Series::new(number);
            let (computer, requests) = channel();
            let (worker, mailbox) = channel();
            tasks.push(go!(move || compute(requests, rate)));
            tasks.push(go!(move || work(mailbox, start, computer)));
            workers.push(worker);
        }
        for term in 1..=terms {
            for worker in &workers {
                tally.sent += u64::from(worker.send(ToWorker::Next).is_ok());
            }
            if term % (YIELD_EVERY / series).max(1) == 0 {
                yield_now();
            }
        }
        let last: Vec<_> = workers
            .iter()
            .map(|worker| {
                let (reply, answer) = channel();
                worker.send(ToWorker::Get(reply)).map(|()| answer)
            })
            .collect();
        for answer in last.into_iter().flatten() {
            sum += answer.recv().map_or(0, scaled_term);
        }
        elapsed += start.elapsed();

        for task in tasks {
            tally += task.join().unwrap_or_default();
        }
    }
    let all = series * terms * reps;
    Sample::new(elapsed, all, tally.sent, tally.received).with("sum", sum)
}

fn work(mailbox: Receiver<ToWorker>, start: f64, computer: Sender<ToComputer>) -> Tally {
    let (mut x, mut tally) = (start, Tally::default());
    while let Ok(message) = mailbox.recv() {
        match message {
            ToWorker::Next => {
                tally.received += 1;
                let (reply, answer) = channel();
                tally.sent += u64::from(computer.send(ToComputer::Compute(x, reply)).is_ok());
                if let Ok(next) = answer.recv() {
                    tally.received += 1;
                    x = next;
                }
            }
            ToWorker::Get(reply) => {
                // Fails only if the root has failed.
                let _ = reply.send(x);
                break;
            }
        }
    }
    // Fails only if the computer has failed.
    let _ = computer.send(ToComputer::End);
    tally
}

fn compute(requests: Receiver<ToComputer>, rate: f64) -> Tally {
    let mut tally = Tally::default();
    while let Ok(ToComputer::Compute(x, reply)) = requests.recv() {
        tally.received += 1;
        tally.sent += u64::from(reply.send(logistic(rate, x)).is_ok());
    }
    tally
}
