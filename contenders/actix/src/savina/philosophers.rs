//! `philosophers`: philosophers that ask an arbiter for their forks.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Grants forks.
struct Arbiter {
    taken: Vec<bool>,
    granted: u64,
}

/// Reply whether the philosopher with this number may eat.
#[derive(Message)]
#[rtype(result = "bool")]
struct Hungry(usize);

/// Free the forks of the philosopher with this number.
#[derive(Message)]
#[rtype(result = "()")]
struct Done(usize);

/// Reply with the number of meals granted.
#[derive(Message)]
#[rtype(result = "u64")]
struct Report;

impl Arbiter {
    /// Returns the numbers of a philosopher's forks.
    fn forks(&self, philosopher: usize) -> [usize; 2] {
        [philosopher, (philosopher + 1) % self.taken.len()]
    }

    fn set(&mut self, philosopher: usize, taken: bool) {
        self.forks(philosopher).into_iter().for_each(|fork| self.taken[fork] = taken);
    }
}

impl Actor for Arbiter {
    type Context = Context<Self>;
}

impl Handler<Hungry> for Arbiter {
    type Result = bool;

    fn handle(&mut self, Hungry(philosopher): Hungry, _: &mut Context<Self>) -> bool {
        let free = self.forks(philosopher).iter().all(|fork| !self.taken[*fork]);
        if free {
            self.set(philosopher, true);
            self.granted += 1;
        }
        free
    }
}

impl Handler<Done> for Arbiter {
    type Result = ();

    fn handle(&mut self, Done(philosopher): Done, _: &mut Context<Self>) {
        self.set(philosopher, false);
    }
}

impl Handler<Report> for Arbiter {
    type Result = u64;

    fn handle(&mut self, _: Report, _: &mut Context<Self>) -> u64 {
        self.granted
    }
}

/// Eats its meals, and reports the number of meals and of denied requests.
struct Philosopher {
    number: usize,
    n: u64,
    arbiter: Addr<Arbiter>,
    root: UnboundedSender<(u64, u64)>,
}

impl Actor for Philosopher {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (number, n) = (self.number, self.n);
        let (arbiter, root) = (self.arbiter.clone(), self.root.clone());
        let eating = async move {
            let (mut eaten, mut denied) = (0, 0);
            while eaten < n {
                match arbiter.send(Hungry(number)).await {
                    Ok(true) => {
                        eaten += 1;
                        arbiter.do_send(Done(number));
                    }
                    Ok(false) => denied += 1,
                    Err(_) => break,
                }
            }
            // Cannot fail: the root waits for this report.
            let _ = root.send((eaten, denied));
        };
        context.spawn(eating.into_actor(self));
    }
}

pub(crate) async fn philosophers(count: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (mut eaten, mut denied) = (0, 0);

    let start = Instant::now();
    let arbiter = Arbiter { taken: vec![false; count as usize], granted: 0 }.start();
    for number in 0..count as usize {
        Philosopher { number, n, arbiter: arbiter.clone(), root: root.clone() }.start();
    }
    for _ in 0..count {
        let (meals, refusals) = reports.recv().await.unwrap_or_default();
        eaten += meals;
        denied += refusals;
    }
    let elapsed = start.elapsed();

    let granted = arbiter.send(Report).await?;
    Ok(Sample::new(elapsed, count * n, granted, eaten).with("denied", denied))
}
