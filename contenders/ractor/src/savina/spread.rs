//! `spread`: actors that alternately call one server and compute.

use std::time::Instant;

use purlin_contender::{Calibration, Sample, Tally, WORK_START, work};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// The called server.
struct Server;

/// Messages of the server.
enum ToServer {
    /// Reply with this number.
    Echo(u64, RpcReplyPort<u64>),
    /// Reply with the counts, and stop.
    Report(RpcReplyPort<Tally>),
}

impl Actor for Server {
    type Msg = ToServer;
    type State = Tally;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ToServer>, (): ()) -> Result<Tally, ActorProcessingErr> {
        Ok(Tally::default())
    }

    async fn handle(
        &self,
        myself: ActorRef<ToServer>,
        message: ToServer,
        tally: &mut Tally,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToServer::Echo(number, reply) => {
                tally.received += 1;
                tally.sent += u64::from(reply.send(number).is_ok());
            }
            ToServer::Report(reply) => {
                reply.send(*tally)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// Calls and computes, and reports its counts and the last number.
struct Worker;

struct Steps {
    n: u64,
    steps: u64,
    server: ActorRef<ToServer>,
    root: UnboundedSender<(Tally, u64)>,
}

impl Actor for Worker {
    type Msg = ();
    type State = Steps;
    type Arguments = Steps;

    async fn pre_start(&self, _: ActorRef<()>, state: Steps) -> Result<Steps, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Steps,
    ) -> Result<(), ActorProcessingErr> {
        let (mut x, mut tally) = (WORK_START, Tally::default());
        for _ in 0..state.n {
            tally.sent += 1;
            tally.received += u64::from(ask!(state.server, ToServer::Echo, x)? == x);
            x = work(x, state.steps);
        }
        state.root.send((tally, x))?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn spread(processes: u64, n: u64, us: u64) -> Outcome {
    let Calibration { steps, calibration_ns } = Calibration::measure(us);
    let (root, mut reports) = unbounded_channel();
    let (mut tally, mut sink) = (Tally::default(), 0);

    let start = Instant::now();
    let (server, _) = Actor::spawn(None, Server, ()).await?;
    for _ in 0..processes {
        let state = Steps { n, steps, server: server.clone(), root: root.clone() };
        Actor::spawn(None, Worker, state).await?;
    }
    for _ in 0..processes {
        let (counts, x) = reports.recv().await.unwrap_or_default();
        tally += counts;
        sink += x;
    }
    let elapsed = start.elapsed();

    tally += ask!(server, ToServer::Report)?;
    Ok(Sample::new(elapsed, processes * n, tally.sent, tally.received)
        .with("steps", steps)
        .with("calibration_ns", calibration_ns)
        .with("sink", sink))
}
