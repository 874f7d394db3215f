//! Servers and clients over TLS: client certificates, invalid data and truncated streams.
//! `conformance.rs` and `drain.rs` check that each strategy behaves over TLS as over TCP.

use crate::common;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::common::certificates::{Files, known};
use crate::common::over::{Case, Wire, cases};
use crate::common::{
    Client, Recorder, Running, answer, connect, exactly, for_each_at_once, message, newest, rest,
    start, start_with, until, untimed, untimed_client, untimed_server,
};
use purlin_ack::client::{self, Builder, ConnectError};
use purlin_ack::server::{Limits, Server, Tls};
use purlin_ack::session::{Answer, Level, Opening, Status};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Ack, Id};
use tokio::runtime::Runtime;

/// Idle timeout of tests that wait for it.
const SOON: Duration = Duration::from_millis(50);

/// First byte of an unencrypted alert.
const ALERT: u8 = 21;

fn secured() -> impl Iterator<Item = Case> {
    cases().filter(|case| case.tls)
}

/// Sends a message and reads until the connection fails. Returns the error.
fn failure(mut wire: Wire) -> String {
    let mut answer = [0; 100];
    // The write may fail or not; the read returns the error.
    let _ = wire.write_all(&message(0, b"hello", Strategy::Best.order()));
    match wire.read(&mut answer) {
        Ok(count) => panic!("it was answered {:?}", &answer[..count]),
        Err(error) => error.to_string(),
    }
}

/// Checks that this many connections were closed for TLS errors and no message was handled.
fn refused(server: Running, connections: u64) {
    server.until("all are refused and gone", |counts| {
        counts.insecure == connections && counts.connections == 0
    });
    let counts = server.drain();
    assert_eq!((counts.messages, counts.connections_ever), (0, connections));
}

#[test]
fn server_requiring_certificates_accepts_only_those_of_its_authority() {
    let files = Files::new();
    let server = start(untimed_server().tls(files.server_for_ours()));
    let of = |who| Wire::secure(server.address(), files.config(who));
    assert_eq!(failure(of(None)), "received fatal alert: CertificateRequired");
    assert_eq!(failure(of(Some("theirs-client"))), "received fatal alert: UnknownCA");
    server.until("both have gone", |counts| counts.connections == 0);
    let mut client = Client::on(of(Some("ours-client")), Strategy::Best);
    client.message(0, b"hello");
    client.until(0);
    drop(client);
    let counts = server.drain();
    assert_eq!((counts.insecure, counts.messages), (2, 1));
}

#[test]
fn session_belongs_to_the_certificate_that_opened_it() {
    let files = Files::new();
    let server = start(untimed_server().tls(files.server_for_ours()));
    let open = |who, epoch| {
        let mut wire = Wire::secure(server.address(), files.config(Some(who)));
        let opening = Opening { client: *b"sixteen letters!", epoch, level: Level::Handled };
        wire.write_all(&opening.to_bytes()).expect("the server reads");
        let reply = answer(&mut wire);
        (wire, reply)
    };
    let (mut owner, reply) = open("ours-client", 1);
    assert_eq!(newest(reply), None);
    let refused = || {
        for epoch in [0, 1, 2] {
            let (_, reply) = open("ours-other", epoch);
            assert_eq!(reply, Answer::Refused(Status::NOT_ALLOWED));
        }
    };
    refused();
    owner.write_all(&message(0, b"hello", Strategy::Best.order())).expect("the server reads");
    let ack = Ack::from_bytes(exactly(&mut owner).expect("there is an ack"));
    assert_eq!(ack, Ack { id: Id::from(0), skipped: 0 });
    refused();
    drop(owner);
    server.until("the owner has left", |counts| counts.connections == 0);
    refused();
    let (owner, reply) = open("ours-client", 1);
    assert_eq!(newest(reply), Some(0));
    drop(owner);
    assert_eq!(server.drain().sessions_refused, 9);
}

