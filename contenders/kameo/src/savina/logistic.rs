//! `logistic-map`: series, each with a worker that waits for its computer.

use std::time::{Duration, Instant};

use kameo::prelude::*;
use purlin_contender::{Sample, Series, Tally, logistic, scaled_term};

use crate::Outcome;
use crate::asking::{Tell, Told};

/// Computes terms with its rate.
#[derive(Actor)]
struct Computer {
    rate: f64,
    tally: Tally,
}

/// Reply with the term after this one.
struct Compute(f64);

impl Message<Compute> for Computer {
    type Reply = f64;

    async fn handle(&mut self, Compute(x): Compute, _: &mut Context<Self, f64>) -> f64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        logistic(self.rate, x)
    }
}

impl Message<Tell> for Computer {
    type Reply = Told;

    async fn handle(&mut self, _: Tell, _: &mut Context<Self, Told>) -> Told {
        Told(self.tally)
    }
}

/// Worker of a series. It asks its computer with a call.
#[derive(Actor)]
struct Worker {
    x: f64,
    computer: ActorRef<Computer>,
    tally: Tally,
}

/// Compute the next term.
struct Next;

/// Reply with the term and the counts.
struct Get;

/// Reply to `Get`.
#[derive(Reply)]
struct Term(f64, Tally);

impl Message<Next> for Worker {
    type Reply = ();

    async fn handle(&mut self, _: Next, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        self.tally.sent += 1;
        if let Ok(next) = self.computer.ask(Compute(self.x)).send().await {
            self.x = next;
            self.tally.received += 1;
        }
    }
}

impl Message<Get> for Worker {
    type Reply = Term;

    async fn handle(&mut self, _: Get, _: &mut Context<Self, Term>) -> Term {
        Term(self.x, self.tally)
    }
}

pub(crate) async fn logistic_map(count: u64, terms: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut tally, mut sum) = (Duration::ZERO, Tally::default(), 0);
    for _ in 0..reps {
        let (mut workers, mut computers) = (Vec::new(), Vec::new());

        let start = Instant::now();
        for Series { rate, start: x } in (0..count).map(Series::new) {
            let computer = Computer::spawn(Computer { rate, tally: Tally::default() });
            computers.push(computer.clone());
            workers.push(Worker::spawn(Worker { x, computer, tally: Tally::default() }));
        }
        for _ in 0..terms {
            for worker in &workers {
                tally.sent += u64::from(worker.tell(Next).send().await.is_ok());
            }
        }
        for worker in workers {
            let Term(x, counts) = worker.ask(Get).send().await?;
            sum += scaled_term(x);
            tally += counts;
        }
        elapsed += start.elapsed();

        for computer in computers {
            tally += computer.ask(Tell).send().await?.0;
        }
    }
    Ok(Sample::new(elapsed, count * terms * reps, tally.sent, tally.received).with("sum", sum))
}
