//! Sessions of `best`: positions reported to the client, and duplicate messages.

use crate::common;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{
    Gated, Kept, Recorder, Running, answer, connect, exactly, message, newest, rest, start,
    start_with, untimed, untimed_server,
};
use purlin::ExitReason;
use purlin_ack::handler::{Batch, Handler, Stored, Unhandled};
use purlin_ack::server::Limits;
use purlin_ack::session::{Answer, Level, NAME, Opening, Status};
use purlin_ack::session_table::CLIENT_BYTES;
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, Id, Reason, Refusal, SizeOrder};

const ME: [u8; 16] = *b"sixteen letters!";

fn opening(epoch: u64) -> Opening {
    Opening { client: ME, epoch, level: Level::Handled }
}

/// Opens a session. Returns the connection and the server's answer.
fn open(to: SocketAddr, opening: &Opening) -> (TcpStream, Answer) {
    let mut stream = connect(to);
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    let answer = answer(&mut stream);
    (stream, answer)
}

/// Opens the session, retrying until the client's old connection has ended.
fn open_when_free(to: SocketAddr) -> (TcpStream, Answer) {
    loop {
        let (stream, reply) = open(to, &opening(1));
        if reply != Answer::Refused(Status::BUSY) {
            return (stream, reply);
        }
    }
}

fn send(stream: &mut TcpStream, ids: std::ops::Range<u64>) {
    let bytes: Vec<u8> = ids.flat_map(|id| message(id, b"hello", SizeOrder::Little)).collect();
    stream.write_all(&bytes).expect("the server reads");
}

/// Reads acks until the one with this id.
fn acked(stream: &mut TcpStream, id: u64) {
    loop {
        let ack = Ack::from_bytes(exactly(stream).expect("there is an ack"));
        if ack.id == Id::from(id) {
            return;
        }
    }
}

fn keeping() -> (Running, Kept) {
    let recorder = Recorder::default();
    let kept = recorder.0.clone();
    (start(untimed_server().handler(move |_| recorder.clone())), kept)
}

#[test]
fn reconnecting_client_gets_its_position_and_no_message_is_handled_twice() {
    let (server, kept) = keeping();
    let (mut first, reply) = open(server.address(), &opening(1));
    assert_eq!(newest(reply), None);
    send(&mut first, 0..42);
    acked(&mut first, 41);
    drop(first);
    let (mut second, reply) = open(server.address(), &opening(1));
    assert_eq!(newest(reply), Some(41));
    // The client resends too much nevertheless; the acks start after its position.
    send(&mut second, 30..50);
    let ack = Ack::from_bytes(exactly(&mut second).expect("there is an ack"));
    assert_eq!(41 + u64::from(ack.skipped) + 1, ack.id.number());
    if ack.id != Id::from(49) {
        acked(&mut second, 49);
    }
    assert_eq!(kept.ids(), (0..50).collect::<Vec<_>>());
    drop(second);
    assert_eq!(server.drain().messages, 50);
}

#[test]
fn an_opening_split_at_any_byte_is_answered() {
    let (server, _) = keeping();
    let bytes = opening(1).to_bytes();
    for (id, cut) in (0..).zip(1..bytes.len()) {
        let mut stream = connect(server.address());
        stream.write_all(&bytes[..cut]).expect("the server reads");
        stream.write_all(&bytes[cut..]).expect("the server reads");
        assert_eq!(newest(answer(&mut stream)), u64::checked_sub(id, 1));
        send(&mut stream, id..id + 1);
        acked(&mut stream, id);
    }
    server.drain();
}

#[test]
fn messages_sent_with_the_opening_are_handled() {
    let (server, kept) = keeping();
    let mut stream = connect(server.address());
    let one = message(0, b"hello", SizeOrder::Little);
    stream.write_all(&[&opening(1).to_bytes()[..], &one].concat()).expect("the server reads");
    assert_eq!(newest(answer(&mut stream)), None);
    acked(&mut stream, 0);
    assert_eq!(kept.ids(), [0]);
    drop(stream);
    server.drain();
}

#[test]
fn later_epoch_restarts_the_session_and_older_epoch_is_stale() {
    let (server, _) = keeping();
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..10);
    acked(&mut first, 9);
    let (mut second, reply) = open(server.address(), &opening(2));
    assert_eq!(newest(reply), None);
    // The older connection has been closed.
    assert_eq!(rest(&mut first), b"");
    // The epoch takes effect with its first answered message.
    send(&mut second, 0..1);
    acked(&mut second, 0);
    let (mut third, reply) = open(server.address(), &opening(1));
    assert_eq!(reply, Answer::Refused(Status::STALE));
    assert_eq!(rest(&mut third), b"");
    // The stale opening has not disturbed the newer connection.
    assert_eq!(server.counts().connections_ever, 3);
    drop((first, second, third));
    server.drain();
}

