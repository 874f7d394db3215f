//! Throttle makes two reads for each message, no more and no less: counted by `strace`, in a program of
//! its own, which is this one.


use std::env;
use std::io::{Read as _, Write as _};
use std::process::Command;

use crate::common::programs;
use crate::common::{anywhere, connect, message, start};
use purlin_ack::server::Server;
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{ACK, SizeOrder};

const MESSAGES: usize = 1000;

/// A client and a throttle server; all messages are there before the server reads the first.
#[test]
fn the_program_that_is_counted() {
    if !programs::is("faithful::the_program_that_is_counted") {
        return;
    }
    let server = start(Server::builder(anywhere()).strategy(Strategy::Throttle));
    let mut client = connect(server.address());
    let stream: Vec<u8> =
        (0..MESSAGES as u64).flat_map(|id| message(id, b"hello", SizeOrder::Little)).collect();
    client.write_all(&stream).expect("the server reads");
    // WHY so much room: its reads are told from the server's by their size.
    let mut room = vec![0; 4096];
    let mut answers = Vec::new();
    let newest = (MESSAGES as u64 - 1).to_le_bytes();
    while !answers.chunks_exact(ACK).any(|ack: &[u8]| ack[..8] == newest) {
        let count = client.read(&mut room).expect("the server acknowledges");
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
    let reads = |size: usize| {
        let asked = format!(", {size}, 0, NULL, NULL) = {size}");
        calls.lines().filter(|line| line.contains(&asked)).count()
    };
    assert_eq!((reads(12), reads(5)), (MESSAGES, MESSAGES), "heads and payloads");
    // What is left is the client's, the end of the stream, and waiting at its beginning and end.
    let others = calls.lines().filter(|line| line.contains(") = ")).count() - 2 * MESSAGES;
    assert!(others < MESSAGES / 10, "{others} reads more");
}
