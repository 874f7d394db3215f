//! `purlin ack serve` over TLS.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use purlin_ack::client::{Client, Tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::purlin;

/// An authority in `ca.pem`, and a certificate of it in `server.pem` with its key in `server.key`.
fn certificates(folder: &Path) {
    let write = |name, text: String| fs::write(folder.join(name), text).unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    write("ca.pem", issuer.pem());
    write("server.pem", params.signed_by(&key, &issuer).unwrap().pem());
    write("server.key", key.serialize_pem());
}

#[test]
fn messages_are_taken_from_clients_with_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let mut server = purlin(folder.path())
        .args(["ack", "serve", "--strategy", "best", "--listen", "127.0.0.1:0"])
        .args(["--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-clients", "ca.pem"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("purlin runs");
    let (mut out, mut line) = (BufReader::new(server.stdout.take().unwrap()), String::new());
    out.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("best listens on ").expect(&line);
    let path = |name| folder.path().join(name);
    let tls = Tls::from_pem(path("ca.pem")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // WHY the server's own: whoever the authority vouches for may come.
        let known = tls.clone().identity(path("server.pem"), path("server.key")).unwrap();
        let client = Client::builder(address).tls(known).connect().await.unwrap();
        for _ in 0..100 {
            client.send(b"hello").await.unwrap();
        }
        client.close().await.unwrap();
        let stranger =
            Client::builder(address).tls(tls).session(purlin_ack::session::Level::Handled);
        let refused = stranger.connect().await.unwrap_err();
        assert_eq!(refused.to_string(), "received fatal alert: CertificateRequired");
    });
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    let mut told = String::new();
    out.read_to_string(&mut told).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(told.starts_with("best: 100 messages in "), "{told}");
    assert!(told.ends_with(" on 2 connections, 1 for bad TLS\n"), "{told}");
}

#[test]
fn files_that_are_of_no_use_are_refused_in_one_line() {
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
        let output = output.expect("purlin runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.lines().count() == 1 && told.starts_with("purlin: "), "{told}");
        assert!(told.contains(due), "{words:?}: {told}");
    }
}
