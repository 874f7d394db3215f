//! Rounds of the load client, and its errors.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::thread::{self, JoinHandle};

use purlin_contender::conformance::{Contender, refuses};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

fn client() -> Command {
    Command::new(env!("CARGO_BIN_EXE_contender-load"))
}

/// Starts a server for one connection, which expects messages of 17 bytes and acknowledges each
/// read. The thread returns the number of messages received.
fn server() -> (SocketAddr, JoinHandle<u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut block, mut bytes, mut acknowledged) = ([0; 4096], 0, 0);
        while let Ok(read @ 1..) = stream.read(&mut block) {
            bytes += read;
            let whole = bytes as u64 / 17;
            if whole > acknowledged {
                let skipped = u32::try_from(whole - acknowledged - 1).unwrap();
                let ack = [&(whole - 1).to_le_bytes()[..], &skipped.to_le_bytes()].concat();
                stream.write_all(&ack).unwrap();
                acknowledged = whole;
            }
        }
        bytes as u64 / 17
    });
    (address, serving)
}

fn round(address: SocketAddr) -> Value {
    let params = json!({"address": address.to_string(), "connections": 1, "messages": 1000, "size": 5, "batch": 50});
    let request = json!({"op": "run", "experiment": "ack-sync-ack", "params": params});
    Contender::start(client()).unwrap().ask(&request.to_string()).unwrap()
}

#[test]
fn round_reports_its_counts_and_latency() {
    let (address, serving) = server();
    let answer = round(address);
    for name in ["ops", "sent", "received"] {
        assert_eq!(answer[name], 1000, "{answer}");
    }
    let figure = |name: &str| answer[name].as_u64().unwrap();
    assert!(figure("elapsed_ns") > 0 && figure("p50_ns") <= figure("p99_ns"), "{answer}");
    assert!(figure("p99_ns") <= figure("max_ns"), "{answer}");
    assert_eq!(serving.join().unwrap(), 1000);
}

#[test]
fn unreachable_server_is_a_one_line_error() {
    // WHY bound and not listening: no server of another test can get the port.
    let held = TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = held.local_addr().unwrap();
    let answer = round(gone);
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains(&gone.to_string()) && !error.contains('\n'), "{error}");
}

#[test]
fn hello_lists_the_servers_and_any_option_is_refused() {
    let hello = Contender::start(client()).unwrap().ask(r#"{"op":"hello"}"#).unwrap();
    assert_eq!(hello["name"], "load");
    assert_eq!(hello["experiments"].as_array().unwrap().len(), 7);
    assert_eq!(refuses(client(), &["--fast"]), Ok(()));
}
