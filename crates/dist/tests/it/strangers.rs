//! Robustness of a whole node: unauthenticated clients, and faulty nodes that know the cookie. Each costs one log line
//! and its own connection; other connections are unaffected.

use std::time::Duration;

use crate::log::Log;
use crate::pair::frame;
use crate::processes::{beam_and_ours, echoes, found, join, start, term};
use crate::support::{Beam, COOKIE, Epmd, cookie, until};
use purlin::Node;
use purlin_dist::cluster::Cluster;
use purlin_dist::connect::{self, Lengths};
use purlin_dist::control::Control;
use purlin_dist::frame::Signal;
use purlin_dist::handshake::LocalNode;
use purlin_dist::link::Settings;
use purlin_dist::{Flags, NodeName};
use purlin_term::{Atom, Pid, Term};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

fn name(text: &str) -> NodeName {
    text.parse().expect("a name")
}

async fn echoes_to(beam: &mut Beam) {
    assert_eq!(
        beam.eval("gen_server:call({echo, 'ours@127.0.0.1'}, hello, infinity)").await,
        "hello"
    );
}

/// Returns a connection without a handshake.
async fn stranger(epmd: &Epmd, cluster: &Cluster) -> TcpStream {
    connect::dial(&epmd.ask(), cluster.name()).await.expect("it listens")
}

/// Returns a connection of the node `wrong@127.0.0.1`, which knows the cookie.
async fn let_in(epmd: &Epmd, cluster: &Cluster) -> TcpStream {
    let mut stream = stranger(epmd, cluster).await;
    let local = LocalNode { name: name("wrong@127.0.0.1"), creation: 7, flags: Flags::OFFERED };
    let us = cluster.name().clone();
    let called = connect::call(&mut stream, Lengths::Two, &local, us, cookie(), || true).await;
    called.expect("it knows the cookie");
    stream
}

/// Waits until the other side has closed the connection.
async fn closed(mut stream: TcpStream) {
    let mut bytes = Vec::new();
    // The connection is reset if data were unread.
    let _ = stream.read_to_end(&mut bytes).await;
}

/// Waits until the cluster has no connection to that node.
async fn gone(cluster: &Cluster, node: &str) {
    let (sender, down) = oneshot::channel::<()>();
    cluster.when_down(&name(node), move |_| drop(sender));
    down.await.expect_err("nothing is sent");
}

/// Returns the pid of a process of the faulty node.
fn theirs() -> Pid {
    Pid { node: Atom::from_static("wrong@127.0.0.1"), id: 5, serial: 0, creation: 7 }
}

/// Returns a message to the process with that name.
fn message(to: &str, payload: Term) -> Signal {
    let to = Atom::new(to).expect("short");
    Signal { control: Control::RegSend { from: theirs(), to, token: None }, payload: Some(payload) }
}

/// Returns a frame of a message to the process `echo` with this payload.
fn bytes_for_echo(payload: &[u8]) -> Vec<u8> {
    let nothing = frame(message("echo", Term::NIL), Flags::REQUIRED);
    // Without the length, and without the empty list and its version byte.
    let control = &nothing[4..nothing.len() - 2];
    let length = (control.len() + payload.len()) as u32;
    [&length.to_be_bytes(), control, payload].concat()
}

#[tokio::test]
async fn garbage_from_unauthenticated_clients_costs_one_line_each() {
    let (epmd, mut beam, cluster) = beam_and_ours().await;
    echoes(&cluster);
    for (bytes, line) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "a frame of 18245 bytes; a handshake needs at most"),
        (b"\xff\xff\xff\xff\xff\xff", "a frame of 65535 bytes; a handshake needs at most"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "it speaks TLS, which this node does not"),
        (b"\0\x05hello", "not a handshake: a name was due"),
        (b"", "a handshake came to nothing: "),
    ] {
        let log = Log::new();
        let mut stream = stranger(&epmd, &cluster).await;
        stream.write_all(bytes).await.expect("it listens");
        stream.shutdown().await.expect("it listens");
        closed(stream).await;
        log.is_one_line_with(line);
        echoes_to(&mut beam).await;
    }
    assert_eq!(cluster.nodes(), [name("beam@127.0.0.1")]);
}

#[tokio::test]
async fn silent_clients_keep_no_beam_out() {
    let (epmd, mut beam, cluster) = beam_and_ours().await;
    echoes(&cluster);
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(stranger(&epmd, &cluster).await);
    }
    let mut newcomer = Beam::start(&epmd, "newcomer").await;
    echoes_to(&mut newcomer).await;
    echoes_to(&mut beam).await;
    // Places are limited, and the oldest clients have lost theirs.
    closed(silent.swap_remove(0)).await;
}

