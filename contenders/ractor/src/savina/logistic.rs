//! `logistic-map`: series, each with a worker that waits for its computer.

use std::time::{Duration, Instant};

use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::task::consume_budget;

use super::ask::ask;
use crate::Outcome;

/// Computes terms with its rate.
struct Computer;

/// Messages of a computer.
enum ToComputer {
    /// Reply with the term after this one.
    Compute(f64, RpcReplyPort<f64>),
    /// Reply with the counts, and stop.
    Report(RpcReplyPort<Tally>),
}

impl Actor for Computer {
    type Msg = ToComputer;
    type State = (f64, Tally);
    type Arguments = f64;

    async fn pre_start(
        &self,
        _: ActorRef<ToComputer>,
        rate: f64,
    ) -> Result<(f64, Tally), ActorProcessingErr> {
        Ok((rate, Tally::default()))
    }

    async fn handle(
        &self,
        myself: ActorRef<ToComputer>,
        message: ToComputer,
        (rate, tally): &mut (f64, Tally),
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToComputer::Compute(x, reply) => {
                tally.received += 1;
                tally.sent += u64::from(reply.send(logistic(*rate, x)).is_ok());
            }
            ToComputer::Report(reply) => {
                reply.send(*tally)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// Worker of a series. It asks its computer with a call.
struct Worker;

/// Messages of a worker.
enum ToWorker {
    /// Compute the next term.
    Next,
    /// Reply with the term and the counts, and stop.
    Get(RpcReplyPort<(f64, Tally)>),
}

struct Term {
    x: f64,
    computer: ActorRef<ToComputer>,
    tally: Tally,
}

impl Actor for Worker {
    type Msg = ToWorker;
    type State = Term;
    type Arguments = Term;

    async fn pre_start(
        &self,
        _: ActorRef<ToWorker>,
        term: Term,
    ) -> Result<Term, ActorProcessingErr> {
        Ok(term)
    }

    async fn handle(
        &self,
        myself: ActorRef<ToWorker>,
        message: ToWorker,
        term: &mut Term,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToWorker::Next => {
                term.tally.received += 1;
                term.tally.sent += 1;
                term.x = ask!(term.computer, ToComputer::Compute, term.x)?;
                term.tally.received += 1;
            }
            ToWorker::Get(reply) => {
                reply.send((term.x, term.tally))?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

pub(crate) async fn logistic_map(count: u64, terms: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (mut workers, mut computers) = (Vec::new(), Vec::new());

        let start = Instant::now();
        for series in (0..count).map(Series::new) {
            let (computer, _) = Actor::spawn(None, Computer, series.rate).await?;
            computers.push(computer.clone());
            let term = Term { x: series.start, computer, tally: Tally::default() };
            workers.push(Actor::spawn(None, Worker, term).await?.0);
        }
        for _ in 0..terms {
            for worker in &workers {
                tally.sent += u64::from(worker.cast(ToWorker::Next).is_ok());
                consume_budget().await;
            }
        }
        for worker in workers {
            let (x, counts) = ask!(worker, ToWorker::Get)?;
            sum += scaled_term(x);
            tally += counts;
        }
        elapsed += start.elapsed();

        for computer in computers {
            tally += ask!(computer, ToComputer::Report)?;
        }
    }
    Ok(Sample::new(elapsed, count * terms * reps, tally.sent, tally.received).with("sum", sum))
}
