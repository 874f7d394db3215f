//! Shared test utilities: a node with a server, a client that verifies every answer, observable
//! handlers, and other kinds of servers and programs.

// WHY: each test binary includes this module and uses part of it.
#![allow(dead_code)]

#[cfg(feature = "tls")]
pub(crate) mod certificates;
pub(crate) mod over;
pub(crate) mod plain;
pub(crate) mod programs;

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use purlin::{Node, Process};
use purlin_ack::client::{self, Backoff};
use purlin_ack::frames::Frame;
use purlin_ack::handler::{Batch, Count, Handler, Unhandled};
use purlin_ack::server::{Builder, Counts, Limits, Server};
use purlin_ack::session::{ANSWER, Answer};
use purlin_ack::strategy::Strategy;
use purlin_ack::verifier::{self, AckVerifier};
use purlin_ack::wire::{HEAD, Head, Id, SizeOrder};
use purlin_log::{Reader, Record};
pub(crate) use purlin_polling::{HANG, until};
use socket2::{Domain, Socket, Type};
use tokio::sync::Semaphore;

use over::{Case, Wire};

/// Backoff of test clients.
pub(crate) const SOON: Backoff =
    Backoff { first: Duration::from_millis(1), most: Duration::from_millis(20) };

/// A timeout that no test reaches, however slow the machine.
pub(crate) const NEVER: Duration = Duration::from_secs(86_400);

/// Limits without timeouts.
pub(crate) fn untimed() -> Limits {
    Limits { idle_timeout: Some(NEVER), drain: NEVER, ..Limits::default() }
}

/// Returns a server on a free port that discards messages, with [`untimed`] limits.
pub(crate) fn untimed_server() -> Builder<fn(SocketAddr) -> Count> {
    Server::builder(anywhere()).limits(untimed())
}

/// Returns a client without timeouts.
pub(crate) fn untimed_client(to: impl ToString) -> client::Builder {
    let builder = client::Client::builder(to.to_string()).backoff(SOON);
    builder.connect_within(NEVER).answer_timeout(NEVER).give_up_after(NEVER)
}

/// Returns the messages in a log.
pub(crate) fn stored(log: &Path) -> Vec<Record> {
    let mut reader = Reader::open(log, 0).expect("it is there");
    std::iter::from_fn(|| reader.next().expect("it is whole")).collect()
}

/// Returns the number that is a message's payload.
pub(crate) fn number(record: &Record) -> u64 {
    u64::from_le_bytes(record.payload[..].try_into().expect("a number"))
}

/// Runs the test for all cases in parallel: each spends most of its time waiting for the server's
/// timers.
pub(crate) fn for_each_at_once<T: Send>(
    cases: impl IntoIterator<Item = T>,
    test: impl Fn(T) + Sync,
) {
    let test = &test;
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || test(case));
        }
    });
}

/// Returns a runtime for clients of the library.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a thread can be started")
}

/// A server with a dedicated node.
pub(crate) struct Running {
    pub(crate) node: Node,
    server: Option<Arc<Server>>,
}

pub(crate) fn anywhere() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Starts a server on a new node with two workers.
pub(crate) fn start<F, H>(builder: Builder<F>) -> Running
where
    F: Fn(SocketAddr) -> H + Clone + Send + Sync + 'static,
    H: Handler,
{
    let node = Node::builder().workers(2).build().expect("a node starts");
    let on = node.clone();
    let started = node.block_on(async move |_: Process<()>| builder.start(&on).await);
    Running { node, server: Some(Arc::new(started.expect("the server starts"))) }
}

/// Starts a server each of whose connections has a clone of the handler.
pub(crate) fn start_with<F, H>(builder: Builder<F>, handler: &H) -> Running
where
    H: Handler + Clone + Sync,
{
    let handler = handler.clone();
    start(builder.handler(move |_| handler.clone()))
}

