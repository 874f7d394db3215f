//! Requests and replies between two actors: `ping-pong` and `call`.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Delays, Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Timeout of a call: the default of `gen_server:call`.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The replying actor.
#[derive(Default)]
struct Server {
    tally: Tally,
    pinger: Option<Addr<Pinger>>,
}

impl Actor for Server {
    type Context = Context<Self>;
}

/// The pinger, to which pings are returned.
#[derive(Message)]
#[rtype(result = "()")]
struct Meet(Addr<Pinger>);

/// Return this number to the pinger.
#[derive(Message)]
#[rtype(result = "()")]
struct Ping(u64);

/// Reply with this number.
#[derive(Message)]
#[rtype(result = "u64")]
struct Echo(u64);

/// Reply with the counts.
#[derive(Message)]
#[rtype(result = "Tally")]
pub(crate) struct Tell;

impl Handler<Meet> for Server {
    type Result = ();

    fn handle(&mut self, Meet(pinger): Meet, _: &mut Context<Self>) {
        self.pinger = Some(pinger);
    }
}

impl Handler<Ping> for Server {
    type Result = ();

    fn handle(&mut self, Ping(round): Ping, _: &mut Context<Self>) {
        self.tally.received += 1;
        if let Some(pinger) = &self.pinger {
            pinger.do_send(Pong(round));
            self.tally.sent += 1;
        }
    }
}

impl Handler<Echo> for Server {
    type Result = u64;

    fn handle(&mut self, Echo(round): Echo, _: &mut Context<Self>) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        round
    }
}

impl Handler<Tell> for Server {
    type Result = MessageResult<Tell>;

    /// Also stops the actor, which the address held by the pinger would keep alive.
    fn handle(&mut self, _: Tell, context: &mut Context<Self>) -> MessageResult<Tell> {
        context.stop();
        MessageResult(self.tally)
    }
}

pub(crate) async fn call(n: u64) -> Outcome {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let server = Server::default().start();
    for round in 0..n {
        delays.start(round);
        tally.sent += 1;
        let answer = server.send(Echo(round)).timeout(CALL_TIMEOUT).await;
        tally.received += u64::from(answer.is_ok_and(|answer| answer == round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    tally += server.send(Tell).await?;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}

/// The pinging actor.
struct Pinger {
    server: Addr<Server>,
    n: u64,
    tally: Tally,
    delays: Delays,
    root: UnboundedSender<(Tally, Delays)>,
}

/// A returned ping.
#[derive(Message)]
#[rtype(result = "()")]
struct Pong(u64);

impl Pinger {
    fn ping(&mut self, round: u64) {
        if round < self.n {
            self.delays.start(round);
            self.server.do_send(Ping(round));
            self.tally.sent += 1;
        } else {
            // Cannot fail: the root waits for this report only.
            let _ = self.root.send((self.tally, std::mem::take(&mut self.delays)));
        }
    }
}

impl Actor for Pinger {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        self.server.do_send(Meet(context.address()));
        self.ping(0);
    }
}

impl Handler<Pong> for Pinger {
    type Result = ();

    fn handle(&mut self, Pong(round): Pong, _: &mut Context<Self>) {
        self.delays.back(round);
        self.tally.received += 1;
        self.ping(round + 1);
    }
}

pub(crate) async fn ping_pong(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let server = Server::default().start();
    let pinger = Pinger {
        server: server.clone(),
        n,
        tally: Tally::default(),
        delays: Delays::from_now(),
        root,
    }
    .start();
    let (mut tally, delays) = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    drop(pinger);
    tally += server.send(Tell).await?;
    Ok(Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays))
}
