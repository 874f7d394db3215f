//! Nodes that know the cookie and try to exhaust a node: its memory stays bounded, another node is served meanwhile, and
//! each request is answered exactly once when its node reads again. The node under attack runs in a separate process,
//! so that its memory can be measured.

use std::collections::HashSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::processes::echoes;
use crate::program::{self, Program};
use crate::support::{Beam, COOKIE, Epmd, cookie, in_time, until_async};
use purlin::supervisor::{ChildSpec, Shutdown, SupervisorSpec};
use purlin::{Exit, Node, Process, consume_budget};
use purlin_dist::cluster::{Cluster, GenCall};
use purlin_dist::connect::{self, Lengths};
use purlin_dist::control::{Control, Named, Spawn};
use purlin_dist::frame::Signal;
use purlin_dist::handshake::LocalNode;
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Flags, NodeName};
use purlin_term::{Atom, Pid, Reference, Term};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio::task::spawn_blocking;

const NODE: &str = "exhaustion::the_node_under_attack";
/// Environment variable: the port of epmd.
const EPMD: &str = "PURLIN_DIST_EPMD";
/// Maximum memory of the node beyond that at its start.
const MOST: u64 = 256 << 20;
/// Bytes of the binary that an exported function returns: more than a fragment.
const BYTES: usize = 70_000;
/// Number of calls that the process `collects` receives before it answers: more memory of answers than [`MOST`].
const COLLECTED: u32 = 6000;

/// The tick time is not tested here, and a deaf node must not lose its connection to it. The limits of answers are low,
/// so that fewer requests reach them.
fn untimed() -> Settings {
    let tick_time = Duration::from_secs(24 * 3600);
    let (answer_limit, suspend_limit) = (4 << 20, 64 << 20);
    Settings { tick_time, answer_limit, suspend_limit, ..Settings::default() }
}

/// A node with the process `echo` and the function `attack:bytes/1`, which returns its argument and a large binary. For
/// each line on its standard input it prints how many functions have run or answers of `collects` were sent, and how many
/// messages were dropped.
#[tokio::test]
async fn the_node_under_attack() {
    if !program::is(NODE) {
        return;
    }
    let port: u16 = env::var(EPMD).expect("it is set").parse().expect("a port");
    let node = Node::builder().workers(2).build().expect("a node");
    let name = "ours@127.0.0.1".parse().expect("a name");
    let builder = Cluster::builder(name).cookie(COOKIE).epmd(([127, 0, 0, 1], port).into());
    let cluster = builder.settings(untimed()).start(&node).await.expect("it joins");
    echoes(&cluster);
    let ran = Arc::new(AtomicU64::new(0));
    collects(&cluster, Arc::clone(&ran));
    supervises(&cluster).await;
    let count = Arc::clone(&ran);
    let exported = cluster.export("attack", "bytes", 1, move |mut arguments| {
        count.fetch_add(1, Ordering::Relaxed);
        let bytes = Term::from(vec![7; BYTES].as_slice());
        std::future::ready(Ok(Term::tuple([arguments.remove(0), bytes])))
    });
    exported.expect("a short name");
    println!("\nready");
    let line = || std::io::stdin().read_line(&mut String::new());
    while let Ok(Ok(1..)) = spawn_blocking(line).await {
        let dropped: u64 = cluster.traffic().iter().map(|(_, traffic)| traffic.dropped).sum();
        println!("counts {} {dropped}", ran.load(Ordering::Relaxed));
    }
}

/// Spawns the process `collects`, which answers [`COLLECTED`] calls after the last one has arrived, each with its tag
/// and a large binary.
fn collects(cluster: &Cluster, answered: Arc<AtomicU64>) {
    let answers = cluster.clone();
    let collects = cluster.node().spawn(async move |mut me: Process<Term>| {
        let mut calls = Vec::new();
        while calls.len() < COLLECTED as usize {
            calls.push(GenCall::try_from(me.receive().await).expect("a call"));
        }
        for call in calls {
            answers.reply(call, Term::from(vec![7; BYTES].as_slice()));
            answered.fetch_add(1, Ordering::Relaxed);
            consume_budget().await;
        }
    });
    cluster.node().register("collects", &collects).expect("the name is free");
}

