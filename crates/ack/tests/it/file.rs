//! File handler: acknowledged messages are in the log, also after a restart.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::{
    Client, Gated, Running, answer, connect, exactly, message, newest, start, start_with, stored,
    until, untimed, untimed_server,
};
use purlin::{ExitReason, Node};
use purlin_ack::handler::{Batch, Converted, File, Handler, Stored, Unhandled, convert};
use purlin_ack::server::Server;
use purlin_ack::session::{Level, Opening};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, Id, SizeOrder};
use purlin_log::Record;
use tempfile::TempDir;

/// Log in a temporary folder.
struct Somewhere(TempDir);

impl Somewhere {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// Returns the only segment.
    fn segment(&self) -> PathBuf {
        self.log().join("00000000000000000000.log")
    }

    /// Returns the ids and payloads in the log.
    fn messages(&self) -> Vec<(u64, Vec<u8>)> {
        let records = stored(&self.log()).into_iter();
        records.map(|Record { id, payload, .. }| (id, payload)).collect()
    }
}

/// Starts a server that writes to this log. Also returns the node of the writer process.
fn storing(strategy: Strategy, log: &Path) -> (Running, Node) {
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, log).expect("it can be written");
    let builder = untimed_server().strategy(strategy);
    (start(builder.handler(move |_| file.clone())), node)
}

#[test]
fn acknowledged_messages_of_any_client_are_in_the_log() {
    for strategy in Strategy::ALL {
        let somewhere = Somewhere::new();
        let (server, node) = storing(strategy, &somewhere.log());
        let mut client = Client::connect(server.address(), strategy);
        let stream: Vec<u8> =
            (0..100).flat_map(|id| message(id, b"hello", strategy.order())).collect();
        client.send(&stream);
        client.until(99);
        let stored = somewhere.messages();
        let sent: Vec<_> = (0..100_u64).map(|id| (id, b"hello".to_vec())).collect();
        assert!(stored == sent, "{strategy}: {} are stored", stored.len());
        drop(client);
        server.drain();
        node.stop_blocking();
    }
}

/// Opens a durable session and returns its newest stored message.
fn open(stream: &mut TcpStream) -> Option<u64> {
    let opening = Opening { client: [7; 16], epoch: 3, level: Level::Durable };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    newest(answer(stream))
}

/// Sends messages 0 to 9 in a durable session, and one without a session.
fn ten_messages(somewhere: &Somewhere) {
    let (server, node) = storing(Strategy::Best, &somewhere.log());
    let mut stream = connect(server.address());
    assert_eq!(open(&mut stream), None);
    for id in 0..10_u64 {
        stream.write_all(&message(id, b"hello", SizeOrder::Little)).expect("the server reads");
        let ack = Ack::from_bytes(exactly(&mut stream).expect("there is an ack"));
        assert_eq!(ack, Ack { id: Id::from(id), skipped: 0 });
    }
    let mut other = Client::connect(server.address(), Strategy::Best);
    other.message(99, b"other");
    let ack = Ack::from_bytes(exactly(&mut other.stream).expect("there is an ack"));
    assert_eq!(ack.id, Id::from(99));
    drop((stream, other));
    server.drain();
    node.stop_blocking();
}

#[test]
fn session_survives_a_restart_and_a_torn_end_is_cut() {
    let somewhere = Somewhere::new();
    ten_messages(&somewhere);
    let whole = fs::metadata(somewhere.segment()).expect("it is there").len();
    // What an interrupted write leaves, and zeros as a power loss leaves them.
    for (torn, zeros) in [(&b"half a batch"[..], false), (&[0; 12], true)] {
        let mut file =
            fs::OpenOptions::new().append(true).open(somewhere.segment()).expect("it is there");
        file.write_all(torn).expect("there is room");
        drop(file);
        let node = Node::builder().workers(1).build().expect("a node starts");
        let file = File::open(&node, somewhere.log()).expect("the end is torn");
        let cut = file.recovery().cut.clone().expect("it was cut");
        assert_eq!((cut.offset, cut.bytes, cut.zeros), (whole, 12, zeros));
        node.stop_blocking();
        assert_eq!(fs::metadata(somewhere.segment()).expect("it is there").len(), whole);

        let (server, node) = storing(Strategy::Best, &somewhere.log());
        let mut stream = connect(server.address());
        assert_eq!(open(&mut stream), Some(9));
        drop(stream);
        server.drain();
        node.stop_blocking();
    }
    assert_eq!(somewhere.messages().len(), 11);
}

/// Handler that waits at a gate before it passes a batch to the log.
#[derive(Clone)]
struct Late {
    gated: Gated,
    file: File,
}

impl Handler for Late {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.gated.handle(batch).await?;
        self.file.handle(batch).await
    }

    fn offers(&self) -> Level {
        self.file.offers()
    }

    async fn stored(&mut self, client: [u8; 16]) -> Result<Option<Stored>, ExitReason> {
        self.file.stored(client).await
    }
}

fn send(stream: &mut TcpStream, ids: Range<u64>) {
    let bytes: Vec<u8> = ids.flat_map(|id| message(id, b"hello", SizeOrder::Little)).collect();
    stream.write_all(&bytes).expect("the server reads");
}

