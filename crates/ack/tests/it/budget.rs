//! Budget of bytes for read buffers: buffers that no message needs are freed for messages that need
//! bytes, and a client that does not read its answers keeps neither bytes nor its session.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

use crate::common::{
    Client, Running, answer, connect, connect_with_little_room, listener_with_little_room, message,
    newest, start, until, untimed, untimed_server,
};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::{Limits, Server};
use purlin_ack::session::{Level, Opening};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Reason, Refusal, SizeOrder};

fn limits() -> Limits {
    Limits { buffer_bytes: 1 << 20, ..untimed() }
}

/// Handler that refuses messages without a payload.
struct RefusesEmpty;

impl Handler for RefusesEmpty {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let empty = batch.frames().filter(|frame| frame.payload.is_empty());
        let refusal = |id| Refusal { id, reason: Reason::NOT_TAKEN };
        let refused: Vec<_> = empty.map(|frame| refusal(frame.id.number())).collect();
        if refused.is_empty() { Ok(()) } else { Err(Unhandled::Refused(refused)) }
    }
}

/// A server whose connections have little room for answers.
fn server() -> Running {
    let builder = Server::builder_on(listener_with_little_room()).limits(limits());
    start(builder.handler(|_| RefusesEmpty))
}

const OPENING: Opening = Opening { client: *b"sixteen letters!", epoch: 1, level: Level::Handled };

/// Returns a client with a session that has sent a message of this length, and then more refused
/// messages than there is room for answers. It reads none of them.
fn slow_reader(to: SocketAddr, length: usize) -> TcpStream {
    let mut stream = connect_with_little_room(to);
    let mut bytes = OPENING.to_bytes().to_vec();
    bytes.extend(message(0, &vec![7; length], SizeOrder::Little));
    for id in 1..10_000 {
        bytes.extend(message(id, b"", SizeOrder::Little));
    }
    stream.write_all(&bytes).expect("there is room in the buffers");
    stream
}

#[test]
fn busy_connections_leave_bytes_for_a_large_message() {
    let server = start(untimed_server().limits(limits()));
    let mut busy: Vec<_> =
        (0..8).map(|_| Client::connect(server.address(), Strategy::Best)).collect();
    // WHY that many: a buffer that a read has filled grows.
    let burst = |first: u64| -> Vec<u8> {
        (first..first + 2000).flat_map(|id| message(id, b"", SizeOrder::Little)).collect()
    };
    for client in &mut busy {
        client.send(&burst(0));
        client.until(1999);
    }
    let mut large = Client::connect(server.address(), Strategy::Best);
    large.message(0, &vec![7; 400 << 10]);
    large.until(0);
    for client in &mut busy {
        client.send(&burst(2000));
        client.until(3999);
    }
    assert_eq!(server.counts().over_budget, 0);
    drop((busy, large));
    server.until("the budget is given back", |counts| counts.buffer_bytes == 0);
    server.drain();
}

#[test]
fn connection_that_waits_for_its_client_frees_a_buffer_for_another() {
    let server = start(untimed_server().limits(limits()));
    let mut clients: Vec<_> =
        (0..2).map(|_| Client::connect(server.address(), Strategy::Best)).collect();
    for id in 0..3 {
        for client in &mut clients {
            client.message(id, &vec![7; 900 << 10]);
            client.until(id);
        }
    }
    assert_eq!(server.counts().over_budget, 0);
    drop(clients);
    server.drain();
}

#[test]
fn client_that_reads_no_answers_keeps_no_bytes_from_others() {
    let server = server();
    let slow = slow_reader(server.address(), 800 << 10);
    server.until("a message is refused", |counts| counts.refusals > 0);
    let large = message(0, &vec![7; 900 << 10], SizeOrder::Little);
    // WHY attempts: the first one may have begun before the slow reader had no room for answers, and
    // is then closed in place of it.
    until("a large message is answered", || {
        let mut client = Client::connect(server.address(), Strategy::Best);
        client.stream.write_all(&large).is_ok() && client.is_acknowledged(0)
    });
    drop(slow);
    server.until("the budget is given back", |counts| counts.buffer_bytes == 0);
    server.drain();
}

#[test]
fn only_client_may_send_a_message_larger_than_the_budget() {
    for strategy in Strategy::ALL {
        let limits = Limits { buffer_bytes: 256 << 10, ..untimed() };
        let server = start(untimed_server().strategy(strategy).limits(limits));
        for _ in 0..3 {
            let mut client = Client::connect(server.address(), strategy);
            client.message(0, &vec![7; 400 << 10]);
            client.until(0);
            drop(client);
            server.until("the budget is given back", |counts| counts.buffer_bytes == 0);
        }
        assert_eq!(server.counts().over_budget, 0, "{strategy}");
        server.drain();
    }
}

#[test]
fn stalled_async_ack_connection_with_an_unfinished_message_gives_way() {
    let server = start(untimed_server().strategy(Strategy::AsyncAck).limits(limits()));
    let mut stalled = Client::connect(server.address(), Strategy::AsyncAck);
    let large = message(0, &vec![7; 900 << 10], Strategy::AsyncAck.order());
    stalled.stream.write_all(&large[..800 << 10]).expect("it is read");
    server.until("its bytes are charged", |counts| counts.buffer_bytes > 700 << 10);
    // WHY attempts: a connection that finds no bytes is closed, and counts as stalled only after some time.
    until("a large message is answered", || {
        let mut client = Client::connect(server.address(), Strategy::AsyncAck);
        client.stream.write_all(&large).is_ok() && client.is_acknowledged(0)
    });
    drop(stalled);
    server.until("the budget is given back", |counts| counts.buffer_bytes == 0);
    server.drain();
}

#[test]
fn session_continues_at_once_if_its_older_connection_reads_no_answers() {
    let server = server();
    let slow = slow_reader(server.address(), 1);
    server.until("a message is refused", |counts| counts.refusals > 0);
    let mut new = connect(server.address());
    new.write_all(&OPENING.to_bytes()).expect("the server reads");
    // There is no timeout after which the older connection would be killed.
    assert!(newest(answer(&mut new)).is_some_and(|newest| newest > 0));
    drop((slow, new));
    server.drain();
}
