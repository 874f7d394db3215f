//! Tests of `purlin ack serve` and `purlin ack load` over TLS.

#![cfg(unix)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;
use std::thread;

use crate::support::certificates::{authority, certificate};
use crate::support::serving::Serving;
use crate::support::{json, line, purlin};
use purlin_ack::client::{Client, Tls};
use purlin_ack::strategy::Strategy;

/// Options of a server that has a certificate and requires client certificates.
const SECURE: [&str; 6] =
    ["--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-clients", "ca.pem"];
/// Options of a client that trusts the server and has a certificate.
const KNOWN: [&str; 6] =
    ["--tls-ca", "ca.pem", "--tls-cert", "client.pem", "--tls-key", "client.key"];

/// Creates two CAs in `ca.pem` and `other.pem`. The first signs a server certificate in `server.pem` and a client
/// certificate in `client.pem`, with keys in `server.key` and `client.key`.
fn certificates(folder: &Path) {
    let [ca, _] = ["ca", "other"].map(|name| authority(folder, name));
    certificate(folder, &ca, "server", &["127.0.0.1"]);
    certificate(folder, &ca, "client", &[]);
}

fn load(folder: &Path, words: &[&str]) -> Output {
    let few = ["--rounds", "2", "--messages", "500"];
    purlin(folder).args(["ack", "load"]).args(few).args(words).output().expect("purlin runs")
}

#[test]
fn messages_are_accepted_from_clients_with_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let words = ["--strategy", "best", "--listen", "127.0.0.1:0"];
    let mut serving = Serving::start(folder.path(), &[&words[..], &SECURE].concat());
    let (_, address) = serving.listens();
    let path = |name| folder.path().join(name);
    let tls = Tls::from_pem(path("ca.pem")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let known = tls.clone().identity(path("client.pem"), path("client.key")).unwrap();
        let client = Client::builder(&address).tls(known).connect().await.unwrap();
        for _ in 0..100 {
            client.send(b"hello").await.unwrap();
        }
        client.close().await.unwrap();
        let stranger =
            Client::builder(&address).tls(tls).session(purlin_ack::session::Level::Handled);
        let refused = stranger.connect().await.unwrap_err();
        assert_eq!(refused.to_string(), "received fatal alert: CertificateRequired");
    });
    let (status, printed) = serving.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.starts_with("best: 100 messages in "), "{printed}");
    assert!(printed.ends_with(" on 2 connections, 1 for bad TLS\n"), "{printed}");
}

#[test]
fn all_six_strategies_work_over_tls_with_a_certificate_and_a_given_server_name() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    // A loopback address that no other program is likely to use.
    let listen = ["--listen", "127.0.66.7"];
    let mut serving = Serving::start(folder.path(), &[&listen[..], &SECURE].concat());
    for strategy in Strategy::ALL {
        let (_, address) = serving.listens();
        let words = [&address, "--strategy", strategy.name(), "--json", "x.json"];
        let name = ["--tls-name", "127.0.0.1"];
        let output = load(folder.path(), &[&words[..], &KNOWN, &name].concat());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{strategy}: {printed}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(", over TLS"));
        let found = json(&folder.path().join("x.json"));
        assert_eq!((&found["plan"]["tls"], &found["messages"]), (&true.into(), &1000.into()));
        let printed = line(&load(folder.path(), &[&words[..], &KNOWN].concat()), 2);
        assert!(printed.contains("invalid peer certificate: "), "{printed}");
    }
    let (status, printed) = serving.end("-TERM");
    assert_eq!(status, Some(0));
    assert_eq!(printed.lines().filter(|line| line.contains(": 1000 messages in ")).count(), 6);
}

#[test]
fn a_tls_mismatch_ends_the_load_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    fs::write(folder.path().join("bad.pem"), "-----BEGIN CERTIFICATE-----\n!\n").unwrap();
    let words = ["--strategy", "sync-ack", "--listen", "127.0.0.1:0"];
    let mut serving = Serving::start(folder.path(), &[&words[..], &SECURE].concat());
    let (_, address) = serving.listens();
    for (words, due) in [
        (&["--tls-name", "127.0.0.1"][..], "--tls-ca"),
        (&["--tls-cert", "client.pem", "--tls-key", "client.key"], "--tls-ca"),
        (&["--tls-ca", "ca.pem", "--tls-cert", "client.pem"], "--tls-key"),
        (&["--tls-ca", "ca.pem", "--tls-key", "client.key"], "--tls-cert"),
        (&["--tls-ca", "none.pem"], "cannot read none.pem"),
        (&["--tls-ca", "client.key"], "no certificate in client.key"),
        (&["--tls-ca", "bad.pem"], "bad.pem is not PEM"),
        (
            &["--tls-ca", "ca.pem", "--tls-cert", "client.pem", "--tls-key", "server.key"],
            "server.key is not that of",
        ),
        (&["--tls-ca", "other.pem"], "invalid peer certificate: UnknownIssuer"),
        (&["--tls-ca", "ca.pem", "--tls-name", "other.example"], "invalid peer certificate: "),
        (&["--tls-ca", "ca.pem", "--tls-name", "no name"], "no certificate can be for"),
        (&["--tls-ca", "ca.pem"], "received fatal alert: CertificateRequired"),
    ] {
        let words = [&[&*address, "--strategy", "sync-ack"], words].concat();
        let printed = line(&load(folder.path(), &words), 2);
        assert!(printed.contains(due), "{words:?}: {printed}");
    }
    let printed = serving.end("-TERM").1;
    assert!(printed.starts_with("sync-ack: 0 messages in 0 acks"), "{printed}");

    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap().to_string();
    let answering = thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client has read it and closed the connection.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let printed = line(&load(folder.path(), &[&address, "--tls-ca", "ca.pem"]), 2);
    assert!(printed.contains("the server does not speak TLS"), "{printed}");
    answering.join().unwrap();
}

#[test]
fn unusable_tls_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    for (words, due) in [
        (&["--tls-cert", "server.pem"][..], "--tls-key"),
        (&["--tls-key", "server.key"], "--tls-cert"),
        (&["--tls-clients", "ca.pem"], "--tls-cert"),
        (&["--tls-cert", "none.pem", "--tls-key", "server.key"], "cannot read none.pem"),
        (&["--tls-cert", "server.key", "--tls-key", "server.key"], "no certificate in server.key"),
        (&["--tls-cert", "ca.pem", "--tls-key", "server.key"], "server.key is not that of"),
        (
            &["--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-clients", "server.key"],
            "no certificate in server.key",
        ),
    ] {
        let output = purlin(folder.path()).args(["ack", "serve"]).args(words).output();
        let printed = line(&output.expect("purlin runs"), 2);
        assert!(printed.contains(due), "{words:?}: {printed}");
    }
}
