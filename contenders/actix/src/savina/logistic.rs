//! `logistic-map`: series, each with a worker that waits for its computer.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};
use tokio::task::consume_budget;

use crate::Outcome;
use crate::asking::Tell;

/// Computes terms with its rate.
struct Computer {
    rate: f64,
    tally: Tally,
}

/// Reply with the term after this one.
#[derive(Message)]
#[rtype(result = "f64")]
struct Compute(f64);

impl Actor for Computer {
    type Context = Context<Self>;
}

impl Handler<Compute> for Computer {
    type Result = f64;

    fn handle(&mut self, Compute(x): Compute, _: &mut Context<Self>) -> f64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        logistic(self.rate, x)
    }
}

impl Handler<Tell> for Computer {
    type Result = MessageResult<Tell>;

    fn handle(&mut self, _: Tell, _: &mut Context<Self>) -> MessageResult<Tell> {
        MessageResult(self.tally)
    }
}

/// Worker of a series. It waits for the answer of its computer.
struct Worker {
    x: f64,
    computer: Addr<Computer>,
    tally: Tally,
}

/// Compute the next term.
#[derive(Message)]
#[rtype(result = "()")]
struct Next;

/// Reply with the term and the counts.
#[derive(Message)]
#[rtype(result = "(f64, Tally)")]
struct Get;

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Next> for Worker {
    type Result = ();

    fn handle(&mut self, _: Next, context: &mut Context<Self>) {
        self.tally.received += 1;
        self.tally.sent += 1;
        let computing = self.computer.send(Compute(self.x)).into_actor(self);
        context.wait(computing.map(|term, worker, _| {
            if let Ok(term) = term {
                worker.x = term;
                worker.tally.received += 1;
            }
        }));
    }
}

impl Handler<Get> for Worker {
    type Result = MessageResult<Get>;

    fn handle(&mut self, _: Get, _: &mut Context<Self>) -> MessageResult<Get> {
        MessageResult((self.x, self.tally))
    }
}

pub(crate) async fn logistic_map(count: u64, terms: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (mut workers, mut computers) = (Vec::new(), Vec::new());

        let start = Instant::now();
        for Series { rate, start: x } in (0..count).map(Series::new) {
            let computer = Computer { rate, tally: Tally::default() }.start();
            computers.push(computer.clone());
            workers.push(Worker { x, computer, tally: Tally::default() }.start());
        }
        for _ in 0..terms {
            for worker in &workers {
                worker.do_send(Next);
                tally.sent += 1;
                consume_budget().await;
            }
        }
        for worker in workers {
            let (x, counts) = worker.send(Get).await?;
            sum += scaled_term(x);
            tally += counts;
        }
        elapsed += start.elapsed();

        for computer in computers {
            tally += computer.send(Tell).await?;
        }
    }
    Ok(Sample::new(elapsed, count * terms * reps, tally.sent, tally.received).with("sum", sum))
}