/// Starts the supervisor `crowd`. The answers to its requests have a child with an id of [`BYTES`], and it stops the child
/// `slow` until the function `attack:release/0` is called.
async fn supervises(cluster: &Cluster) {
    let release = Arc::new(Notify::new());
    let slow = {
        let release = Arc::clone(&release);
        move |me: Process<Exit>| {
            let release = Arc::clone(&release);
            async move {
                me.trap_exit(true);
                release.notified().await;
            }
        }
    };
    let large =
        ChildSpec::worker("x".repeat(BYTES), async |mut me: Process<()>| me.receive().await);
    let slow = ChildSpec::worker("slow", slow).shutdown(Shutdown::Infinity);
    let supervisor = SupervisorSpec::one_for_one().name("crowd").child(slow).child(large);
    cluster.node().spawn(async move |mut me: Process<()>| {
        supervisor.start_link(&me).await.expect("the name is free");
        me.receive().await;
    });
    let exported = cluster.export("attack", "release", 0, move |_| {
        release.notify_one();
        std::future::ready(Ok(Term::atom("ok")))
    });
    exported.expect("a short name");
}

/// A node in a child process with its memory at the start, and a BEAM that it serves.
struct Attacked {
    epmd: Epmd,
    program: Program,
    beam: Beam,
    before: u64,
}

impl Attacked {
    async fn start() -> Self {
        let epmd = Epmd::start();
        let mut program = Program::start(NODE, &[(EPMD, &epmd.port.to_string())]);
        program.said("ready").await;
        let beam = Beam::start(&epmd, "beam").await;
        let mut attacked = Self { epmd, program, beam, before: 0 };
        // The first connection allocates what the process keeps.
        attacked.serves().await;
        attacked.before = attacked.program.resident();
        attacked
    }

    /// The node answers a call of the BEAM.
    async fn serves(&mut self) {
        let call = "gen_server:call({echo, 'ours@127.0.0.1'}, hello, infinity)";
        assert_eq!(self.beam.eval(call).await, "hello");
    }

    /// Returns how many functions have run or answers were sent, and how many messages were dropped.
    async fn counts(&mut self) -> (u64, u64) {
        self.program.send_line("counts").await;
        let counts = self.program.said("counts ").await;
        let (ran, dropped) = counts.split_once(' ').expect("two numbers");
        (ran.parse().expect("a number"), dropped.parse().expect("a number"))
    }

    /// A connection of `wrong@127.0.0.1`, which knows the cookie.
    async fn let_in(&self) -> (TcpStream, purlin_dist::handshake::Established) {
        let ours: NodeName = "ours@127.0.0.1".parse().expect("a name");
        let mut stream = connect::dial(&self.epmd.ask(), &ours).await.expect("it listens");
        let name = "wrong@127.0.0.1".parse().expect("a name");
        let local = LocalNode { name, creation: 7, flags: Flags::OFFERED };
        let called = connect::call(&mut stream, Lengths::Two, &local, ours, cookie(), || true);
        let established = called.await.expect("it knows the cookie");
        (stream, established)
    }

    /// A node that reads nothing until its signals are received.
    async fn deaf(&self) -> (Link, mpsc::Receiver<Signal>) {
        let (stream, established) = self.let_in().await;
        let (receive, signals) = mpsc::channel(1);
        // A low watermark, so that a wait for capacity ends soon if the node reads.
        let settings = Settings { high_watermark: 64 << 10, ..untimed() };
        (Link::start(stream, established, settings, receive), signals)
    }

    /// Sends signals until the node takes no more while it answers the BEAM. Returns their number.
    async fn attack(&mut self, link: &Link, most: u32, signal: impl Fn(u32) -> Signal) -> u32 {
        let mut refused = 0;
        let mut sent = 0;
        while sent < most && refused < 300 {
            let next = tokio::time::timeout(Duration::ZERO, link.send(signal(sent))).await;
            match next {
                Ok(result) => {
                    result.expect("the connection stays");
                    (sent, refused) = (sent + 1, 0);
                }
                Err(_) => {
                    refused += 1;
                    self.serves().await;
                }
            }
            if sent % 10_000 == 0 {
                self.serves().await;
            }
        }
        self.checks_memory();
        sent
    }

    fn checks_memory(&self) {
        let grown = self.program.peak().saturating_sub(self.before);
        println!("{grown} bytes more at the peak");
        assert!(grown < MOST, "{grown} bytes more at the peak");
    }
}

/// Part of a request. WHY: fewer requests then reach the limit of held ones.
fn padding() -> Term {
    Term::from(vec![7; 4000].as_slice())
}

fn theirs() -> Pid {
    Pid { node: Atom::from_static("wrong@127.0.0.1"), id: 5, serial: 0, creation: 7 }
}

fn reference(number: u32) -> Reference {
    let node = Atom::from_static("wrong@127.0.0.1");
    Reference::new(node, 7, &[number, 0, 0]).expect("three words")
}

async fn next(signals: &mut mpsc::Receiver<Signal>) -> Signal {
    in_time("a signal", signals.recv()).await.expect("the connection stays")
}

