//! Clients that try to exhaust a server: the memory of the server stays bounded, an honest client is
//! answered meanwhile, and no message of it is handled twice. The server runs in a separate
//! process, so that its memory can be measured.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::programs::{self, Program};
use crate::common::{
    Client, answer, anywhere, connect, exactly, message, newest, start, try_connect, until, untimed,
};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::{Limits, Server};
use purlin_ack::session::{Answer, Level, Opening};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, Head, Id, LARGEST, SizeOrder};
use tokio::sync::Semaphore;

const SERVER: &str = "strangers::the_server_for_strangers";
/// Environment variables: the limits of the server in the child process.
const CONNECTIONS: &str = "PURLIN_ACK_CONNECTIONS";
const SESSION_BYTES: &str = "PURLIN_ACK_SESSION_BYTES";
/// Maximum memory of the server beyond that at its start.
const MOST: u64 = 256 << 20;

/// How often each message of each session was handled.
type Ledger = BTreeMap<([u8; 16], u64), u64>;

/// Handler that counts how often each message of each session was handled, and waits for a permit
/// before a message with the payload `wait`.
#[derive(Clone)]
struct Recording {
    handled: Arc<Mutex<Ledger>>,
    gate: Arc<Semaphore>,
    /// Handlers that have come to the gate.
    at_gate: Arc<AtomicUsize>,
}

impl Handler for Recording {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        if batch.frames().any(|frame| frame.payload == b"wait") {
            self.at_gate.fetch_add(1, Ordering::Relaxed);
            self.gate.acquire().await.expect("it is open").forget();
        }
        if let Some(session) = batch.session() {
            let mut handled = self.handled.lock().expect("no thread has panicked");
            for frame in batch.frames() {
                *handled.entry((session.client, frame.id.number())).or_default() += 1;
            }
        }
        Ok(())
    }
}

/// A server that prints its counters for each line on its standard input, and at the end how many
/// messages of sessions were handled, and how many of them more than once.
#[test]
fn the_server_for_strangers() {
    if !programs::is(SERVER) {
        return;
    }
    let set = |name: &str, usual: usize| {
        env::var(name).map_or(usual, |text| text.parse().expect("a number"))
    };
    let limits = Limits {
        connections: set(CONNECTIONS, 16_384),
        session_bytes: set(SESSION_BYTES, Limits::default().session_bytes),
        per_address: usize::MAX,
        ..untimed()
    };
    let handled = Arc::default();
    let gate = Arc::new(Semaphore::new(0));
    let at_gate: Arc<AtomicUsize> = Arc::default();
    let recording = Recording {
        handled: Arc::clone(&handled),
        gate: Arc::clone(&gate),
        at_gate: Arc::clone(&at_gate),
    };
    let builder = Server::builder(anywhere()).limits(limits);
    let server = start(builder.handler(move |_| recording.clone()));
    println!("\nlistening on {}", server.address());
    while let Some(line) = programs::next_line() {
        if line == "go" {
            gate.add_permits(1);
        }
        let counts = server.counts();
        println!(
            "counts {} {} {} {} {} {}",
            counts.sessions_refused,
            counts.sessions_evicted,
            counts.gave_way,
            counts.over_budget,
            counts.buffer_bytes,
            at_gate.load(Ordering::Relaxed)
        );
    }
    server.drain();
    let handled = handled.lock().expect("no thread has panicked");
    let twice = handled.values().filter(|times| **times > 1).count();
    println!("handled {} {twice}", handled.len());
}

/// Counters of the server.
#[derive(Clone, Copy, Debug)]
struct Seen {
    refused: u64,
    evicted: u64,
    gave_way: u64,
    over_budget: u64,
    buffer_bytes: u64,
    at_gate: u64,
}

/// A server in a child process, and its memory at the start.
struct Attacked {
    program: Program,
    address: SocketAddr,
    before: u64,
}

impl Attacked {
    fn start(settings: &[(&str, &str)]) -> Self {
        // WHY: with a fixed threshold the allocator returns each large buffer to the operating system
        // as soon as it is freed. Otherwise it keeps some of them for later allocations.
        let tunables = ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072");
        let settings = settings.iter().chain([&tunables]);
        let settings: Vec<_> = settings.map(|(name, value)| (*name, OsStr::new(*value))).collect();
        let mut program = Program::start(SERVER, &settings);
        let address = program.said("listening on ").parse().expect("an address");
        // The first connection allocates what the process keeps.
        let mut client = Client::connect(address, Strategy::Best);
        client.message(0, b"hello");
        client.until(0);
        let before = program.resident();
        Self { program, address, before }
    }

