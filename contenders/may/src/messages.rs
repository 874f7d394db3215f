//! Messages between long-lived coroutines: `ping-pong`, `throughput`, `fan-in`, `fan-out`, `call`
//! and `thread-ring`.

use std::time::{Duration, Instant};

use may::coroutine::yield_now;
use may::go;
use may::sync::{mpsc, spsc};
use purlin_contender::{Delays, Sample, Stamps, Tally, shares};

use crate::channels::receive;

/// Number of messages between two yields of a loop that only sends.
pub(crate) const YIELD_EVERY: u64 = 128;

/// Timeout of a call: the default of `gen_server:call`.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn ping_pong(n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let (ping, ping_mailbox) = spsc::channel();
    let (pong, pong_mailbox) = spsc::channel();
    let partner = go!(move || answer(n, &ping_mailbox, &pong));
    for round in 0..n {
        delays.start(round);
        tally.sent += u64::from(ping.send(round).is_ok());
        tally.received += u64::from(pong_mailbox.recv() == Ok(round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    tally += partner.join().unwrap_or_default();
    Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays)
}

/// Sends each of `n` messages back.
fn answer(n: u64, mailbox: &spsc::Receiver<u64>, back: &spsc::Sender<u64>) -> Tally {
    let mut tally = Tally::default();
    for _ in 0..n {
        let Ok(round) = mailbox.recv() else { break };
        tally.received += 1;
        tally.sent += u64::from(back.send(round).is_ok());
    }
    tally
}

pub(crate) fn throughput(n: u64) -> Sample {
    let mut received = 0;
    let stamps = Stamps::from_now();
    let mut delays = Delays::new(stamps);

    let start = Instant::now();
    let (receiver, mailbox) = spsc::channel();
    let sender = go!(move || send_all(n, stamps, |message| receiver.send(message).is_ok()));
    while received < n {
        let Ok(stamp) = mailbox.recv() else { break };
        delays.received(stamp);
        received += 1;
    }
    let elapsed = start.elapsed();

    let sent = sender.join().unwrap_or(0);
    Sample::new(elapsed, n, sent, received).with_delays(delays)
}

pub(crate) fn fan_in(senders: u64, n: u64) -> Sample {
    let mut received = 0;
    let stamps = Stamps::from_now();
    let mut delays = Delays::new(stamps);

    let start = Instant::now();
    let (receiver, mailbox) = mpsc::channel();
    let senders: Vec<_> = shares(n, senders)
        .map(|share| {
            let receiver = receiver.clone();
            go!(move || send_all(share, stamps, |message| receiver.send(message).is_ok()))
        })
        .collect();
    drop(receiver);
    while let Some(stamp) = receive(&mailbox) {
        delays.received(stamp);
        received += 1;
    }
    let elapsed = start.elapsed();

    let sent = senders.into_iter().map(|sender| sender.join().unwrap_or(0)).sum();
    Sample::new(elapsed, n, sent, received).with_delays(delays)
}

fn send_all(n: u64, stamps: Stamps, send: impl Fn(u64) -> bool) -> u64 {
    let mut sent = 0;
    for message in 0..n {
        sent += u64::from(send(stamps.of(message)));
        if message % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now();
        }
    }
    sent
}

pub(crate) fn fan_out(processes: u64, n: u64) -> Sample {
    let (root, reports) = mpsc::channel();
    let mut receivers = Vec::new();
    for place in 0..processes {
        let share = n / processes + u64::from(place < n % processes);
        let (receiver, mailbox) = spsc::channel();
        let root = root.clone();
        go!(move || take_share(&mailbox, share, &root));
        receivers.push(receiver);
    }
    for _ in 0..processes {
        receive(&reports);
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for (message, receiver) in (0..n).zip(receivers.iter().cycle()) {
        sent += u64::from(receiver.send(message).is_ok());
        if message % YIELD_EVERY == YIELD_EVERY - 1 {
            yield_now();
        }
    }
    for _ in 0..processes {
        received += receive(&reports).unwrap_or(0);
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Reports that it runs, receives its share of the messages and reports the number received.
fn take_share(mailbox: &spsc::Receiver<u64>, share: u64, root: &mpsc::Sender<u64>) {
    let _ = root.send(0);
    let mut received = 0;
    while received < share && mailbox.recv().is_ok() {
        received += 1;
    }
    let _ = root.send(received);
}

/// A request and the channel for its reply.
type Ask = (u64, mpsc::Sender<u64>);

pub(crate) fn call(n: u64) -> Sample {
    let (mut tally, mut delays) = (Tally::default(), Delays::from_now());

    let start = Instant::now();
    let (server, asked) = mpsc::channel();
    let serving = go!(move || serve(&asked));
    // WHY one for all calls: a channel begins with 2 KiB of memory.
    let (reply, answer) = mpsc::channel();
    for round in 0..n {
        delays.start(round);
        tally.sent += u64::from(server.send((round, reply.clone())).is_ok());
        tally.received += u64::from(answer.recv_timeout(CALL_TIMEOUT) == Ok(round));
        delays.back(round);
    }
    let elapsed = start.elapsed();

    drop(server);
    tally += serving.join().unwrap_or_default();
    Sample::new(elapsed, n, tally.sent, tally.received).with_delays(delays)
}

/// Replies to each request.
fn serve(asked: &mpsc::Receiver<Ask>) -> Tally {
    let mut tally = Tally::default();
    while let Some((round, reply)) = receive(asked) {
        tally.received += 1;
        tally.sent += u64::from(reply.send(round).is_ok());
    }
    tally
}

/// The token that ends a coroutine of the ring.
const END: u64 = 0;

pub(crate) fn thread_ring(processes: u64, n: u64) -> Sample {
    // The first coroutine receives the first token from the root, and all others from the last one.
    let (entry, entered) = spsc::channel();
    let (back, mut mailbox) = spsc::channel();
    let (root, home) = mpsc::channel();
    let mut ring = Vec::new();
    let mut first = Some(entered);
    for _ in 1..processes {
        let (next, next_mailbox) = spsc::channel();
        let (from, root, first) = (mailbox, root.clone(), first.take());
        ring.push(go!(move || pass_on(first, &from, &next, &root)));
        mailbox = next_mailbox;
    }
    ring.push(go!(move || pass_on(first, &mailbox, &back, &root)));

    let start = Instant::now();
    let mut tally = Tally { sent: u64::from(entry.send(n).is_ok()), received: 0 };
    receive(&home);
    let elapsed = start.elapsed();

    for coroutine in ring {
        tally += coroutine.join().unwrap_or_default();
    }
    Sample::new(elapsed, n, tally.sent, tally.received)
}

/// Forwards the token until no hop is left. The coroutine that receives the last hop notifies the
/// root and sends [`END`] around the ring.
fn pass_on(
    entered: Option<spsc::Receiver<u64>>,
    mailbox: &spsc::Receiver<u64>,
    next: &spsc::Sender<u64>,
    root: &mpsc::Sender<()>,
) -> Tally {
    let mut tally = Tally::default();
    let first = entered.and_then(|entered| entered.recv().ok());
    for hops in first.into_iter().chain(mailbox) {
        if hops == END {
            break;
        }
        tally.received += 1;
        if hops == 1 {
            let _ = root.send(());
            break;
        }
        tally.sent += u64::from(next.send(hops - 1).is_ok());
    }
    // Fails only for the coroutine before the one that received the last hop, which has ended.
    let _ = next.send(END);
    tally
}