/// Starts a server of that strategy that discards messages.
pub(crate) fn counting(case: impl Into<Case>) -> Running {
    start(case.into().builder())
}

impl Running {
    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("it has not been drained")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server().local_addr()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.server().counts()
    }

    /// Stops accepting and returns the server's socket.
    pub(crate) fn hand_over(&self) -> TcpListener {
        let server = self.server.clone().expect("it has not been drained");
        let socket = self.node.block_on(async move |_: Process<()>| server.hand_over().await);
        socket.expect("there is a descriptor")
    }

    /// Drains the server and stops its node.
    pub(crate) fn drain(mut self) -> Counts {
        let server = self.server.take().expect("it has not been drained");
        let server = Arc::into_inner(server).expect("no other reference");
        let counts = self.node.block_on(async move |_: Process<()>| server.drain().await);
        until("all processes have ended", || self.node.processes().is_empty());
        self.node.stop_blocking();
        counts
    }

    /// Waits until the counts satisfy the predicate.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(Counts) -> bool) {
        until(what, || holds(self.counts()));
    }
}

/// Encodes a message.
pub(crate) fn message(id: u64, payload: &[u8], order: SizeOrder) -> Vec<u8> {
    let size = u32::try_from(payload.len()).expect("a payload of a test is small");
    [&Head { id: Id::from(id), size }.to_bytes(order), payload].concat()
}

/// Returns the payload of a message, a function of its id and length.
pub(crate) fn payload(id: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u64 * 31 + id) as u8).collect()
}

/// A client that verifies the answers.
pub(crate) struct Client {
    pub(crate) stream: Wire,
    pub(crate) verifier: AckVerifier,
    pub(crate) order: SizeOrder,
}

impl Client {
    pub(crate) fn connect(to: SocketAddr, case: impl Into<Case>) -> Self {
        let Case { strategy, tls } = case.into();
        Self::on(Wire::connect(to, tls), strategy)
    }

    /// Uses an existing connection.
    pub(crate) fn on(stream: impl Into<Wire>, strategy: Strategy) -> Self {
        let stream = stream.into();
        let verifier = match strategy {
            Strategy::RequestReply => AckVerifier::replies(),
            _ => AckVerifier::acks(),
        };
        Self { stream, verifier, order: strategy.order() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends a message.
    pub(crate) fn message(&mut self, id: u64, payload: &[u8]) {
        self.send(&message(id, payload, self.order));
    }

    /// Reads answers until all messages up to `id` are acknowledged.
    pub(crate) fn until(&mut self, id: u64) {
        assert!(self.is_acknowledged(id), "closed before message {id} was acknowledged");
    }

    /// Reads answers until all messages up to `id` are acknowledged or the server closes. Returns
    /// whether they are acknowledged.
    pub(crate) fn is_acknowledged(&mut self, id: u64) -> bool {
        while self.verifier.newest().is_none_or(|newest| newest < id) {
            if !self.read() {
                return false;
            }
        }
        assert_eq!(self.verifier.newest(), Some(id), "more is acknowledged than was sent");
        true
    }

    /// Reads answers until the server closes. Returns the newest acknowledged id.
    pub(crate) fn until_closed(&mut self) -> Option<u64> {
        while self.read() {}
        self.verifier.newest()
    }

    /// Reads once. Returns `false` at the end of the stream.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                let mut bytes = &bytes[..count];
                while let Some(answer) = self.verifier.take(&mut bytes).expect("acks leave no gap")
                {
                    assert!(matches!(answer, verifier::Answer::Acked { .. }));
                }
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("nothing came: {error}"),
        }
    }
}

/// Opens a connection whose reads and writes time out.
pub(crate) fn connect(to: SocketAddr) -> TcpStream {
    try_connect(to).expect("the port is open")
}

pub(crate) fn try_connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HANG))?;
    stream.set_write_timeout(Some(HANG))?;
    Ok(stream)
}