    fn ask(&mut self, line: &str) -> Seen {
        self.program.send_line(line);
        let said = self.program.said("counts ");
        let counts = said.split(' ').map(|count| count.parse().expect("a number"));
        let counts: [u64; 6] = counts.collect::<Vec<_>>().try_into().expect("six of them");
        let [refused, evicted, gave_way, over_budget, buffer_bytes, at_gate] = counts;
        Seen { refused, evicted, gave_way, over_budget, buffer_bytes, at_gate }
    }

    fn counts(&mut self) -> Seen {
        self.ask("counts")
    }

    /// Connects as a new client without a session, and is answered.
    fn serves_another(&self) {
        let mut client = Client::connect(self.address, Strategy::Best);
        client.message(0, b"hello");
        client.until(0);
    }

    /// Checks the memory. Ends the server, and returns how many messages of sessions were handled.
    /// None was handled twice.
    fn finish(mut self) -> u64 {
        let grown = self.program.peak().saturating_sub(self.before);
        println!("{grown} bytes more at the peak");
        assert!(grown < MOST, "{grown} bytes more at the peak");
        self.program.send_line("end");
        self.program.close_stdin();
        let handled = self.program.said("handled ");
        self.program.finish();
        let (handled, twice) = handled.split_once(' ').expect("two numbers");
        assert_eq!(twice, "0", "of {handled} messages");
        handled.parse().expect("a number")
    }
}

fn opening(client: [u8; 16]) -> Opening {
    Opening { client, epoch: 1, level: Level::Handled }
}

fn open(to: SocketAddr, client: [u8; 16]) -> (TcpStream, Answer) {
    let mut stream = connect(to);
    stream.write_all(&opening(client).to_bytes()).expect("the server reads");
    let reply = answer(&mut stream);
    (stream, reply)
}

/// Sends messages and reads acks until the last one.
fn acked(stream: &mut TcpStream, ids: std::ops::Range<u64>, payload: &[u8]) {
    let last = ids.end - 1;
    let bytes: Vec<u8> = ids.flat_map(|id| message(id, payload, SizeOrder::Little)).collect();
    stream.write_all(&bytes).expect("the server reads");
    while Ack::from_bytes(exactly(stream).expect("there is an ack")).id != Id::from(last) {}
}

/// Client identifier with this number.
fn stranger(number: u64) -> [u8; 16] {
    let mut client = *b"a stranger......";
    client[8..].copy_from_slice(&number.to_le_bytes());
    client
}

#[test]
fn eight_thousand_openings_of_one_session_cost_two_connections() {
    const OPENINGS: u64 = 8000;
    const TOGETHER: u64 = 500;
    let mut server = Attacked::start(&[]);
    let (mut holder, reply) = open(server.address, stranger(0));
    assert_eq!(newest(reply), None);
    holder.write_all(&message(0, b"wait", SizeOrder::Little)).expect("the server reads");
    // WHY: a holder that is asked to end before it has read the message ends without handling it.
    until("the handler has the message", || server.counts().at_gate == 1);
    let mut refused = 0;
    let mut last = None;
    for _ in 0..OPENINGS / TOGETHER {
        let mut strangers: Vec<_> = (0..TOGETHER)
            .map(|_| {
                let mut stream = connect(server.address);
                let bytes = opening(stranger(0)).to_bytes();
                stream.write_all(&bytes).expect("the server reads");
                stream
            })
            .collect();
        strangers.extend(last.take());
        server.serves_another();
        // The newest opening waits; all others are refused as busy.
        refused += TOGETHER - u64::from(refused == 0);
        until("all others are refused", || server.counts().refused == refused);
        // WHY until: an answer may still be on its way when its connection has been counted.
        until("only one has no answer", || {
            strangers.retain(|stream| {
                stream.set_nonblocking(true).expect("it is a socket");
                let peeked = stream.peek(&mut [0]);
                stream.set_nonblocking(false).expect("it is a socket");
                peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
            });
            strangers.len() <= 1
        });
        last = strangers.pop();
        assert!(last.is_some(), "one waits");
    }
    server.ask("go");
    let mut last = last.expect("one waits");
    assert_eq!(newest(answer(&mut last)), Some(0), "the message of the holder was handled");
    assert_eq!(refused, OPENINGS - 1);
    drop((holder, last));
    assert_eq!(server.finish(), 1);
}

