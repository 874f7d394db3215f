//! Tests of `purlin ack load` against a simple server in the test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::support::{json, purlin, refusing};
use purlin_ack::frames::summarize;
use purlin_ack::pending_acks::PendingAcks;
use purlin_ack::wire::SizeOrder;

/// Starts a server that acknowledges everything it reads and closes a connection after `most`
/// messages. Sends the message count after each read.
fn server(most: u64, counts: Sender<u64>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let counts = counts.clone();
            thread::spawn(move || serve(socket.unwrap(), most, &counts));
        }
    });
    address
}

fn serve(mut socket: TcpStream, most: u64, counts: &Sender<u64>) -> std::io::Result<()> {
    let (mut waiting, mut all, mut owed) = (Vec::new(), 0, PendingAcks::default());
    let mut buffer = [0; 4096];
    while all < most {
        match socket.read(&mut buffer)? {
            0 => break,
            count => waiting.extend(&buffer[..count]),
        }
        let block = summarize(&waiting, SizeOrder::Little, 1000);
        waiting.drain(..block.used);
        all += block.frames;
        owed.add(block);
        // The test may not receive the counts.
        let _ = counts.send(all);
        while let Some(ack) = owed.take() {
            socket.write_all(&ack.to_bytes())?;
        }
    }
    Ok(())
}

fn load(folder: &std::path::Path, words: &[&str]) -> Output {
    purlin(folder).args(["ack", "load"]).args(words).output().expect("purlin runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_load_prints_rates_and_latency_and_writes_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(u64::MAX, channel().0).to_string();
    let words = ["--strategy", "sync-ack", "--rounds", "3", "--messages", "1000"];
    let more = [&address, "--connections", "2", "--json", "x.json", "--nodelay", "--size", "20"];
    let output = load(folder.path(), &[&words[..], &more[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for due in [
        "3 × 1000 messages of 20 bytes on each of 2 connections, 50 in a write",
        "TCP_NODELAY",
        "messages per second",
        "median of 3 rounds",
        "6000 messages by",
        "p99.9",
        "####",
    ] {
        assert!(text.contains(due), "{due} is missing:\n{text}");
    }
    let found = json(&folder.path().join("x.json"));
    assert_eq!((&found["schema"], &found["messages"]), (&1.into(), &6000.into()));
    assert_eq!(found["plan"]["nodelay"], true);
    assert_eq!(found["rounds"].as_array().unwrap().len(), 3);
}

#[test]
fn a_server_that_closes_ends_the_load_with_partial_results_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let address = server(2500, channel().0).to_string();
    let words =
        ["--strategy", "sync-ack", "--rounds", "9", "--messages", "1000", "--json", "x.json"];
    let output = load(folder.path(), &[&words[..], &[&address]].concat());
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    assert!(printed.lines().count() == 1 && printed.starts_with("purlin: 127.0.0.1:"), "{printed}");
    let found = json(&folder.path().join("x.json"));
    assert_eq!(found["rounds"].as_array().unwrap().len(), 2);
    assert!(found["failure"].as_str().is_some_and(|line| printed.contains(line)));
    assert!(String::from_utf8_lossy(&output.stdout).contains("median of 2 rounds"));
}

#[test]
fn invalid_load_arguments_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (_held, closed) = refusing();
    for (words, due) in [
        (&["--strategy", "sync"][..], "sync-ack"),
        (&["--rounds", "0"], "from 1"),
        (&["--messages", "-1"], "from 1"),
        (&["--batch", "0"], "from 1"),
        (&["--window", "0"], "from 1, or none"),
        (&["--size", "1000000000000"], "--size"),
        (&["--nodelay=maybe"], "yes, no"),
        (&["--session", "sure"], "durable"),
        (&["--session", "handled", "--strategy", "throttle"], "throttle has no sessions"),
        (&["--window", "2", "--strategy", "request-reply"], "one message at a time"),
        (&["--size", "16777216"], "bytes of memory"),
        (&["--json", "no/such/place.json"], "cannot write no/such/place.json"),
        (&["nowhere"], "nowhere"),
        (&[&closed], "refused"),
        (&["--fast"], "--fast"),
    ] {
        let output = load(folder.path(), words);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {printed}");
        assert!(printed.lines().count() == 1 && printed.starts_with("purlin: "), "{printed}");
        assert!(printed.contains(due), "{words:?}: {printed}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_load_prints_its_results() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-INT", "-TERM"] {
        let (tx, rx) = channel();
        let address = server(u64::MAX, tx).to_string();
        let mut command = purlin(folder.path());
        command.args(["ack", "load", "--strategy", "sync-ack", "--messages", "1000", &address]);
        command.args(["--rounds", "1000000"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("purlin runs");
        while rx.recv().expect("the load goes on") < 5000 {}
        let id = child.id().to_string();
        let killed = std::process::Command::new("kill").args([signal, &id]).status();
        assert!(killed.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("rounds, "));
    }
}
