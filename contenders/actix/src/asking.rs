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
}

impl Actor for Server {
    type Context = Context<Self>;
}

/// Send this number back to the pinger.
#[derive(Message)]
#[rtype(result = "()")]
struct Ping(u64, Addr<Pinger>);

/// Reply with this number.
#[derive(Message)]
#[rtype(result = "u64")]
struct Echo(u64);

/// Reply with the counts.
#[derive(Message)]
#[rtype(result = "Tally")]
pub(crate) struct Tell;

impl Handler<Ping> for Server {
    type Result = ();

    fn handle(&mut self, Ping(round, back): Ping, _: &mut Context<Self>) {
        self.tally.received += 1;
        back.do_send(Pong(round));
        self.tally.sent += 1;
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

    fn handle(&mut self, _: Tell, _: &mut Context<Self>) -> MessageResult<Tell> {
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
    fn ping(&mut self, round: u64, context: &Context<Self>) {
        if round < self.n {
            self.delays.start(round);
            self.server.do_send(Ping(round, context.address()));
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
        self.ping(0, context);
    }
}

impl Handler<Pong> for Pinger {
    type Result = ();

    fn handle(&mut self, Pong(round): Pong, context: &mut Context<Self>) {
        self.delays.back(round);
        self.tally.received += 1;
        self.ping(round + 1, context);
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