#[test]
fn openings_with_random_identifiers_evict_no_client() {
    const OPENINGS: u64 = 3000;
    // Room for fewer positions than there are openings.
    let mut server = Attacked::start(&[(SESSION_BYTES, "20000")]);
    let (mut connected, _) = open(server.address, *b"sixteen letters!");
    acked(&mut connected, 0..300, b"hello");
    let (mut away, _) = open(server.address, *b"sixteen letters?");
    acked(&mut away, 0..300, b"hello");
    drop(away);
    for number in 1..=OPENINGS {
        let (stream, reply) = open(server.address, stranger(number));
        assert_eq!(newest(reply), None);
        drop(stream);
    }
    assert_eq!(server.counts().evicted, 0);
    let (mut away, reply) = open(server.address, *b"sixteen letters?");
    assert_eq!(newest(reply), Some(299));
    acked(&mut away, 0..301, b"hello");
    drop(away);
    // Strangers whose messages are answered evict clients that are not connected.
    for number in 1..=OPENINGS {
        let (mut stream, _) = open(server.address, stranger(number));
        acked(&mut stream, 0..1, b"hello");
    }
    until("strangers are evicted", || server.counts().evicted > OPENINGS - 100);
    server.serves_another();
    drop(connected);
    let (mut connected, reply) = open(server.address, *b"sixteen letters!");
    assert_eq!(newest(reply), Some(299), "a connected client is remembered");
    acked(&mut connected, 0..400, b"hello");
    drop(connected);
    assert_eq!(server.finish(), 400 + 301 + OPENINGS);
}

#[test]
fn unfinished_messages_of_two_hundred_connections_stay_within_the_budget() {
    let mut server = Attacked::start(&[]);
    let head = Head { id: Id::from(0), size: LARGEST }.to_bytes(SizeOrder::Little);
    let block = vec![7; 1 << 20];
    let mut strangers: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = connect(server.address);
            stream.write_all(&head).expect("the server reads");
            stream.set_nonblocking(true).expect("it is a socket");
            (stream, LARGEST as usize - 1)
        })
        .collect();
    until("all are unfinished or closed by the server", || {
        for (stream, left) in &mut strangers {
            while *left > 0 {
                match stream.write(&block[..block.len().min(*left)]) {
                    Ok(count) => *left -= count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => *left = 0,
                }
            }
        }
        strangers.iter().all(|(_, left)| *left == 0)
    });
    server.serves_another();
    // A large message finds room, since the connection that has been idle longest is closed for it.
    let mut large = Client::connect(server.address, Strategy::Best);
    large.message(0, &vec![7; 1 << 20]);
    large.until(0);
    let budget = Limits::default().buffer_bytes as u64;
    let seen = server.counts();
    assert!(seen.over_budget >= 180 && seen.buffer_bytes <= budget, "{seen:?}");
    drop((strangers, large));
    until("the budget is given back", || server.counts().buffer_bytes == 0);
    let mut client = Client::connect(server.address, Strategy::Best);
    client.message(0, &vec![7; LARGEST as usize]);
    client.until(0);
    drop(client);
    server.finish();
}

#[test]
fn new_clients_are_answered_while_idle_connections_hold_all_slots() {
    const SLOTS: usize = 500;
    let mut server = Attacked::start(&[(CONNECTIONS, "500")]);
    let (mut owner, _) = open(server.address, *b"sixteen letters!");
    acked(&mut owner, 0..10, b"hello");
    let mut strangers: Vec<_> = (1..SLOTS).map(|_| connect(server.address)).collect();
    for round in 1..=20 {
        server.serves_another();
        // One message per period keeps no slot for ever.
        for stranger in &mut strangers {
            let sent = stranger.write_all(&message(round, b"", SizeOrder::Little));
            if sent.is_err() {
                *stranger = try_connect(server.address).expect("the server listens");
            }
        }
    }
    server.serves_another();
    assert!(server.counts().gave_way > 0);
    // Connections without a session gave way before the one with a session.
    acked(&mut owner, 10..11, b"hello");
    let mut rest = [0; 1];
    owner.set_nonblocking(true).expect("it is a socket");
    assert!(owner.read(&mut rest).is_err(), "it is open, and there is nothing to read");
    drop((owner, strangers));
    assert_eq!(server.finish(), 11);
}
