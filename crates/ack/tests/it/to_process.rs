//! Handler `ToProcess`: a process that begins its blocks too late.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{
    Kept, NEVER, Running, SOON, answer, connect, exactly, message, newest, start, until, untimed,
    untimed_client, untimed_server,
};
use purlin::{Node, Pid, Process};
use purlin_ack::handler::{HandedBatch, ToProcess};
use purlin_ack::server::Limits;
use purlin_ack::session::{Answer, Level, Opening, Status};
use purlin_ack::wire::{Ack, Id, SizeOrder};
use tokio::sync::Semaphore;

/// A process that begins no block before the gate is open.
#[derive(Clone)]
struct Late {
    process: Pid<HandedBatch>,
    gate: Arc<Semaphore>,
    kept: Kept,
    received: Arc<AtomicU64>,
    abandoned: Arc<AtomicU64>,
}

impl Late {
    fn start(node: &Node) -> Self {
        let gate = Arc::new(Semaphore::new(0));
        let (kept, counter) = (Kept::default(), Arc::<AtomicU64>::default);
        let (received, abandoned) = (counter(), counter());
        let own = (Arc::clone(&gate), kept.clone(), Arc::clone(&received), Arc::clone(&abandoned));
        let process = node.spawn(async move |mut me: Process<HandedBatch>| {
            let (gate, kept, received, abandoned) = own;
            loop {
                let mut handed = me.receive().await;
                received.fetch_add(1, Ordering::SeqCst);
                let _open = gate.acquire().await;
                if handed.begin() {
                    kept.extend(handed.block.frames());
                    handed.done();
                } else {
                    abandoned.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Self { process, gate, kept, received, abandoned }
    }

    fn open(&self) {
        self.gate.add_permits(1);
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::SeqCst)
    }

    fn abandoned(&self) -> u64 {
        self.abandoned.load(Ordering::SeqCst)
    }
}

/// Starts a server that sends to the process, and that process on a separate node.
fn late(limits: Limits, timeout: Duration) -> (Running, Node, Late) {
    let node = Node::builder().workers(1).build().expect("a node starts");
    let late = Late::start(&node);
    let to = late.process.clone();
    let builder = untimed_server().limits(limits);
    let server = start(builder.handler(move |_| ToProcess::new(to.clone()).timeout(timeout)));
    (server, node, late)
}

// WHY real time: the timeout of the handler is tested. After the gate is open, a block takes
// microseconds.
#[test]
fn block_not_begun_within_the_timeout_is_abandoned_and_its_messages_are_handled_once() {
    let (server, node, late) = late(untimed(), Duration::from_millis(500));
    let address = server.address();
    let (counts, of_client) = (&server, late.clone());
    crate::common::runtime().block_on(async {
        let client = untimed_client(address).backoff(SOON).session(Level::Handled);
        let client = client.connect().await.expect("the server is there");
        for _ in 0..100 {
            client.send(b"hello").await.expect("the server is there");
        }
        until("the handler has given up", || counts.counts().failed > 0);
        of_client.open();
        client.close().await.expect("all are answered");
    });
    assert!(late.abandoned() >= 1);
    assert!(late.kept.ids().into_iter().eq(0..100), "each once");
    server.drain();
    node.stop_blocking();
}

fn open(to: SocketAddr) -> (TcpStream, Answer) {
    let mut stream = connect(to);
    let opening = Opening { client: [7; 16], epoch: 1, level: Level::Handled };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    let reply = answer(&mut stream);
    (stream, reply)
}

// WHY real time: the server's timeout for the older connection is tested, and the process does not
// reply before.
#[test]
fn block_of_a_killed_connection_is_abandoned_and_its_messages_are_handled_once() {
    let limits = Limits { drain: Duration::from_millis(50), ..untimed() };
    let (server, node, late) = late(limits, NEVER);
    let (mut first, _) = open(server.address());
    let one = message(0, b"hello", SizeOrder::Little);
    first.write_all(&one).expect("the server reads");
    until("the process has the block", || late.received() == 1);
    let (mut second, reply) = loop {
        let (stream, reply) = open(server.address());
        if reply != Answer::Refused(Status::BUSY) {
            break (stream, reply);
        }
    };
    assert_eq!(newest(reply), None, "it is not answered");
    late.open();
    second.write_all(&one).expect("the server reads");
    let ack = Ack::from_bytes(exactly(&mut second).expect("there is an ack"));
    assert_eq!(ack, Ack { id: Id::from(0), skipped: 0 });
    assert_eq!((late.abandoned(), late.kept.ids()), (1, vec![0]));
    drop((first, second));
    server.drain();
    node.stop_blocking();
}