#[tokio::test]
async fn number_of_concurrent_calls_to_other_nodes_is_bounded() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = elsewhere.local_addr().expect("an address");
    let builder = Cluster::builder(name("ours@127.0.0.1")).cookie(COOKIE).only_calls();
    let builder = builder.epmd_of("10.9.9.9", address);
    let cluster = builder.start(&Node::builder().build().expect("a node")).await.expect("it joins");
    let mut calls = JoinSet::new();
    for number in 0..100 {
        let (cluster, node) = (cluster.clone(), name(&format!("n{number}@10.9.9.9")));
        calls.spawn(async move { cluster.connect(&node).await });
    }
    // An epmd that does not answer.
    let mut open = Vec::new();
    while open.len() < 64 {
        open.push(elsewhere.accept().await.expect("a call"));
    }
    let none = timeout(Duration::ZERO, elsewhere.accept()).await;
    assert!(none.is_err(), "{none:?}");
    // The end of one lets the next one begin.
    drop(open.pop());
    elsewhere.accept().await.expect("a call");
}

#[tokio::test]
async fn a_node_with_faulty_frames_is_disconnected_with_one_line_and_no_other_node_is() {
    let (epmd, mut beam, cluster) = beam_and_ours().await;
    echoes(&cluster);
    let mut deep = vec![131];
    for _ in 0..1_000_000 {
        deep.extend_from_slice(&[108, 0, 0, 0, 1]);
    }
    let bomb = [&[131, 80][..], &u32::MAX.to_be_bytes(), b"\x78\x9c\x03\0"].concat();
    let huge = [&[131, 109][..], &u32::MAX.to_be_bytes(), b"some"].concat();
    for (bytes, line) in [
        (b"\xff\xff\xff\xff\x83\x44".to_vec(), "a frame of 4294967295 bytes, more than allowed"),
        (b"\0\0\0\x05hello".to_vec(), "a frame that begins like none"),
    ] {
        let log = Log::new();
        let mut stream = let_in(&epmd, &cluster).await;
        // The connection may be closed before everything is written.
        let _ = stream.write_all(&bytes).await;
        gone(&cluster, "wrong@127.0.0.1").await;
        log.is_one_line_with(line);
        assert!(log.lines()[0].contains("peer=wrong@127.0.0.1"), "{:?}", log.lines());
        echoes_to(&mut beam).await;
    }
    // An invalid message costs itself alone.
    let mut stream = let_in(&epmd, &cluster).await;
    for (bytes, count) in [(deep, 1), (bomb, 2), (huge, 3)] {
        stream.write_all(&bytes_for_echo(&bytes)).await.expect("it reads");
        let dropped = || {
            let traffic = cluster.traffic();
            let wrong = traffic.iter().find(|(node, _)| *node == name("wrong@127.0.0.1"));
            wrong.expect("it stays connected").1.dropped
        };
        until("the message is dropped", || dropped() == count).await;
        echoes_to(&mut beam).await;
    }
}

/// Returns the resident memory of this program in bytes.
fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    pages.split(' ').nth(1).expect("the second number").parse::<usize>().expect("a number") * 4096
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn hundreds_of_thousands_of_atoms_take_no_permanent_memory() {
    const MESSAGES: usize = 400;
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let takes = start(&cluster, "takes", async |mut me, _| {
        for _ in 0..MESSAGES {
            assert_eq!(term(&mut me).await.as_list().map(<[Term]>::len), Some(1000));
        }
    });
    let mut stream = let_in(&epmd, &cluster).await;
    let before = memory();
    for message_number in 0..MESSAGES {
        let atoms = (0..1000).map(|number| {
            let text = format!("{:0150}", 1000 * message_number + number);
            Term::Atom(Atom::new(&text).expect("short"))
        });
        let bytes = frame(message("takes", Term::list(atoms)), Flags::REQUIRED);
        stream.write_all(&bytes).await.expect("it reads");
    }
    found(takes).await;
    let more = memory().saturating_sub(before);
    // If they were kept, they would take more than 60 MB.
    assert!(more < 30 << 20, "{more} bytes");
    assert_eq!(cluster.nodes(), [name("wrong@127.0.0.1")]);
}

#[tokio::test]
async fn a_node_that_never_ticks_is_disconnected_after_the_tick_time_with_one_line() {
    let (epmd, log) = (Epmd::start(), Log::new());
    // WHY real time: the other node sends nothing, so the tick time expires whatever its length.
    let settings = Settings { tick_time: Duration::from_millis(400), ..Settings::default() };
    let builder = Cluster::builder(name("ours@127.0.0.1")).cookie(COOKIE).settings(settings);
    let builder = builder.epmd(([127, 0, 0, 1], epmd.port).into());
    let cluster = builder.start(&Node::builder().build().expect("a node")).await.expect("it joins");
    let stream = let_in(&epmd, &cluster).await;
    gone(&cluster, "wrong@127.0.0.1").await;
    log.is_one_line_with("disconnected: the other node has been silent for the tick time");
    closed(stream).await;
}
