//! Messages between long-lived tasks: `ping-pong`, `fan-out`, `call` and `thread-ring`.

use std::pin::pin;
use std::time::{Duration, Instant};

use purlin_contender::{Delays, Sample, Tally};
use tokio::select;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::{self, sleep};

use crate::flow::YIELD_EVERY;

/// Timeout of a call: the default of `gen_server:call`.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn ping_pong(n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let (ping, ping_mailbox) = unbounded_channel();
    let (pong, mut pong_mailbox) = unbounded_channel();
    let partner = tokio::spawn(answer(ping_mailbox, pong));
    for round in 0..n {
        delays.start(round);
        tally.sent += u64::from(ping.send(round).is_ok());
        tally.received += u64::from(pong_mailbox.recv().await == Some(round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    drop(ping);
    let partner = partner.await.unwrap_or_default();
    Sample::new(elapsed, n, tally.sent + partner.sent, tally.received + partner.received)
        .with_delays(delays)
}

/// Sends each message back.
async fn answer(mut mailbox: UnboundedReceiver<u64>, back: UnboundedSender<u64>) -> Tally {
    let mut tally = Tally::default();
    while let Some(round) = mailbox.recv().await {
        tally.received += 1;
        tally.sent += u64::from(back.send(round).is_ok());
    }
    tally
}

pub(crate) async fn fan_out(processes: u64, n: u64) -> Sample {
    let (root, mut reports) = unbounded_channel();
    let mut receivers = Vec::new();
    for place in 0..processes {
        let share = n / processes + u64::from(place < n % processes);
        let (receiver, mailbox) = unbounded_channel();
        tokio::spawn(take_share(mailbox, share, root.clone()));
        receivers.push(receiver);
    }
    for _ in 0..processes {
        reports.recv().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for (message, receiver) in (0..n).zip(receivers.iter().cycle()) {
        sent += u64::from(receiver.send(message).is_ok());
        if message % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now().await;
        }
    }
    for _ in 0..processes {
        received += reports.recv().await.unwrap_or(0);
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Reports that it runs, receives its share of the messages and reports the number received.
async fn take_share(mut mailbox: UnboundedReceiver<u64>, share: u64, root: UnboundedSender<u64>) {
    let _ = root.send(0);
    let mut received = 0;
    while received < share && mailbox.recv().await.is_some() {
        received += 1;
    }
    let _ = root.send(received);
}

/// A request and the channel for its reply.
type Ask = (u64, oneshot::Sender<u64>);

pub(crate) async fn call(n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let (server, asked) = unbounded_channel();
    let serving = tokio::spawn(serve(asked));
    // WHY one for all calls: moving a timer takes no lock, a timer per call is inserted and removed.
    let mut overdue = pin!(sleep(CALL_TIMEOUT));
    for round in 0..n {
        delays.start(round);
        let (reply, answer) = oneshot::channel();
        tally.sent += u64::from(server.send((round, reply)).is_ok());
        overdue.as_mut().reset(time::Instant::now() + CALL_TIMEOUT);
        let answer = select! {
            biased;
            answer = answer => answer.ok(),
            () = &mut overdue => None,
        };
        tally.received += u64::from(answer == Some(round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    drop(server);
    let served = serving.await.unwrap_or_default();
    Sample::new(elapsed, n, tally.sent + served.sent, tally.received + served.received)
        .with_delays(delays)
}

/// Replies to each request.
async fn serve(mut asked: UnboundedReceiver<Ask>) -> Tally {
    let mut tally = Tally::default();
    while let Some((round, reply)) = asked.recv().await {
        tally.received += 1;
        tally.sent += u64::from(reply.send(round).is_ok());
    }
    tally
}

pub(crate) async fn thread_ring(processes: u64, n: u64) -> Sample {
    let (first, mailbox) = unbounded_channel();
    let (root, mut home) = unbounded_channel();
    let mut ring = Vec::new();
    let mut mailbox = mailbox;
    for _ in 1..processes {
        let (next, next_mailbox) = unbounded_channel();
        ring.push(tokio::spawn(pass_on(mailbox, next, root.clone())));
        mailbox = next_mailbox;
    }
    ring.push(tokio::spawn(pass_on(mailbox, first.clone(), root)));

    let start = Instant::now();
    let mut sent = u64::from(first.send(n).is_ok());
    home.recv().await;
    let elapsed = start.elapsed();

    drop(first);
    let mut received = 0;
    for task in ring {
        let tally = task.await.unwrap_or_default();
        sent += tally.sent;
        received += tally.received;
    }
    Sample::new(elapsed, n, sent, received)
}

/// Forwards the token until no hop is left. The task that receives the last hop notifies the root
/// and ends, which closes the channel of the next task, and so on around the ring.
async fn pass_on(
    mut mailbox: UnboundedReceiver<u64>,
    next: UnboundedSender<u64>,
    root: UnboundedSender<()>,
) -> Tally {
    let mut tally = Tally::default();
    while let Some(hops) = mailbox.recv().await {
        tally.received += 1;
        if hops == 1 {
            let _ = root.send(());
            break;
        }
        tally.sent += u64::from(next.send(hops - 1).is_ok());
    }
    tally
}