/// Returns the number of the request in `{Number, Binary}`, of a function or a process.
fn number_of(result: &Term) -> u32 {
    let [number, bytes] = result.as_tuple().expect("a tuple") else { panic!("{result}") };
    assert_eq!(bytes.as_binary().map(<[u8]>::len), Some(BYTES));
    purlin_term::from_term(number).expect("a number")
}

#[tokio::test]
async fn requests_to_rex_of_a_node_that_does_not_read_wait_and_are_answered_once() {
    const MOST_REQUESTS: u32 = 100_000;
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    let request = |number: u32| {
        let arguments = Term::list([Term::from(number)]);
        let call = [
            Term::atom("call"),
            Term::atom("attack"),
            Term::atom("bytes"),
            arguments,
            // In place of the group leader.
            padding(),
        ];
        let payload = Term::tuple([Term::from(theirs()), Term::tuple(call)]);
        let to = Atom::from_static("rex");
        let control = Control::RegSend { from: theirs(), to, token: None };
        Signal { control, payload: Some(payload) }
    };
    let sent = attacked.attack(&link, MOST_REQUESTS, request).await;
    assert!(sent < MOST_REQUESTS, "the node takes requests without bound");
    let (ran, _) = attacked.counts().await;
    assert!(ran < 2000, "{ran} of {sent} have run");
    let mut answered = HashSet::new();
    while answered.len() < sent as usize {
        let payload = next(&mut signals).await.payload.expect("an answer");
        let [tag, result] = payload.as_tuple().expect("a tuple") else { panic!("{payload}") };
        assert!(tag.is_atom("rex"));
        assert!(answered.insert(number_of(result)), "answered twice");
    }
    assert_eq!(attacked.counts().await, (sent.into(), 0));
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn spawn_requests_of_a_node_that_does_not_read_wait_and_are_answered_once() {
    const MOST_REQUESTS: u32 = 100_000;
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    let request = |number: u32| {
        let spawn = Spawn {
            request: reference(number),
            from: theirs(),
            group_leader: theirs(),
            module: Atom::from_static("erpc"),
            function: Atom::from_static("execute_call"),
            arity: 4,
            options: vec![Term::atom("monitor")],
            token: None,
        };
        let arguments = Term::list([Term::from(number)]);
        let call = [padding(), Term::atom("attack"), Term::atom("bytes"), arguments];
        Signal { control: Control::Spawn(Box::new(spawn)), payload: Some(Term::list(call)) }
    };
    let sent = attacked.attack(&link, MOST_REQUESTS, request).await;
    assert!(sent < MOST_REQUESTS, "the node takes requests without bound");
    let (ran, _) = attacked.counts().await;
    assert!(ran < 2000, "{ran} of {sent} have run");
    let (mut spawned, mut answered) = (HashSet::new(), HashSet::new());
    while answered.len() < sent as usize {
        match next(&mut signals).await {
            Signal { control: Control::Spawned { request, result, .. }, .. } => {
                result.expect("a pid");
                assert!(spawned.insert(request), "answered twice");
            }
            Signal { control: Control::Down { reference, .. }, payload: Some(reason) } => {
                assert!(spawned.contains(&reference), "the answer comes first");
                let [_, _, value] = reason.as_tuple().expect("a tuple") else { panic!("{reason}") };
                assert!(answered.insert(number_of(value)), "answered twice");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(attacked.counts().await, (sent.into(), 0));
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn monitors_of_dead_processes_by_a_node_that_does_not_read_wait_and_fire_once() {
    const MOST_MONITORS: u32 = 1_000_000;
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    let dead = Pid { node: Atom::from_static("ours@127.0.0.1"), id: 9, serial: 9, creation: 3 };
    let monitor = |number: u32| {
        let to = Named::Pid(dead.clone());
        let control = Control::Monitor { from: theirs(), to, reference: reference(number) };
        Signal { control, payload: None }
    };
    let sent = attacked.attack(&link, MOST_MONITORS, monitor).await;
    assert!(sent < MOST_MONITORS, "the node takes monitors without bound");
    let mut fired = HashSet::new();
    while fired.len() < sent as usize {
        let Signal { control, payload } = next(&mut signals).await;
        let Control::Down { reference, .. } = control else { panic!("{control:?}") };
        assert_eq!(payload, Some(Term::atom("noproc")));
        assert!(fired.insert(reference), "it fires twice");
    }
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn requests_to_a_supervisor_of_a_node_that_does_not_read_wait_and_are_answered_once() {
    const REQUESTS: u32 = 12_000;
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    let request = |number: u32| {
        let from = Term::tuple([Term::from(theirs()), Term::from(number)]);
        let (kind, request) = match number {
            0 => ("$gen_call", Term::tuple([Term::atom("terminate_child"), Term::atom("slow")])),
            _ if number.is_multiple_of(2) => ("$gen_call", Term::atom("which_children")),
            _ => ("system", Term::atom("get_status")),
        };
        let kind = Term::atom(kind);
        let to = Atom::from_static("crowd");
        let control = Control::RegSend { from: theirs(), to, token: None };
        Signal { control, payload: Some(Term::tuple([kind, from, request])) }
    };
    let sent = attacked.attack(&link, REQUESTS, request).await;
    let release = "erpc:call('ours@127.0.0.1', attack, release, [])";
    assert_eq!(attacked.beam.eval(release).await, "ok");
    // The supervisor handles this after the requests that it has received.
    let children = "length(supervisor:which_children({crowd, 'ours@127.0.0.1'}))";
    assert_eq!(attacked.beam.eval(children).await, "2");
    attacked.checks_memory();
    let mut answered = HashSet::new();
    while answered.len() < sent as usize {
        let payload = next(&mut signals).await.payload.expect("an answer");
        let [number, _] = payload.as_tuple().expect("a tuple") else { panic!("{payload}") };
        let number: u32 = purlin_term::from_term(number).expect("a number");
        assert!(answered.insert(number), "answered twice");
    }
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn calls_with_large_answers_of_a_node_that_does_not_read_wait_and_are_answered_once() {
    const MOST_CALLS: u32 = 20_000;
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    let call = |number: u32| {
        let from = Term::tuple([Term::from(theirs()), Term::from(number)]);
        let request = Term::from(vec![7; BYTES].as_slice());
        let payload = Term::tuple([Term::atom("$gen_call"), from, request]);
        let to = Atom::from_static("echo");
        let control = Control::RegSend { from: theirs(), to, token: None };
        Signal { control, payload: Some(payload) }
    };
    let sent = attacked.attack(&link, MOST_CALLS, call).await;
    assert!(sent < MOST_CALLS, "the node takes calls without bound");
    let mut answered = HashSet::new();
    while answered.len() < sent as usize {
        let payload = next(&mut signals).await.payload.expect("an answer");
        assert!(answered.insert(number_of(&payload)), "answered twice");
    }
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn process_that_answers_a_node_that_does_not_read_is_suspended() {
    let mut attacked = Attacked::start().await;
    let (link, mut signals) = attacked.deaf().await;
    for number in 0..COLLECTED {
        let from = Term::tuple([Term::from(theirs()), Term::from(number)]);
        let payload = Term::tuple([Term::atom("$gen_call"), from, Term::NIL]);
        let to = Atom::from_static("collects");
        let control = Control::RegSend { from: theirs(), to, token: None };
        let signal = Signal { control, payload: Some(payload) };
        link.send(signal).await.expect("the connection stays");
    }
    let most = (2 * untimed().suspend_limit / BYTES) as u64;
    let (mut answered, mut unchanged) = (0, 0);
    // WHY until then: a node that reads meanwhile would receive the answers as fast as they are sent.
    while answered < most && (answered == 0 || unchanged < 100) {
        attacked.serves().await;
        let (now, _) = attacked.counts().await;
        unchanged = if now == answered { unchanged + 1 } else { 0 };
        answered = now;
    }
    assert!(answered < most, "{answered} answers wait for a node that does not read");
    for number in 0..COLLECTED {
        let payload = next(&mut signals).await.payload.expect("an answer");
        assert_eq!(number_of(&payload), number);
    }
    attacked.serves().await;
    attacked.checks_memory();
}

#[tokio::test]
async fn atoms_of_unfinished_messages_are_bounded() {
    const MESSAGES: u64 = 1200;
    let mut attacked = Attacked::start().await;
    let (mut stream, _) = attacked.let_in().await;
    for message in 0..MESSAGES {
        let mut frame = [&[131, 69][..], &message.to_be_bytes(), &9u64.to_be_bytes()].concat();
        // 255 new atoms with long lengths.
        frame.push(255);
        frame.extend([0x88; 127]);
        frame.push(0x18);
        for slot in 0..255u8 {
            let number = message * 255 + u64::from(slot);
            let text = format!("{number:020}{}", "😀".repeat(235));
            frame.push(slot);
            frame.extend((text.len() as u16).to_be_bytes());
            frame.extend(text.as_bytes());
        }
        let length = (frame.len() as u32).to_be_bytes();
        stream.write_all(&length).await.expect("it reads");
        stream.write_all(&frame).await.expect("it reads");
        if message % 100 == 0 {
            attacked.serves().await;
        }
    }
    let kept = (32 << 20) / (255 * 960);
    let dropped = async || {
        attacked.serves().await;
        attacked.counts().await.1 >= MESSAGES - kept
    };
    until_async("the messages beyond the limit are dropped", dropped).await;
    attacked.checks_memory();
}
