//! Throttle makes exactly two reads per message, as counted by `strace` in a separate process
//! running this binary.

use std::env;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use crate::common::over::uninterrupted;
use crate::common::programs;
use crate::common::{anywhere, connect, message, start, untimed};
use purlin_ack::server::Server;
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{ACK, SizeOrder};

const MESSAGES: usize = 1000;
/// Size of the client's read buffer in bytes.
const ROOM: usize = 4096;

/// A client and a throttle server; all messages arrive before the server reads the first.
#[test]
fn the_program_that_is_counted() {
    if !programs::is("faithful::the_program_that_is_counted") {
        return;
    }
    let listener = TcpListener::bind(anywhere()).expect("there is a port");
    let mut client = connect(listener.local_addr().expect("it is bound"));
    let stream: Vec<u8> =
        (0..MESSAGES as u64).flat_map(|id| message(id, b"hello", SizeOrder::Little)).collect();
    client.write_all(&stream).expect("there is room for all of it");
    let builder = Server::builder_on(listener).strategy(Strategy::Throttle).limits(untimed());
    let server = start(builder);
    // WHY a buffer of this size: it distinguishes the client's reads from the server's in the
    // trace.
    let mut room = vec![0; ROOM];
    let mut answers = Vec::new();
    let newest = (MESSAGES as u64 - 1).to_le_bytes();
    while !answers.chunks_exact(ACK).any(|ack: &[u8]| ack[..8] == newest) {
        let count = uninterrupted(|| client.read(&mut room)).expect("the server acknowledges");
        answers.extend_from_slice(&room[..count]);
    }
    drop(client);
    server.drain();
}

#[test]
fn throttle_reads_twice_for_each_message() {
    if Command::new("strace").arg("--version").output().is_err() {
        eprintln!("not checked: there is no strace here");
        return;
    }
    let log = env::temp_dir().join(format!("purlin-ack-strace-{}", std::process::id()));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=recvfrom", "-o"]).arg(&log);
    let ran = programs::running(strace, "faithful::the_program_that_is_counted").status();
    assert!(ran.expect("strace runs").success(), "the program that is counted failed");
    let calls = std::fs::read_to_string(&log).expect("strace has written");
    std::fs::remove_file(&log).expect("it is there");
    // Requested and received bytes of each read of the server, without the client's.
    let reads = calls.lines().filter_map(|line| {
        let (_, call) = line.rsplit_once(", NULL, NULL) = ")?;
        let (asked, _) = line.rsplit_once(", 0, NULL, NULL) = ")?;
        let asked: usize = asked.rsplit_once(", ")?.1.parse().ok()?;
        let got = call.split_whitespace().next()?.parse().unwrap_or(-1_i64);
        (asked != ROOM).then_some((asked as i64, got))
    });
    let due = [(12, 12), (5, 5)].into_iter().cycle().take(2 * MESSAGES);
    // Later reads find nothing, or the end of the stream.
    let reads: Vec<_> = reads.take(2 * MESSAGES).collect();
    assert!(due.eq(reads.iter().copied()), "a head, its payload, and nothing else: {reads:?}");
}