#[test]
fn a_client_that_does_not_trust_the_server_sends_it_nothing() {
    let files = Files::new();
    let theirs = Tls::from_pem(files.path("theirs-server.pem"), files.path("theirs-server.key"));
    let server = start(untimed_server().tls(theirs.expect("the files are in order")));
    let why = failure(Wire::secure(server.address(), files.config(None)));
    assert_eq!(why, "invalid peer certificate: UnknownIssuer");
    refused(server, 1);
}

#[test]
fn non_tls_bytes_are_answered_with_an_alert_and_counted() {
    for case in secured() {
        let server = start(case.builder());
        let plain = [
            message(0, b"hello", case.strategy.order()),
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            vec![0xff; 100_000],
        ];
        for bytes in &plain {
            let mut stream = connect(server.address());
            // The server may have closed before it has read all bytes.
            let _ = stream.write_all(bytes);
            let answer = rest(&mut stream);
            assert_eq!((answer.first(), answer.len()), (Some(&ALERT), 7), "{case}: {answer:?}");
        }
        refused(server, plain.len() as u64);
    }
}

/// Reads answers until the connection fails, which it must. Returns the error.
fn until_failure(client: &mut Client) -> io::Error {
    let mut bytes = [0; 4096];
    loop {
        match client.stream.read(&mut bytes) {
            Ok(0) => panic!("closed as if all were well"),
            Ok(count) => {
                let mut bytes = &bytes[..count];
                while client.verifier.take(&mut bytes).expect("acks leave no gap").is_some() {}
            }
            Err(error) => return error,
        }
    }
}

#[test]
fn truncated_stream_is_lost_after_acks_of_whole_messages() {
    for case in secured() {
        let recorder = Recorder::default();
        let server = start_with(case.builder(), &recorder);
        let mut client = Client::connect(server.address(), case);
        let order = client.order;
        let cut = message(2, b"incomplete", order);
        let whole = [message(0, b"a", order), message(1, b"b", order)].concat();
        client.send(&[&whole[..], &cut[..cut.len() - 1]].concat());
        client.stream.shutdown(Shutdown::Write).expect("it is connected");
        assert_eq!(until_failure(&mut client).kind(), ErrorKind::UnexpectedEof, "{case}");
        assert_eq!(client.verifier.newest(), Some(1), "{case}");
        assert_eq!(recorder.0.ids(), [0, 1]);
        let counts = server.drain();
        assert_eq!((counts.messages, counts.insecure), (2, 0), "{case}");
    }
}

#[test]
fn corrupt_record_closes_the_connection_and_is_counted() {
    for case in secured() {
        let server = start(case.builder());
        let mut client = Client::connect(server.address(), case);
        client.message(0, b"hello");
        client.until(0);
        // A forged record: framed like an encrypted one, but with an invalid ciphertext.
        let forged = [&[23, 3, 3, 0, 100][..], &[7; 100]].concat();
        (&*client.stream).write_all(&forged).expect("the server reads");
        let why = until_failure(&mut client).to_string();
        assert_eq!(why, "received fatal alert: BadRecordMac", "{case}");
        drop(client);
        server.until("it is counted", |counts| counts.insecure == 1 && counts.connections == 0);
        assert_eq!(server.drain().messages, 1, "{case}");
    }
}

// WHY real time: the idle timeout is tested. A longer delay on a slow machine has the same result.
#[test]
fn incomplete_handshake_hits_the_idle_timeout() {
    let limits = Limits { idle_timeout: Some(SOON), ..untimed() };
    for_each_at_once(secured(), |case| {
        let server = start(case.builder().limits(limits.clone()));
        let mut client =
            rustls::ClientConnection::new(known().client.clone(), server.address().ip().into())
                .expect("an address");
        let mut hello = Vec::new();
        client.write_tls(&mut hello).expect("there is memory");
        let mut nothing = connect(server.address());
        let mut half = connect(server.address());
        half.write_all(&hello[..hello.len() / 2]).expect("the server reads");
        let mut whole = connect(server.address());
        whole.write_all(&hello).expect("the server reads");
        for stream in [&mut nothing, &mut half, &mut whole] {
            rest(stream);
        }
        drop((nothing, half, whole));
        server.until("they are counted", |counts| {
            counts.idle_timeout == 3 && counts.connections == 0
        });
        assert_eq!(server.drain().insecure, 0, "{case}");
    });
}

