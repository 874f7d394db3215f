//! Sessions of `best`: what a client is told, and what becomes of messages that come twice.

mod common;

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;

use common::{Gated, Keep, Kept, Running, anywhere, connect, exactly, message, rest, start};
use purlin_ack::frames::Frame;
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::{Limits, Server};
use purlin_ack::session::{ANSWER, Answer, Level, NAME, Opened, Opening, Status};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, HEAD, Id, Reason, Refusal, SizeOrder};

const ME: [u8; 16] = *b"sixteen letters!";

fn opening(epoch: u64) -> Opening {
    Opening { client: ME, epoch, level: Level::Handled }
}

/// Opens a session; the connection, and what the server says.
fn open(to: SocketAddr, opening: &Opening) -> (TcpStream, Answer) {
    let mut stream = connect(to);
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    let answer = answer(&mut stream);
    (stream, answer)
}

fn answer(stream: &mut TcpStream) -> Answer {
    let head: [u8; HEAD] = exactly(stream).expect("the server answers");
    let size = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
    let mut payload = vec![0; size];
    std::io::Read::read_exact(stream, &mut payload).expect("the answer is whole");
    assert!(HEAD + size >= ANSWER);
    let mut name = NAME;
    name.0.copy_from_slice(&head[..8]);
    Answer::of(&Frame { id: name, payload: &payload }).expect("an answer")
}

fn newest(answer: Answer) -> Option<u64> {
    match answer {
        Answer::Opened(Opened { newest, .. }) => newest,
        Answer::Refused(status) => panic!("{status}"),
    }
}

fn send(stream: &mut TcpStream, ids: std::ops::Range<u64>) {
    let bytes: Vec<u8> = ids.flat_map(|id| message(id, b"hello", SizeOrder::Little)).collect();
    stream.write_all(&bytes).expect("the server reads");
}

/// Reads acks until that one.
fn acked(stream: &mut TcpStream, id: u64) {
    loop {
        let ack = Ack::from_bytes(exactly(stream).expect("there is an ack"));
        if ack.id == Id::from(id) {
            return;
        }
    }
}

fn keeping() -> (Running, Kept) {
    let keep = Keep::default();
    let kept = keep.0.clone();
    (start(Server::builder(anywhere()).handler(move |_| keep.clone())), kept)
}

#[test]
fn a_client_that_comes_back_is_told_what_it_has_been_answered_and_nothing_is_handled_twice() {
    let (server, kept) = keeping();
    let (mut first, told) = open(server.address(), &opening(1));
    assert_eq!(newest(told), None);
    send(&mut first, 0..42);
    acked(&mut first, 41);
    drop(first);
    let (mut second, told) = open(server.address(), &opening(1));
    assert_eq!(newest(told), Some(41));
    // It sends too much all the same; the acks begin behind what it was told.
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
fn messages_right_behind_the_opening_are_handled() {
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
fn a_later_epoch_begins_anew_and_an_older_one_is_stale() {
    let (server, _) = keeping();
    let (mut first, _) = open(server.address(), &opening(1));
    send(&mut first, 0..10);
    acked(&mut first, 9);
    let (second, told) = open(server.address(), &opening(2));
    assert_eq!(newest(told), None);
    // The older connection has been closed.
    assert_eq!(rest(&mut first), b"");
    let (mut third, told) = open(server.address(), &opening(1));
    assert_eq!(told, Answer::Refused(Status::STALE));
    assert_eq!(rest(&mut third), b"");
    // And that has not disturbed the newer one.
    assert_eq!(server.counts().connections_ever, 3);
    drop((first, second, third));
    server.drain();
}

#[test]
fn an_opening_that_cannot_be_granted_is_answered_with_why_and_closed() {
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
fn a_client_that_comes_back_while_its_batch_is_handled_waits_for_that() {
    let gated = Gated::default();
    let make = gated.clone();
    let server = start(Server::builder(anywhere()).handler(move |_| make.clone()));
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

#[test]
fn who_is_forgotten_is_told_so() {
    let limits = Limits { clients: NonZeroUsize::MIN, ..Limits::default() };
    let server = start(Server::builder(anywhere()).limits(limits));
    let (mut one, _) = open(server.address(), &opening(1));
    send(&mut one, 0..3);
    acked(&mut one, 2);
    let other = Opening { client: [7; 16], ..opening(1) };
    let (two, _) = open(server.address(), &other);
    let (three, told) = open(server.address(), &opening(1));
    assert_eq!(newest(told), None);
    drop((one, two, three));
    server.drain();
}

/// Refuses what is odd.
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
fn messages_that_the_handler_refuses_are_refused_one_by_one_and_told_again() {
    let server = start(Server::builder(anywhere()).handler(|_| Even::default()));
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
    let told: [u8; 68] = exactly(&mut stream).expect("all are answered");
    assert_eq!(told[..], due);
    drop(stream);
    let (stream, told) = open(server.address(), &opening(1));
    let Answer::Opened(opened) = told else { panic!("{told:?}") };
    assert_eq!(opened.newest, Some(4));
    assert_eq!(opened.refused.iter().map(|refusal| refusal.id).collect::<Vec<_>>(), [1, 3]);
    drop(stream);
    let counts = server.drain();
    assert_eq!((counts.messages, counts.refusals), (3, 2));
}

#[test]
fn without_a_session_a_refusal_ends_the_connection_behind_what_was_before_it() {
    for strategy in Strategy::ALL {
        let builder = Server::builder(anywhere()).strategy(strategy);
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
    let limits = Limits { largest: 100, ..Limits::default() };
    let server = start(Server::builder(anywhere()).limits(limits));
    let (mut stream, told) = open(server.address(), &opening(1));
    let Answer::Opened(opened) = told else { panic!("{told:?}") };
    assert_eq!(opened.largest, 100);
    let bytes = [message(0, b"hello", SizeOrder::Little), message(1, &[0; 101], SizeOrder::Little)];
    stream.write_all(&bytes.concat()).expect("the server reads");
    let ack = Ack { id: Id::from(0), skipped: 0 }.to_bytes();
    let refusal = Refusal { id: 1, reason: Reason::TOO_LARGE }.to_bytes();
    assert_eq!(rest(&mut stream), [&ack[..], &refusal].concat());
    drop(stream);
    // It is answered, so it need not be sent again.
    let (stream, told) = open(server.address(), &opening(1));
    assert_eq!(newest(told), Some(1));
    drop(stream);
    assert_eq!(server.drain().too_large, 1);
}
