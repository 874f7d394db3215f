//! `philosophers`: philosophers that ask an arbiter for their forks.

use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Grants forks.
#[derive(Actor)]
struct Arbiter {
    taken: Vec<bool>,
    granted: u64,
}

/// Reply whether the philosopher with this number may eat.
struct Hungry(usize);

/// Free the forks of the philosopher with this number.
struct Done(usize);

/// Reply with the number of meals granted.
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

impl Message<Hungry> for Arbiter {
    type Reply = bool;

    async fn handle(&mut self, Hungry(philosopher): Hungry, _: &mut Context<Self, bool>) -> bool {
        let free = self.forks(philosopher).iter().all(|fork| !self.taken[*fork]);
        if free {
            self.set(philosopher, true);
            self.granted += 1;
        }
        free
    }
}

impl Message<Done> for Arbiter {
    type Reply = ();

    async fn handle(&mut self, Done(philosopher): Done, _: &mut Context<Self, ()>) {
        self.set(philosopher, false);
    }
}

impl Message<Report> for Arbiter {
    type Reply = u64;

    async fn handle(&mut self, _: Report, _: &mut Context<Self, u64>) -> u64 {
        self.granted
    }
}

/// Eats its meals, reports the number of meals and of denied requests, and stops.
struct Philosopher;

impl Actor for Philosopher {
    type Args = (usize, u64, ActorRef<Arbiter>, UnboundedSender<(u64, u64)>);
    type Error = Infallible;

    async fn on_start(
        (number, n, arbiter, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        let (mut eaten, mut denied) = (0, 0);
        while eaten < n {
            match arbiter.ask(Hungry(number)).send().await {
                Ok(true) => {
                    eaten += 1;
                    // Fails only if the arbiter has failed; the next request tells.
                    let _ = arbiter.tell(Done(number)).send().await;
                }
                Ok(false) => denied += 1,
                Err(_) => break,
            }
        }
        // Cannot fail: the root waits for this report.
        let _ = root.send((eaten, denied));
        Ok(Philosopher)
    }
}

pub(crate) async fn philosophers(count: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (mut eaten, mut denied) = (0, 0);

    let start = Instant::now();
    let arbiter = Arbiter::spawn(Arbiter { taken: vec![false; count as usize], granted: 0 });
    for number in 0..count as usize {
        Philosopher::spawn((number, n, arbiter.clone(), root.clone()));
    }
    for _ in 0..count {
        let (meals, refusals) = reports.recv().await.unwrap_or_default();
        eaten += meals;
        denied += refusals;
    }
    let elapsed = start.elapsed();

    let granted = arbiter.ask(Report).send().await?;
    Ok(Sample::new(elapsed, count * n, granted, eaten).with("denied", denied))
}