#[test]
fn refused_opening_is_answered_with_its_status_and_closed() {
    let (server, _) = keeping();
    let durable = Opening { level: Level::Durable, ..opening(1) };
    let mut malformed = message(0, b"short", SizeOrder::Little);
    malformed[..8].copy_from_slice(&NAME.0);
    let mut version = opening(1).to_bytes();
    version[7] = b'2';
    for (bytes, status) in [
        (&durable.to_bytes()[..], Status::LEVEL),
        (&malformed[..], Status::MALFORMED),
        (&version[..], Status::VERSION),
    ] {
        let mut stream = connect(server.address());
        stream.write_all(bytes).expect("the server reads");
        assert_eq!(answer(&mut stream), Answer::Refused(status));
        assert_eq!(rest(&mut stream), b"");
    }
    server.drain();
}

#[test]
fn reconnecting_client_waits_for_its_batch_in_the_handler() {
    let gated = Gated::default();
    let server = start_with(untimed_server(), &gated);
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..1);
    gated.wait();
    let mut second = connect(server.address());
    second.write_all(&opening(1).to_bytes()).expect("the server reads");
    server.until("the second is there", |counts| counts.connections_ever == 2);
    gated.open();
    assert_eq!(newest(answer(&mut second)), Some(0));
    assert_eq!(gated.kept.ids(), [0]);
    drop((first, second));
    server.drain();
}

/// Handler that waits at a gate and records the maximum number of concurrent handlers.
#[derive(Clone, Default)]
struct Alone {
    gated: Gated,
    now: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl Handler for Alone {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        /// Decrements the count when the handler ends in any way.
        struct Here(Arc<AtomicU64>);
        impl Drop for Here {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        let _here = Here(Arc::clone(&self.now));
        self.most.fetch_max(now, Ordering::SeqCst);
        self.gated.handle(batch).await
    }
}

#[test]
fn connections_of_one_client_handle_one_at_a_time_and_one_remains() {
    let alone = Alone::default();
    let server = start_with(untimed_server(), &alone);
    // Each connection sends a message directly after its opening; the handler of the first is
    // blocked.
    let together = [&opening(1).to_bytes()[..], &message(0, b"hello", SizeOrder::Little)].concat();
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..1);
    alone.gated.wait();
    let mut others: Vec<_> = (2..10)
        .map(|_| {
            let mut other = connect(server.address());
            other.write_all(&together).expect("the server reads");
            other
        })
        .collect();
    // One connection waits for the first; each older one was displaced.
    server.until("the others are refused", |counts| counts.sessions_refused == 7);
    alone.gated.open();
    server.until("one remains", |counts| counts.connections == 1);
    let reply: Vec<_> = others.iter_mut().map(answer).collect();
    let busy = reply.iter().filter(|reply| **reply == Answer::Refused(Status::BUSY));
    assert_eq!(busy.count(), 7);
    let opened = reply.into_iter().find(|reply| *reply != Answer::Refused(Status::BUSY));
    assert_eq!(newest(opened.expect("one waited")), Some(0));
    let ack = Ack { id: Id::from(1), skipped: 0 }.to_bytes();
    let acked = others.iter_mut().filter_map(|other| {
        other.write_all(&message(1, b"hello", SizeOrder::Little)).ok()?;
        exactly::<12>(other).ok().filter(|reply| *reply == ack)
    });
    assert_eq!(acked.count(), 1, "of those that were closed nothing is read");
    assert_eq!(alone.most.load(Ordering::SeqCst), 1);
    assert_eq!(alone.gated.kept.ids(), [0, 1], "each once");
    drop((first, others));
    server.drain();
}

// WHY real time: the server's timeout for the handler is tested, and the handler never returns.
#[test]
fn connection_with_a_blocked_handler_is_killed_when_its_client_reconnects() {
    let alone = Alone::default();
    let limits = Limits { drain: Duration::from_millis(50), ..untimed() };
    let server = start_with(untimed_server().limits(limits), &alone);
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..1);
    alone.gated.wait();
    let (mut second, reply) = open_when_free(server.address());
    assert_eq!(newest(reply), None, "what it had has not been answered");
    assert_eq!(rest(&mut first), b"", "nor acknowledged");
    alone.gated.open();
    send(&mut second, 0..1);
    acked(&mut second, 0);
    assert_eq!((alone.most.load(Ordering::SeqCst), &alone.gated.kept.ids()[..]), (1, &[0][..]));
    drop((first, second));
    server.drain();
}

/// Handler that blocks its thread without awaiting, until it is released.
#[derive(Clone, Default)]
struct Stuck {
    kept: Kept,
    at_work: Arc<AtomicU64>,
    free: Arc<AtomicBool>,
}

