//! Requests and replies between two actors: `ping-pong` and `call`.

use std::time::Instant;

use purlin_contender::{Delays, Sample, Tally};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call_t};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Timeout of a call in milliseconds: the default of `gen_server:call`.
pub(crate) const CALL_TIMEOUT_MS: u64 = 5000;

/// The replying actor.
struct Server;

/// Messages of the server.
enum Ask {
    /// The pinger, to which pings are returned.
    Meet(ActorRef<Pong>),
    /// Return this number to the pinger.
    Ping(u64),
    /// Reply with this number.
    Echo(u64, RpcReplyPort<u64>),
    /// Reply with the counts, and stop.
    Tell(RpcReplyPort<Tally>),
}

#[derive(Default)]
struct Serving {
    tally: Tally,
    pinger: Option<ActorRef<Pong>>,
}

impl Actor for Server {
    type Msg = Ask;
    type State = Serving;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Ask>, (): ()) -> Result<Serving, ActorProcessingErr> {
        Ok(Serving::default())
    }

    async fn handle(
        &self,
        myself: ActorRef<Ask>,
        ask: Ask,
        serving: &mut Serving,
    ) -> Result<(), ActorProcessingErr> {
        match ask {
            Ask::Meet(pinger) => serving.pinger = Some(pinger),
            Ask::Ping(round) => {
                serving.tally.received += 1;
                if let Some(pinger) = &serving.pinger {
                    serving.tally.sent += u64::from(pinger.cast(Pong(round)).is_ok());
                }
            }
            Ask::Echo(round, reply) => {
                serving.tally.received += 1;
                serving.tally.sent += u64::from(reply.send(round).is_ok());
            }
            Ask::Tell(reply) => {
                reply.send(serving.tally)?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

pub(crate) async fn call(n: u64) -> Outcome {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let (server, _) = Actor::spawn(None, Server, ()).await?;
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = call_t!(server, Ask::Echo, CALL_TIMEOUT_MS, round);
        tally.received += u64::from(answer.is_ok_and(|answer| answer == round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    tally += told(&server).await?;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}

async fn told(server: &ActorRef<Ask>) -> Result<Tally, ActorProcessingErr> {
    call_t!(server, Ask::Tell, CALL_TIMEOUT_MS).map_err(|error| error.to_string().into())
}

/// The pinging actor.
struct Pinger;

/// Message of the pinger: a returned ping.
struct Pong(u64);

struct Pinging {
    server: ActorRef<Ask>,
    n: u64,
    tally: Tally,
    delays: Delays,
    root: UnboundedSender<(Tally, Delays)>,
}

impl Pinging {
    fn ping(&mut self, round: u64, myself: &ActorRef<Pong>) -> Result<(), ActorProcessingErr> {
        if round < self.n {
            self.delays.start(round);
            self.tally.sent += u64::from(self.server.cast(Ask::Ping(round)).is_ok());
        } else {
            self.root.send((self.tally, std::mem::take(&mut self.delays)))?;
            myself.stop(None);
        }
        Ok(())
    }
}

impl Actor for Pinger {
    type Msg = Pong;
    type State = Pinging;
    type Arguments = Pinging;

    async fn pre_start(
        &self,
        _: ActorRef<Pong>,
        pinging: Pinging,
    ) -> Result<Pinging, ActorProcessingErr> {
        Ok(pinging)
    }

    async fn post_start(
        &self,
        myself: ActorRef<Pong>,
        pinging: &mut Pinging,
    ) -> Result<(), ActorProcessingErr> {
        pinging.server.cast(Ask::Meet(myself.clone()))?;
        pinging.ping(0, &myself)
    }

    async fn handle(
        &self,
        myself: ActorRef<Pong>,
        Pong(round): Pong,
        pinging: &mut Pinging,
    ) -> Result<(), ActorProcessingErr> {
        pinging.delays.back(round);
        pinging.tally.received += 1;
        pinging.ping(round + 1, &myself)
    }
}

pub(crate) async fn ping_pong(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let (server, _) = Actor::spawn(None, Server, ()).await?;
    let pinging = Pinging {
        server: server.clone(),
        n,
        tally: Tally::default(),
        delays: Delays::from_now(),
        root,
    };
    Actor::spawn(None, Pinger, pinging).await?;
    let (mut tally, delays) = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    tally += told(&server).await?;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}