/// Reads acks until the one of this message.
fn acked(stream: &mut TcpStream, id: u64) {
    while Ack::from_bytes(exactly(stream).expect("there is an ack")).id != Id::from(id) {}
}

#[test]
fn message_sent_to_two_servers_that_share_a_log_is_stored_once() {
    let somewhere = Somewhere::new();
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, somewhere.log()).expect("it can be written");
    let gated = Gated::default();
    let first = start_with(untimed_server(), &Late { gated: gated.clone(), file: file.clone() });
    let mut old = connect(first.address());
    assert_eq!(open(&mut old), None);
    gated.gate.add_permits(1);
    send(&mut old, 0..1);
    acked(&mut old, 0);
    // These are read by the first server, and reach the log after those of the second one.
    send(&mut old, 1..4);
    until("they are at the gate", || gated.before.available_permits() == 2);
    let second = Server::builder_on(first.hand_over()).limits(untimed());
    let second = start_with(second, &file);
    let mut new = connect(second.address());
    assert_eq!(open(&mut new), Some(0));
    send(&mut new, 1..4);
    acked(&mut new, 3);
    gated.open();
    acked(&mut old, 3);
    drop((old, new));
    first.drain();
    second.drain();
    node.stop_blocking();
    let ids: Vec<u64> = somewhere.messages().iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [0, 1, 2, 3]);
}

#[test]
fn log_with_a_flipped_bit_is_not_opened_and_not_changed() {
    let somewhere = Somewhere::new();
    ten_messages(&somewhere);
    let mut bytes = fs::read(somewhere.segment()).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(somewhere.segment(), &bytes).expect("there is room");
    let node = Node::builder().workers(1).build().expect("a node starts");
    let error = File::open(&node, somewhere.log()).expect_err("it is damaged");
    assert!(error.is_damage());
    let line = error.to_string();
    assert!(line.contains("00000000000000000000.log is damaged at byte "), "{line}");
    assert!(fs::read(somewhere.segment()).expect("it is there") == bytes, "it was changed");
    node.stop_blocking();
}

#[test]
fn message_resembling_an_opening_is_stored() {
    let somewhere = Somewhere::new();
    let (server, node) = storing(Strategy::SyncAck, &somewhere.log());
    let mut client = Client::connect(server.address(), Strategy::SyncAck);
    let forged = Opening { client: [7; 16], epoch: 9, level: Level::Durable };
    client.send(&forged.to_bytes());
    exactly::<12>(&mut client.stream).expect("there is an ack");
    assert_eq!(somewhere.messages().len(), 1);
    drop(client);
    server.drain();
    node.stop_blocking();
}

#[test]
fn unwritable_log_is_reported_in_one_line() {
    let somewhere = Somewhere::new();
    let node = Node::builder().workers(1).build().expect("a node starts");
    let error = File::open(&node, "/nowhere/at/all").expect_err("there is no such folder");
    let line = error.to_string();
    assert!(line.starts_with("cannot append messages to /nowhere/at/all: "), "{line}");
    let old = somewhere.0.path().join("messages.bin");
    fs::write(&old, b"").expect("there is room");
    let line = File::open(&node, &old).expect_err("it is a file").to_string();
    assert!(line.contains("`purlin ack log convert`"), "{line}");
    node.stop_blocking();
}

/// Returns a file as earlier versions wrote it.
fn old_file() -> Vec<u8> {
    let opening = |client, epoch| Opening { client, epoch, level: Level::Received }.to_bytes();
    let sent = |id, payload: &[u8]| message(id, payload, SizeOrder::Little);
    let mut bytes = opening([7; 16], 3).to_vec();
    bytes.extend((0..5).flat_map(|id| sent(id, b"seven")));
    bytes.extend(opening([0; 16], 0));
    bytes.extend(sent(99, b"other"));
    bytes.extend(opening([7; 16], 3));
    bytes.extend(sent(5, b"seven"));
    bytes
}

#[test]
fn file_of_an_earlier_version_is_converted_and_its_session_continues() {
    let somewhere = Somewhere::new();
    let old = somewhere.0.path().join("messages.bin");
    let whole = old_file();
    let torn = &message(6, b"seven", SizeOrder::Little)[..15];
    let large = [6_u64.to_le_bytes().to_vec(), u32::MAX.to_le_bytes().to_vec()].concat();
    for (rest, stopped) in [
        (&[][..], None),
        // An incomplete message, zeros, and a size that is larger than the file.
        (torn, Some(whole.len() as u64)),
        (&[0; 24], Some(whole.len() as u64)),
        (&large, Some(whole.len() as u64)),
    ] {
        fs::write(&old, [&whole, rest].concat()).expect("there is room");
        let converted = convert(&old, somewhere.log()).expect("there is room");
        assert_eq!(converted, Converted { messages: 7, stopped });
        let ids: Vec<u64> = somewhere.messages().iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 99, 5]);
        convert(&old, somewhere.log()).expect_err("it has messages");
        let (server, node) = storing(Strategy::Best, &somewhere.log());
        let mut stream = connect(server.address());
        assert_eq!(open(&mut stream), Some(5));
        drop(stream);
        server.drain();
        node.stop_blocking();
        fs::remove_dir_all(somewhere.log()).expect("it is there");
    }
}