impl Handler for Stuck {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.at_work.fetch_add(1, Ordering::SeqCst);
        while !self.free.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        self.kept.push(&batch);
        Ok(())
    }
}

// WHY real time: as above.
#[test]
fn client_is_told_busy_while_its_old_connection_cannot_be_killed() {
    let stuck = Stuck::default();
    let limits = Limits { drain: Duration::from_millis(50), ..untimed() };
    let server = start_with(untimed_server().limits(limits), &stuck);
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..1);
    common::until("it is at work", || stuck.at_work.load(Ordering::SeqCst) == 1);
    let busy = Answer::Refused(Status::BUSY).to_bytes();
    for _ in 0..2 {
        // Two connections at a time: one waits for the first connection, and may have to end for
        // the other.
        let mut two = [connect(server.address()), connect(server.address())];
        for stream in &mut two {
            stream.write_all(&opening(1).to_bytes()).expect("the server reads");
        }
        let reply = two.each_mut().map(rest);
        assert!(reply.iter().all(|reply| reply.is_empty() || *reply == busy), "{reply:?}");
        assert!(reply.contains(&busy), "{reply:?}");
    }
    assert_eq!(stuck.at_work.load(Ordering::SeqCst), 1);
    stuck.free.store(true, Ordering::SeqCst);
    // The pending message is answered before the connection reaches a point where it can be killed.
    acked(&mut first, 0);
    let (mut second, reply) = open_when_free(server.address());
    assert_eq!(newest(reply), Some(0));
    send(&mut second, 0..2);
    acked(&mut second, 1);
    assert_eq!(stuck.kept.ids(), [0, 1], "each once");
    drop((first, second));
    server.drain();
}

/// Handler with the stored position of a previous server.
#[derive(Clone)]
struct Storing(Stored);

impl Handler for Storing {
    async fn handle(&mut self, _: Batch<'_>) -> Result<(), Unhandled> {
        Ok(())
    }

    async fn stored(&mut self, _: [u8; 16]) -> Result<Option<Stored>, ExitReason> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn stored_refusals_are_reported_after_a_restart() {
    let refused = vec![Refusal { id: 3, reason: Reason::NOT_TAKEN }];
    let storing = Storing(Stored { epoch: 1, newest: 7, refused: refused.clone() });
    let server = start(untimed_server().handler(move |_| storing.clone()));
    for _ in 0..2 {
        let (_, reply) = open(server.address(), &opening(1));
        let Answer::Opened(opened) = reply else { panic!("{reply:?}") };
        assert_eq!((opened.newest, opened.refused), (Some(7), refused.clone()));
    }
    let (_, reply) = open(server.address(), &opening(0));
    assert_eq!(reply, Answer::Refused(Status::STALE));
    server.drain();
}

#[test]
fn evicted_client_gets_no_position_and_a_connected_one_is_not_evicted() {
    let limits = Limits { session_bytes: CLIENT_BYTES, ..untimed() };
    let server = start(untimed_server().limits(limits));
    let (mut stays, _) = open(server.address(), &opening(1));
    send(&mut stays, 0..3);
    acked(&mut stays, 2);
    let other = Opening { client: [7; 16], ..opening(1) };
    let (mut leaves, _) = open(server.address(), &other);
    send(&mut leaves, 0..3);
    acked(&mut leaves, 2);
    drop(leaves);
    server.until("it is evicted", |counts| counts.sessions_evicted == 1);
    let (again, reply) = open(server.address(), &other);
    assert_eq!(newest(reply), None);
    drop(stays);
    let (stays, reply) = open(server.address(), &opening(1));
    assert_eq!(newest(reply), Some(2));
    drop((again, stays));
    server.drain();
}

#[test]
fn opening_without_a_message_leaves_the_older_epoch_in_effect() {
    let (server, kept) = keeping();
    let (mut owner, _) = open(server.address(), &opening(1));
    send(&mut owner, 0..10);
    acked(&mut owner, 9);
    let (stranger, reply) = open(server.address(), &opening(1_000_000));
    assert_eq!(newest(reply), None);
    drop((owner, stranger));
    let (mut owner, reply) = open(server.address(), &opening(1));
    assert_eq!(newest(reply), Some(9));
    send(&mut owner, 0..12);
    acked(&mut owner, 11);
    assert!(kept.ids().into_iter().eq(0..12), "each once");
    drop(owner);
    server.drain();
}

#[test]
fn epoch_far_ahead_of_the_clock_is_refused_and_ends_no_connection() {
    let (server, _) = keeping();
    let (mut owner, _) = open(server.address(), &opening(1));
    for epoch in [u64::MAX, u64::MAX - 1, u64::MAX / 2] {
        let (mut stranger, reply) = open(server.address(), &opening(epoch));
        assert_eq!(reply, Answer::Refused(Status::EPOCH));
        assert_eq!(rest(&mut stranger), b"");
    }
    send(&mut owner, 0..1);
    acked(&mut owner, 0);
    assert_eq!(server.counts().sessions_refused, 3);
    drop(owner);
    server.drain();
}

/// Handler that refuses messages with odd ids.
#[derive(Clone, Default)]
struct Even(Kept);

impl Handler for Even {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.0.push(&batch);
        let odd = batch.frames().map(|frame| frame.id.number()).filter(|id| id % 2 == 1);
        let reason = Reason(Reason::FIRST_OWN.0 + 7);
        Err(Unhandled::Refused(odd.map(|id| Refusal { id, reason }).collect()))
    }
}