/// Returns a listener whose connections have small send buffers, with room for few unread acks.
pub(crate) fn listener_with_little_room() -> TcpListener {
    let listener = socket();
    listener.set_send_buffer_size(4096).expect("it is a socket");
    listener.bind(&anywhere().into()).expect("there is a port");
    listener.listen(16).expect("it is bound");
    listener.into()
}

/// Opens a connection with a small receive buffer, with room for few acks.
pub(crate) fn connect_with_little_room(to: SocketAddr) -> TcpStream {
    let client = socket();
    client.set_recv_buffer_size(4096).expect("it is a socket");
    client.set_tcp_nodelay(true).expect("it is a socket");
    client.connect(&to.into()).expect("the port is open");
    client.into()
}

fn socket() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, None).expect("there is a descriptor")
}

/// Id and payload of a message.
pub(crate) type Message = (u64, Vec<u8>);

/// Messages handled, of all connections.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<Message>>>);

impl Kept {
    pub(crate) fn push(&self, batch: &Batch<'_>) {
        self.extend(batch.frames());
    }

    pub(crate) fn extend<'a>(&self, frames: impl Iterator<Item = Frame<'a>>) {
        let frames = frames.map(|frame| (frame.id.number(), frame.payload.to_vec()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(frames);
    }

    pub(crate) fn take(&self) -> Vec<Message> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn ids(&self) -> Vec<u64> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|(id, _)| *id).collect()
    }
}

/// Handler that records messages.
#[derive(Clone, Default)]
pub(crate) struct Recorder(pub(crate) Kept);

impl Handler for Recorder {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.0.push(&batch);
        Ok(())
    }
}

/// Handler that panics at every thousandth message and records the other batches.
#[derive(Clone, Default)]
pub(crate) struct Nervous {
    pub(crate) kept: Kept,
    pub(crate) seen: Arc<AtomicU64>,
}

impl Handler for Nervous {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        for _ in batch.frames() {
            let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
            assert!(!seen.is_multiple_of(1000), "on purpose");
        }
        self.kept.push(&batch);
        Ok(())
    }
}

/// Handler that records a batch once it gets a permit for it.
#[derive(Clone)]
pub(crate) struct Gated {
    pub(crate) kept: Kept,
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) before: Arc<Semaphore>,
}

impl Default for Gated {
    fn default() -> Self {
        let closed = || Arc::new(Semaphore::new(0));
        Self { kept: Kept::default(), gate: closed(), before: closed() }
    }
}

impl Gated {
    /// Waits until a handler waits for a permit.
    pub(crate) fn wait(&self) {
        until("a batch is at the gate", || self.before.available_permits() > 0);
    }

    /// Issues permits for all batches of the test.
    pub(crate) fn open(&self) {
        self.gate.add_permits(1_000_000);
    }
}

impl Handler for Gated {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.before.add_permits(1);
        self.gate.acquire().await.expect("it is open").forget();
        self.kept.push(&batch);
        Ok(())
    }
}

/// Reads a stream to its end.
pub(crate) fn rest(stream: &mut impl io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("the server does not close: {error}"),
    }
}

/// Reads the server's answer to an opening.
pub(crate) fn answer(stream: &mut impl io::Read) -> Answer {
    let head = exactly(stream).expect("the server answers");
    let Head { id, size } = Head::from_bytes(head, SizeOrder::Little);
    assert!(HEAD + size as usize >= ANSWER);
    let mut payload = vec![0; size as usize];
    stream.read_exact(&mut payload).expect("the answer is whole");
    Answer::of(&Frame { id, payload: &payload }).expect("an answer")
}

/// Returns the newest answered message of a session. Panics if the session was refused.
pub(crate) fn newest(answer: Answer) -> Option<u64> {
    match answer {
        Answer::Opened(opened) => opened.newest,
        Answer::Refused(status) => panic!("{status}"),
    }
}

/// Reads exactly `N` bytes.
pub(crate) fn exactly<const N: usize>(stream: &mut impl io::Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
