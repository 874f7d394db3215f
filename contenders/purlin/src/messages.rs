//! Messages between long-lived processes: `ping-pong`, `throughput`, `fan-in`, `fan-out` and
//! `thread-ring`.

use std::time::Instant;

use purlin::{Pid, Process, Reply, consume_budget, receive, spawn};
use purlin_contender::{Delays, Sample, Stamps, Tally, shares};

/// Messages of the partner in `ping-pong`.
enum Ping {
    Round(u64),
    Tell(Reply<Tally>),
}

pub(crate) async fn ping_pong(mut me: Process<u64>, n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let root = me.pid();
    let partner = spawn(move |me| answer(me, root));
    for round in 0..n {
        delays.start(round);
        partner.send(Ping::Round(round));
        tally.sent += 1;
        tally.received += u64::from(me.receive().await == round);
        delays.back(round);
    }
    let elapsed = start.elapsed();

    let partner = partner.call(Ping::Tell).await.unwrap_or_default();
    Sample::new(elapsed, n, tally.sent + partner.sent, tally.received + partner.received)
        .with_delays(delays)
}

/// Sends each message back, until it is asked for its counts.
async fn answer(mut me: Process<Ping>, root: Pid<u64>) {
    let mut tally = Tally::default();
    loop {
        match me.receive().await {
            Ping::Round(round) => {
                tally.received += 1;
                root.send(round);
                tally.sent += 1;
            }
            Ping::Tell(reply) => return reply.send(tally),
        }
    }
}

/// Messages of the receiver in `fan-in`: values, some of which are timestamps, and from each sender
/// at its end the number of messages it sent.
pub(crate) enum FromSender {
    Message(u64),
    Sent(u64),
}

/// `fan-in`; `throughput` is `fan-in` with one sender.
pub(crate) async fn fan_in(mut me: Process<FromSender>, senders: u64, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);
    let stamps = Stamps::from_now();
    let mut delays = Delays::new(stamps);

    let start = Instant::now();
    for share in shares(n, senders) {
        let root = me.pid();
        spawn(move |_: Process<()>| send_all(share, stamps, root));
    }
    let mut sending = senders;
    while sending > 0 {
        match me.receive().await {
            FromSender::Message(stamp) => {
                delays.received(stamp);
                received += 1;
            }
            FromSender::Sent(count) => {
                sent += count;
                sending -= 1;
            }
        }
    }
    Sample::new(start.elapsed(), n, sent, received).with_delays(delays)
}

async fn send_all(n: u64, stamps: Stamps, root: Pid<FromSender>) {
    for message in 0..n {
        root.send(FromSender::Message(stamps.of(message)));
        consume_budget().await;
    }
    root.send(FromSender::Sent(n));
}

/// Messages of the root of `fan-out`, from each receiver.
pub(crate) enum FromReceiver {
    Ready,
    Received(u64),
}

pub(crate) async fn fan_out(mut me: Process<FromReceiver>, processes: u64, n: u64) -> Sample {
    let mut receivers = Vec::new();
    for place in 0..processes {
        let (root, share) = (me.pid(), n / processes + u64::from(place < n % processes));
        receivers.push(spawn(move |me| take_share(me, share, root)));
        consume_budget().await;
    }
    for _ in 0..processes {
        receive!(me, { FromReceiver::Ready => () });
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for (message, receiver) in (0..n).zip(receivers.iter().cycle()) {
        receiver.send(message);
        sent += 1;
        consume_budget().await;
    }
    for _ in 0..processes {
        received += receive!(me, { FromReceiver::Received(count) => count });
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Reports that it runs, receives its share of the messages and reports the number received.
async fn take_share(mut me: Process<u64>, share: u64, root: Pid<FromReceiver>) {
    root.send(FromReceiver::Ready);
    let mut received = 0;
    while received < share {
        std::hint::black_box(me.receive().await);
        received += 1;
    }
    root.send(FromReceiver::Received(received));
}

/// Messages around the ring.
enum Token {
    /// The token, with the number of hops left, including the one that delivered it.
    Hops(u64),
    /// The next member. Sent to the last member, which is spawned before the first.
    Next(Pid<Token>),
    /// Report and end.
    Count,
}

/// Messages of the root of the ring.
pub(crate) enum Home {
    Arrived,
    Counted(Tally),
}

pub(crate) async fn thread_ring(mut me: Process<Home>, processes: u64, n: u64) -> Sample {
    let root = me.pid();
    let last = spawn(async move |mut me: Process<Token>| {
        let first = receive!(me, { Token::Next(first) => first });
        pass_on(me, first, root).await;
    });
    let mut first = last.clone();
    for _ in 1..processes {
        let (next, root) = (first, me.pid());
        first = spawn(move |me| pass_on(me, next, root));
    }
    last.send(Token::Next(first.clone()));

    let start = Instant::now();
    first.send(Token::Hops(n));
    let mut sent = 1;
    me.receive().await;
    let elapsed = start.elapsed();

    first.send(Token::Count);
    let (mut received, mut left) = (0, processes);
    while left > 0 {
        if let Home::Counted(tally) = me.receive().await {
            sent += tally.sent;
            received += tally.received;
            left -= 1;
        }
    }
    Sample::new(elapsed, n, sent, received)
}

/// Forwards the token until no hop is left, and then the request for the counts.
async fn pass_on(mut me: Process<Token>, next: Pid<Token>, root: Pid<Home>) {
    let mut tally = Tally::default();
    loop {
        match me.receive().await {
            Token::Hops(hops) => {
                tally.received += 1;
                if hops == 1 {
                    root.send(Home::Arrived);
                } else {
                    next.send(Token::Hops(hops - 1));
                    tally.sent += 1;
                }
            }
            Token::Count => {
                root.send(Home::Counted(tally));
                return next.send(Token::Count);
            }
            Token::Next(_) => {}
        }
    }
}