// WHY real time: as above. A client that the machine delays in its handshake hits the idle timeout
// instead, so clients are added until one is closed for its unread acks.
#[test]
fn client_not_reading_acks_is_closed_and_counted() {
    let case = Case { strategy: Strategy::RequestReply, tls: true };
    let limits = Limits { idle_timeout: Some(Duration::from_millis(200)), ..untimed() };
    let builder = Server::builder_on(common::listener_with_little_room()).limits(limits);
    let server = start(builder.strategy(case.strategy).tls(known().server.clone()));
    let segment = message(0, b"", case.strategy.order()).repeat(1000);
    let mut clients = 0;
    until("a client is closed for what it does not read", || {
        clients += 1;
        let socket = common::connect_with_little_room(server.address());
        let session =
            rustls::ClientConnection::new(known().client.clone(), server.address().ip().into());
        let mut client = rustls::StreamOwned::new(session.expect("an address"), socket);
        while client.write_all(&segment).is_ok() {}
        server.until("it is gone", |counts| counts.connections == 0);
        let counts = server.counts();
        assert_eq!(counts.slow_reader + counts.idle_timeout, clients, "each is counted");
        counts.slow_reader > 0
    });
    server.drain();
}

fn library(server: &Running, tls: client::Tls) -> Builder {
    untimed_client(server.address()).tls(tls).batch(200)
}

async fn send(client: &client::Client, numbers: std::ops::Range<u32>) {
    for number in numbers {
        client.send(&number.to_le_bytes()).await.expect("it is taken");
    }
}

fn numbers(recorder: &Recorder) -> BTreeSet<u32> {
    let number = |payload: Vec<u8>| u32::from_le_bytes(payload.try_into().expect("a number"));
    recorder.0.take().into_iter().map(|(_, payload)| number(payload)).collect()
}

#[test]
fn client_resumes_over_tls_after_a_hand_over() {
    let files = Files::new();
    let tls = files.client().identity(files.path("ours-client.pem"), files.path("ours-client.key"));
    let tls = tls.expect("the files are in order");
    for session in [None, Some(Level::Handled)] {
        let recorder = Recorder::default();
        let make = recorder.clone();
        let handler = move |_| make.clone();
        let first = untimed_server().tls(files.server_for_ours());
        let first = start(first.handler(handler.clone()));
        let runtime = Runtime::new().expect("threads can be started");
        let builder = library(&first, tls.clone());
        let builder = match session {
            None => builder,
            Some(level) => builder.session(level),
        };
        let client = runtime.block_on(builder.connect()).expect("the server lets it in");
        runtime.block_on(send(&client, 0..1000));
        let listener = first.hand_over();
        let second = Server::builder_on(listener).limits(untimed());
        let second = second.tls(files.server_for_ours());
        let second = start(second.handler(handler));
        let drained = thread::spawn(move || first.drain());
        runtime.block_on(send(&client, 1000..2000));
        runtime.block_on(client.close()).expect("all are answered");
        drained.join().expect("it drains");
        assert!(numbers(&recorder).into_iter().eq(0..2000), "{session:?}");
        second.drain();
    }
}

#[test]
fn connect_fails_without_mutual_trust() {
    let files = Files::new();
    let server = start(untimed_server().tls(files.server_for_ours()));
    let runtime = Runtime::new().expect("threads can be started");
    let refused = |tls| {
        let builder = library(&server, tls).session(Level::Handled);
        runtime.block_on(builder.connect()).expect_err("it is refused").to_string()
    };
    let theirs = client::Tls::from_pem(files.path("theirs.pem")).expect("the file is in order");
    assert_eq!(refused(theirs), "invalid peer certificate: UnknownIssuer");
    assert_eq!(refused(files.client()), "received fatal alert: CertificateRequired");
    self::refused(server, 2);
}