#[test]
fn handler_refusals_are_sent_individually_and_repeated_on_reconnect() {
    let server = start(untimed_server().handler(|_| Even::default()));
    let (mut stream, _) = open(server.address(), &opening(1));
    send(&mut stream, 0..5);
    let refused = |id: u64| {
        let mut bytes = [0xff; 16];
        bytes[..8].copy_from_slice(&id.to_le_bytes());
        bytes[12..].copy_from_slice(&(Reason::FIRST_OWN.0 + 7).to_le_bytes());
        bytes
    };
    let ack = |id: u64| Ack { id: Id::from(id), skipped: 0 }.to_bytes();
    let due = [&ack(0)[..], &refused(1), &ack(2), &refused(3), &ack(4)].concat();
    let reply: [u8; 68] = exactly(&mut stream).expect("all are answered");
    assert_eq!(reply[..], due);
    drop(stream);
    let (stream, reply) = open(server.address(), &opening(1));
    let Answer::Opened(opened) = reply else { panic!("{reply:?}") };
    assert_eq!(opened.newest, Some(4));
    assert_eq!(opened.refused.iter().map(|refusal| refusal.id).collect::<Vec<_>>(), [1, 3]);
    drop(stream);
    let counts = server.drain();
    assert_eq!((counts.messages, counts.refusals), (3, 2));
}

#[test]
fn refusals_beyond_the_session_bytes_close_the_connection_and_are_reported_once() {
    let even = Even::default();
    let kept = even.0.clone();
    let limits = Limits { session_bytes: 2 * CLIENT_BYTES, ..untimed() };
    let server = start_with(untimed_server().limits(limits), &even);
    let refused = Arc::new(AtomicU64::new(0));
    let of_client = Arc::clone(&refused);
    common::runtime().block_on(async {
        let client = common::untimed_client(server.address()).session(Level::Handled).batch(200);
        let client = client.on_refused(move |_| {
            of_client.fetch_add(1, Ordering::SeqCst);
        });
        let client = client.connect().await.expect("the server is there");
        for _ in 0..2000 {
            client.send(b"hello").await.expect("the server is there");
        }
        client.close().await.expect("all are answered");
    });
    assert!(kept.ids().into_iter().eq(0..2000), "each once");
    assert_eq!(refused.load(Ordering::SeqCst), 1000);
    assert!(server.drain().over_budget > 0);
}

#[test]
fn refusal_without_a_session_closes_the_connection_after_earlier_acks() {
    for strategy in Strategy::ALL {
        let builder = untimed_server().strategy(strategy);
        let server = start(builder.handler(|_| Even::default()));
        let mut client = common::Client::connect(server.address(), strategy);
        let order = strategy.order();
        let stream: Vec<u8> = (0..5).flat_map(|id| message(id, b"hello", order)).collect();
        client.send(&stream);
        assert_eq!(client.until_closed(), Some(0), "{strategy}");
        drop(client);
        server.until("it has ended", |counts| counts.connections == 0);
        let counts = server.drain();
        assert_eq!((counts.messages, counts.failed), (1, 1), "{strategy}");
    }
}

#[test]
fn a_message_over_the_limit_is_refused_and_the_connection_closed() {
    let limits = Limits { largest: 100, ..untimed() };
    let server = start(untimed_server().limits(limits));
    let (mut stream, reply) = open(server.address(), &opening(1));
    let Answer::Opened(opened) = reply else { panic!("{reply:?}") };
    assert_eq!(opened.largest, 100);
    let bytes = [message(0, b"hello", SizeOrder::Little), message(1, &[0; 101], SizeOrder::Little)];
    stream.write_all(&bytes.concat()).expect("the server reads");
    let ack = Ack { id: Id::from(0), skipped: 0 }.to_bytes();
    let refusal = Refusal { id: 1, reason: Reason::TOO_LARGE }.to_bytes();
    assert_eq!(rest(&mut stream), [&ack[..], &refusal].concat());
    drop(stream);
    // The message was answered, so the client need not resend it.
    let (stream, reply) = open(server.address(), &opening(1));
    assert_eq!(newest(reply), Some(1));
    drop(stream);
    assert_eq!(server.drain().too_large, 1);
}
