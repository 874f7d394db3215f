//! File handler: acknowledged messages are in the file, also after a restart.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use crate::common::{
    Client, Running, answer, connect, exactly, message, newest, start, untimed_server,
};
use purlin::Node;
use purlin_ack::frames::Frames;
use purlin_ack::handler::File;
use purlin_ack::session::{Level, NAME, Opening};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, Id, SizeOrder};

/// Path of a temporary file, removed on drop.
struct Somewhere(PathBuf);

impl Somewhere {
    fn new(name: &str) -> Self {
        let name = format!("purlin-ack-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Returns the ids and payloads in the file, including openings.
    fn messages(&self) -> Vec<(Id, Vec<u8>)> {
        let bytes = fs::read(&self.0).expect("it is there");
        let frames = Frames::new(&bytes, SizeOrder::Little, u32::MAX);
        frames.map(|frame| (frame.id, frame.payload.to_vec())).collect()
    }
}

impl Drop for Somewhere {
    fn drop(&mut self) {
        // A failed test may not have created it.
        let _ = fs::remove_file(&self.0);
    }
}

/// Starts a server that writes to this file. Also returns the node of the writer process.
fn storing(strategy: Strategy, to: &Somewhere) -> (Running, Node) {
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, &to.0).expect("it can be written");
    let builder = untimed_server().strategy(strategy);
    (start(builder.handler(move |_| file.clone())), node)
}

#[test]
fn acknowledged_messages_of_any_client_are_in_the_file() {
    for strategy in Strategy::ALL {
        let somewhere = Somewhere::new(strategy.name());
        let (server, node) = storing(strategy, &somewhere);
        let mut client = Client::connect(server.address(), strategy);
        let stream: Vec<u8> =
            (0..100).flat_map(|id| message(id, b"hello", strategy.order())).collect();
        client.send(&stream);
        client.until(99);
        let stored: Vec<_> =
            somewhere.messages().into_iter().filter(|(id, _)| *id != NAME).collect();
        let sent: Vec<_> = (0..100_u64).map(|id| (Id::from(id), b"hello".to_vec())).collect();
        assert!(stored == sent, "{strategy}: {} are stored", stored.len());
        drop(client);
        server.drain();
        node.stop_blocking();
    }
}

/// Opens a durable session and returns its newest stored message.
fn open(stream: &mut std::net::TcpStream) -> Option<u64> {
    let opening = Opening { client: [7; 16], epoch: 3, level: Level::Durable };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    newest(answer(stream))
}

#[test]
fn session_survives_a_restart_and_incomplete_message_is_truncated() {
    let somewhere = Somewhere::new("session");
    {
        let (server, node) = storing(Strategy::Best, &somewhere);
        let mut stream = connect(server.address());
        assert_eq!(open(&mut stream), None);
        for id in 0..10_u64 {
            stream.write_all(&message(id, b"hello", SizeOrder::Little)).expect("the server reads");
            let ack = Ack::from_bytes(exactly(&mut stream).expect("there is an ack"));
            assert_eq!(ack, Ack { id: Id::from(id), skipped: 0 });
        }
        // A client without a session writes in between.
        let mut other = Client::connect(server.address(), Strategy::Best);
        other.message(99, b"other");
        let ack = Ack::from_bytes(exactly(&mut other.stream).expect("there is an ack"));
        assert_eq!(ack.id, Id::from(99));
        drop((stream, other));
        server.drain();
        node.stop_blocking();
    }
    let whole = fs::metadata(&somewhere.0).expect("it is there").len();
    let cut = message(10, b"hello", SizeOrder::Little);
    let mut file = fs::OpenOptions::new().append(true).open(&somewhere.0).expect("it is there");
    file.write_all(&cut[..15]).expect("there is room");
    drop(file);

    let (server, node) = storing(Strategy::Best, &somewhere);
    assert_eq!(fs::metadata(&somewhere.0).expect("it is there").len(), whole);
    let mut stream = connect(server.address());
    assert_eq!(open(&mut stream), Some(9));
    drop(stream);
    server.drain();
    node.stop_blocking();
}

#[test]
fn message_resembling_an_opening_is_not_stored() {
    let somewhere = Somewhere::new("forged");
    let (server, node) = storing(Strategy::SyncAck, &somewhere);
    let mut client = Client::connect(server.address(), Strategy::SyncAck);
    let forged = Opening { client: [7; 16], epoch: 9, level: Level::Durable };
    client.send(&forged.to_bytes());
    assert_eq!(client.until_closed(), None);
    assert_eq!(somewhere.messages(), []);
    drop(client);
    server.drain();
    node.stop_blocking();
}

#[test]
fn unwritable_file_is_reported_in_one_line() {
    let node = Node::builder().workers(1).build().expect("a node starts");
    let error = File::open(&node, "/nowhere/at/all").expect_err("there is no such directory");
    let line = error.to_string();
    assert!(line.starts_with("cannot append messages to /nowhere/at/all: "), "{line}");
    node.stop_blocking();
}
