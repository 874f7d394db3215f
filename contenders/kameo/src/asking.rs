//! Requests and replies between two actors: `ping-pong` and `call`.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use kameo::prelude::*;
use purlin_contender::{Delays, Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Timeout of a call: the default of `gen_server:call`.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The replying actor.
#[derive(Actor, Default)]
struct Server {
    tally: Tally,
    pinger: Option<ActorRef<Pinger>>,
}

/// The pinger, to which pings are returned.
struct Meet(ActorRef<Pinger>);

/// Return this number to the pinger.
struct Ping(u64);

/// Reply with this number.
struct Echo(u64);

/// Reply with the counts.
pub(crate) struct Tell;

impl Message<Meet> for Server {
    type Reply = ();

    async fn handle(&mut self, Meet(pinger): Meet, _: &mut Context<Self, ()>) {
        self.pinger = Some(pinger);
    }
}

impl Message<Ping> for Server {
    type Reply = ();

    async fn handle(&mut self, Ping(round): Ping, _: &mut Context<Self, ()>) {
        self.tally.received += 1;
        if let Some(pinger) = &self.pinger {
            self.tally.sent += u64::from(pinger.tell(Pong(round)).send().await.is_ok());
        }
    }
}

impl Message<Echo> for Server {
    type Reply = u64;

    async fn handle(&mut self, Echo(round): Echo, _: &mut Context<Self, u64>) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        round
    }
}

impl Message<Tell> for Server {
    type Reply = Told;

    /// Also stops the actor, which the reference held by the pinger would keep alive.
    async fn handle(&mut self, _: Tell, context: &mut Context<Self, Told>) -> Told {
        context.stop();
        Told(self.tally)
    }
}

/// Reply to `Tell`: the counts.
#[derive(Reply)]
pub(crate) struct Told(pub(crate) Tally);

pub(crate) async fn call(n: u64) -> Outcome {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let server = Server::spawn(Server::default());
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = server.ask(Echo(round)).reply_timeout(CALL_TIMEOUT).send().await;
        tally.received += u64::from(answer.is_ok_and(|answer| answer == round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    tally += server.ask(Tell).send().await?.0;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}

/// The pinging actor.
struct Pinger {
    server: ActorRef<Server>,
    n: u64,
    tally: Tally,
    delays: Delays,
    root: UnboundedSender<(Tally, Delays)>,
}

/// A returned ping.
struct Pong(u64);

impl Pinger {
    async fn ping(&mut self, round: u64) {
        if round < self.n {
            self.delays.start(round);
            self.tally.sent += u64::from(self.server.tell(Ping(round)).send().await.is_ok());
        } else {
            // Cannot fail: the root waits for this report only.
            let _ = self.root.send((self.tally, std::mem::take(&mut self.delays)));
        }
    }
}

impl Actor for Pinger {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut pinger: Self, myself: ActorRef<Self>) -> Result<Self, Infallible> {
        // A failed send is missing in the count of pongs.
        let _ = pinger.server.tell(Meet(myself)).send().await;
        pinger.ping(0).await;
        Ok(pinger)
    }
}

impl Message<Pong> for Pinger {
    type Reply = ();

    async fn handle(&mut self, Pong(round): Pong, _: &mut Context<Self, ()>) {
        self.delays.back(round);
        self.tally.received += 1;
        self.ping(round + 1).await;
    }
}

pub(crate) async fn ping_pong(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let server = Server::spawn(Server::default());
    Pinger::spawn(Pinger {
        server: server.clone(),
        n,
        tally: Tally::default(),
        delays: Delays::from_now(),
        root,
    });
    let (mut tally, delays) = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    tally += server.ask(Tell).send().await?.0;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}
