//! `philosophers`: philosophers that ask an arbiter for their forks.

use std::time::Instant;

use purlin_contender::Sample;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// Grants forks.
struct Arbiter;

/// Messages of the arbiter, with the number of a philosopher.
enum ToArbiter {
    /// Reply whether the philosopher may eat.
    Hungry(usize, RpcReplyPort<bool>),
    /// Free the forks.
    Done(usize),
    /// Reply with the number of meals granted, and stop.
    Report(RpcReplyPort<u64>),
}

struct Table {
    taken: Vec<bool>,
    granted: u64,
}

impl Table {
    /// Returns the numbers of a philosopher's forks.
    fn forks(&self, philosopher: usize) -> [usize; 2] {
        [philosopher, (philosopher + 1) % self.taken.len()]
    }

    fn set(&mut self, philosopher: usize, taken: bool) {
        self.forks(philosopher).into_iter().for_each(|fork| self.taken[fork] = taken);
    }
}

impl Actor for Arbiter {
    type Msg = ToArbiter;
    type State = Table;
    type Arguments = usize;

    async fn pre_start(
        &self,
        _: ActorRef<ToArbiter>,
        forks: usize,
    ) -> Result<Table, ActorProcessingErr> {
        Ok(Table { taken: vec![false; forks], granted: 0 })
    }

    async fn handle(
        &self,
        myself: ActorRef<ToArbiter>,
        message: ToArbiter,
        table: &mut Table,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToArbiter::Hungry(philosopher, reply) => {
                let free = table.forks(philosopher).iter().all(|fork| !table.taken[*fork]);
                if free {
                    table.set(philosopher, true);
                    table.granted += 1;
                }
                reply.send(free)?;
            }
            ToArbiter::Done(philosopher) => table.set(philosopher, false),
            ToArbiter::Report(reply) => {
                reply.send(table.granted)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// Eats its meals, and reports the number of meals and of denied requests.
struct Philosopher;

struct Hunger {
    number: usize,
    n: u64,
    arbiter: ActorRef<ToArbiter>,
    root: UnboundedSender<(u64, u64)>,
}

impl Actor for Philosopher {
    type Msg = ();
    type State = Hunger;
    type Arguments = Hunger;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        state: Hunger,
    ) -> Result<Hunger, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Hunger,
    ) -> Result<(), ActorProcessingErr> {
        let (mut eaten, mut denied) = (0, 0);
        while eaten < state.n {
            if ask!(state.arbiter, ToArbiter::Hungry, state.number)? {
                eaten += 1;
                state
                    .arbiter
                    .cast(ToArbiter::Done(state.number))
                    .map_err(|error| error.to_string())?;
            } else {
                denied += 1;
            }
        }
        state.root.send((eaten, denied))?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn philosophers(count: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let (mut eaten, mut denied) = (0, 0);

    let start = Instant::now();
    let (arbiter, _) = Actor::spawn(None, Arbiter, count as usize).await?;
    for number in 0..count as usize {
        let (arbiter, root) = (arbiter.clone(), root.clone());
        Actor::spawn(None, Philosopher, Hunger { number, n, arbiter, root }).await?;
    }
    for _ in 0..count {
        let (meals, refusals) = reports.recv().await.unwrap_or_default();
        eaten += meals;
        denied += refusals;
    }
    let elapsed = start.elapsed();

    let granted = ask!(arbiter, ToArbiter::Report)?;
    Ok(Sample::new(elapsed, count * n, granted, eaten).with("denied", denied))
}