#[test]
fn client_requires_a_certificate_for_the_host() {
    let files = Files::new();
    let runtime = Runtime::new().expect("threads can be started");
    let connect = |server: &Running, host: &str| {
        let address = format!("{host}:{}", server.address().port());
        runtime.block_on(untimed_client(address).tls(files.client()).connect())
    };
    let server = start(untimed_server().tls(files.server()));
    let client = connect(&server, "localhost").expect("it has a certificate for that");
    runtime.block_on(client.close()).expect("there is nothing to answer");
    server.drain();

    let nameless = Tls::from_pem(files.path("ours-client.pem"), files.path("ours-client.key"));
    let nameless = untimed_server().tls(nameless.expect("the files are in order"));
    let server = start(nameless);
    for host in ["localhost", "127.0.0.1"] {
        let other = connect(&server, host).expect_err("it has no certificate for that");
        assert!(matches!(other, ConnectError::Lost(_)));
        assert!(other.to_string().starts_with("invalid peer certificate: "), "{other}");
    }
    refused(server, 2);
}

#[test]
fn invalid_pem_file_is_reported_in_one_line() {
    let files = Files::new();
    files.write("garbage.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    files.write("no.pem", "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n");
    files.write("no.key", "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n");
    let (certificate, key) = ("ours-server.pem", "ours-server.key");
    for (certificate, key, due) in [
        ("none.pem", key, "cannot read {none.pem}: "),
        (key, key, "there is no certificate in {ours-server.key}"),
        ("garbage.pem", key, "{garbage.pem} is not PEM: "),
        ("no.pem", key, "a certificate in {no.pem} is not valid: "),
        (certificate, "none.key", "cannot read {none.key}: "),
        (
            certificate,
            certificate,
            "there is no private key in {ours-server.pem} that is not encrypted",
        ),
        (certificate, "no.key", "the private key in {no.key} cannot be used: "),
        (
            certificate,
            "ours-client.key",
            "the private key in {ours-client.key} is not that of the certificate in {ours-server.pem}",
        ),
    ] {
        let (certificate, key) = (files.path(certificate), files.path(key));
        let folder = certificate.parent().expect("it is in a folder").display().to_string();
        let due = due.replace('{', &format!("{folder}/")).replace('}', "");
        let server = Tls::from_pem(&certificate, &key).expect_err(&due).to_string();
        let client = files.client().identity(&certificate, &key).expect_err(&due).to_string();
        assert_eq!(server, client);
        assert!(server.starts_with(&due) && server.lines().count() == 1, "{server}");
    }
    for (authorities, due) in [
        ("none.pem", "cannot read "),
        (key, "there is no certificate in "),
        ("garbage.pem", "garbage.pem is not PEM: "),
        ("no.pem", "a certificate in "),
    ] {
        let path = files.path(authorities);
        let server = files.server().client_certificates(&path).expect_err(due).to_string();
        let client = client::Tls::from_pem(&path).expect_err(due).to_string();
        assert_eq!(server, client);
        assert!(server.contains(due) && server.contains(authorities), "{server}");
        assert_eq!(server.lines().count(), 1, "{server}");
    }
}

#[test]
fn custom_configuration_is_used_unchanged() {
    let files = Files::new();
    let tls = client::Tls::new(files.config(Some("ours-client")));
    let server = start(untimed_server().tls(files.server_for_ours()));
    let runtime = Runtime::new().expect("threads can be started");
    let client = runtime.block_on(library(&server, tls).connect()).expect("it is let in");
    runtime.block_on(send(&client, 0..10));
    runtime.block_on(client.close()).expect("all are answered");
    assert_eq!(server.drain().messages, 10);
}
