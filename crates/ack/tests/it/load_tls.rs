//! Load generator over TLS: same behavior as over TCP, and reports of TLS errors.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::common::certificates::{Files, known};
use crate::common::over::{Case, cases};
use crate::common::{
    Gated, NEVER, Recorder, Running, anywhere, rest, runtime, start, start_with, untimed,
    untimed_server,
};
use purlin_ack::client::Tls;
use purlin_ack::load::{Load, LoadError, Plan, Summary};
use purlin_ack::server::{Limits, Server};
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

fn secured() -> impl Iterator<Item = Case> {
    cases().filter(|case| case.tls)
}

/// Trusts the server that [`Case`] starts.
fn knowing() -> Tls {
    Tls::new(Arc::clone(&known().client))
}

fn three_rounds(address: SocketAddr, strategy: Strategy, tls: Tls) -> Plan {
    let preset = Plan::classic(strategy);
    let address = address.to_string();
    Plan { address, rounds: 3, messages: 1000, tls: Some(tls), timeout: NEVER, ..preset }
}

/// Connects and runs all rounds. Returns the results and the error, if any.
fn run(plan: Plan) -> (Option<Summary>, Result<(), LoadError>) {
    runtime().block_on(async {
        let mut load = match Load::connect(plan).await {
            Ok(load) => load,
            Err(error) => return (None, Err(error)),
        };
        let done = async {
            while load.round().await?.is_some() {}
            load.finish().await
        };
        let done = done.await;
        (Some(load.summary()), done)
    })
}

/// Runs a load that must succeed.
fn done(plan: Plan) -> Summary {
    let (found, done) = run(plan);
    done.expect("all is answered");
    found.expect("it was connected")
}

/// Runs a load that must fail before any answer. Returns the error, and whether TLS caused it.
fn refused(plan: Plan) -> (String, bool) {
    let (found, done) = run(plan);
    assert_eq!(found.map_or(0, |found| found.answered.messages), 0);
    let error = done.expect_err("it is refused");
    let line = error.to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    (line, matches!(error, LoadError::Failed(failed) if failed.is_insecure()))
}

fn gone(server: Running, connections: u64) {
    server.until("all have come and gone", |counts| {
        (counts.connections, counts.connections_ever) == (0, connections)
    });
    assert_eq!(server.drain().messages, 0);
}

#[test]
fn all_messages_are_sent_and_answers_counted_for_each_strategy() {
    for case in secured() {
        let recorder = Recorder::default();
        let server = start_with(case.builder(), &recorder);
        let found = done(three_rounds(server.address(), case.strategy, knowing()));
        assert!(found.rounds.iter().all(|round| round.messages == 1000));
        assert_eq!((found.rounds.len(), found.answered.messages), (3, 3000));
        assert_eq!((found.answered.refused, found.latency.len()), (0, 3000));
        assert!(found.to_string().contains(", over TLS"), "{found}");
        assert_eq!(found.to_json()["plan"]["tls"], true);
        if case.strategy == Strategy::RequestReply {
            assert_eq!(found.answered.answers, 3000);
        }
        let kept = recorder.0.take();
        assert!(kept.iter().map(|(id, _)| *id).eq(0..3000), "{case}");
        assert!(kept.iter().all(|(_, payload)| payload == b"hello"), "{case}");
        server.until("it has gone", |counts| counts.connections == 0);
        let counts = server.drain();
        assert_eq!((counts.messages, counts.insecure), (3000, 0), "{case}");
    }
}

#[test]
fn plan_parameters_work_as_over_tcp() {
    let case = Case { strategy: Strategy::Best, tls: true };
    let server = start(case.builder());
    let plan = three_rounds(server.address(), case.strategy, knowing());
    for plan in [
        Plan { connections: 4, ..plan.clone() },
        Plan { window: Some(10), ..plan.clone() },
        Plan { batch: 1, window: Some(1), ..plan.clone() },
        Plan { poll_interval: Duration::ZERO, batch: 7, nodelay: true, ..plan.clone() },
        Plan { level: Some(Level::Handled), connections: 2, ..plan },
    ] {
        let all = 3000 * u64::from(plan.connections);
        let found = done(plan.clone());
        assert_eq!((found.answered.messages, found.latency.len()), (all, all), "{plan:?}");
        if let Some(window) = plan.window {
            // No ack can cover more messages than the window.
            assert!(found.answered.answers >= all / window, "{plan:?}");
        }
    }
    server.drain();
}

#[test]
fn messages_of_every_size_are_sent_whole_with_full_sockets() {
    for strategy in [Strategy::SyncAck, Strategy::Best] {
        let gated = Gated::default();
        let case = Case { strategy, tls: true };
        let server = start_with(case.builder(), &gated);
        let plan = three_rounds(server.address(), strategy, knowing());
        // More than the socket buffers hold, while the handler is blocked.
        let plan = Plan { size: 100_000, rounds: 1, messages: 300, ..plan };
        let sending = thread::spawn(move || done(plan));
        gated.wait();
        gated.open();
        assert_eq!(sending.join().expect("all is answered").answered.messages, 300);
        let kept = gated.kept.take();
        assert!(kept.iter().map(|(id, _)| *id).eq(0..300), "{strategy}");
        let hello = b"hello".repeat(20_000);
        assert!(kept.iter().all(|(_, payload)| *payload == hello), "{strategy}");
        for size in [0, 1, 16_384, 65_536] {
            let plan = three_rounds(server.address(), strategy, knowing());
            done(Plan { size, rounds: 1, messages: 100, ..plan });
            let kept = gated.kept.take();
            assert!(kept.iter().all(|(_, payload)| payload.len() == size as usize), "{strategy}");
            assert_eq!(kept.len(), 100, "{strategy}");
        }
        server.drain();
    }
}

#[test]
fn server_requiring_a_certificate_accepts_only_loads_with_a_valid_one() {
    let files = Files::new();
    let as_who = |who: &str| {
        let (certificate, key) =
            (files.path(&format!("{who}.pem")), files.path(&format!("{who}.key")));
        files.client().identity(certificate, key).expect("the files are in order")
    };
    for strategy in Strategy::ALL {
        let builder = untimed_server().strategy(strategy).tls(files.server_for_ours());
        let server = start(builder);
        let plan = three_rounds(server.address(), strategy, as_who("ours-client"));
        assert_eq!(done(plan.clone()).answered.messages, 3000, "{strategy}");
        for (tls, due) in [
            (files.client(), "received fatal alert: CertificateRequired"),
            (as_who("theirs-client"), "received fatal alert: UnknownCA"),
        ] {
            let (line, insecure) = refused(Plan { tls: Some(tls), ..plan.clone() });
            assert!(line.contains(due) && insecure, "{strategy}: {line}");
        }
        server.until("all have gone", |counts| counts.connections == 0);
        let counts = server.drain();
        assert_eq!((counts.messages, counts.insecure), (3000, 2), "{strategy}");
    }
}

#[test]
fn untrusted_server_is_sent_nothing() {
    let files = Files::new();
    let server = start(untimed_server().tls(files.server()));
    let plan = three_rounds(server.address(), Strategy::Best, files.client());
    let theirs = Tls::from_pem(files.path("theirs.pem")).expect("the file is in order");
    for (tls, due) in [
        (theirs, "invalid peer certificate: UnknownIssuer"),
        (files.client().server_name("other.example"), "not valid for name"),
        (files.client().server_name("no host"), "no certificate can be for \"no host\""),
    ] {
        let (line, _) = refused(Plan { tls: Some(tls), ..plan.clone() });
        assert!(line.starts_with(&plan.address) && line.contains(due), "{line}");
    }
    gone(server, 3);
}

#[test]
fn server_name_overrides_the_host_of_the_address() {
    let files = Files::new();
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], 0));
    let server = start(Server::builder(elsewhere).limits(untimed()).tls(files.server()));
    let plan = three_rounds(server.address(), Strategy::Best, files.client());
    assert!(refused(plan.clone()).0.contains("invalid peer certificate"));
    done(Plan { tls: Some(files.client().server_name("localhost")), ..plan });
    server.drain();
}

/// Runs `act` on each incoming connection, for the rest of the test.
fn listening(mut act: impl FnMut(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind(anywhere()).expect("there is a port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || listener.incoming().for_each(|came| act(came.expect("a connection"))));
    address
}

#[test]
fn server_without_tls_is_reported() {
    let words = listening(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        rest(&mut stream);
    });
    let silent = listening(drop);
    // Any size read from the handshake exceeds a limit of 0.
    let limits = Limits { largest: 0, ..untimed() };
    let plain = start(untimed_server().strategy(Strategy::SyncAck).limits(limits));
    for (address, due) in [
        (words, "the server does not speak TLS: "),
        (silent, "perhaps the server does not speak TLS"),
        (plain.address(), "perhaps the server does not speak TLS"),
    ] {
        let (line, _) = refused(three_rounds(address, Strategy::SyncAck, knowing()));
        assert!(line.starts_with(&address.to_string()) && line.contains(due), "{line}");
    }
    gone(plain, 1);
}

/// A custom server that runs `act` on each connection after the handshake.
fn secure(files: &Files, act: impl Fn(ServerConnection, TcpStream) + Send + 'static) -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(files.path("ours-server.pem"));
    let key = PrivateKeyDer::from_pem_file(files.path("ours-server.key")).expect("it is a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("there is one")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.expect("it is a certificate")], key);
    let config = Arc::new(config.expect("the key fits"));
    listening(move |mut stream| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).expect("in order");
        while tls.is_handshaking() {
            // A load that exceeds its timeout during the handshake disconnects.
            if tls.complete_io(&mut stream).is_err() {
                return;
            }
        }
        act(tls, stream);
    })
}

// WHY real time: the load's timeout is tested, and no record is completed. The timeout also applies
// to connecting, so it is increased on a slow machine.
#[test]
fn partial_record_does_not_extend_the_timeout() {
    const DRIP: Duration = Duration::from_millis(20);
    let files = Files::new();
    let address = secure(&files, |_, mut stream| {
        stream.set_read_timeout(Some(DRIP)).expect("it is a socket");
        // The start of a record, one byte per read timeout.
        for byte in [23, 3, 3, 0x40, 0].into_iter().chain(std::iter::repeat(7)) {
            let mut came = [0; 4096];
            loop {
                match stream.read(&mut came) {
                    Ok(0) => return,
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
            if stream.write_all(&[byte]).is_err() {
                return;
            }
        }
    });
    let plan = three_rounds(address, Strategy::SyncAck, files.client());
    let mut timeout = Duration::from_millis(50);
    let (line, insecure) = loop {
        let (line, insecure) = refused(Plan { timeout, messages: 1, ..plan.clone() });
        if !line.contains("no connection within") {
            break (line, insecure);
        }
        timeout *= 2;
    };
    assert!(line.contains(&format!("the server has not answered for {timeout:?}")), "{line}");
    assert!(!insecure);
}

/// Acknowledges `acked` messages after reading `messages` messages of five bytes.
fn answer(tls: &mut ServerConnection, stream: &mut TcpStream, messages: u64, acked: u64) {
    let mut stream = Stream::new(tls, stream);
    let mut came = vec![0; 17 * messages as usize];
    stream.read_exact(&mut came).expect("they come");
    let ack = [(acked - 1).to_le_bytes().to_vec(), (acked as u32 - 1).to_le_bytes().to_vec()];
    stream.write_all(&ack.concat()).expect("the load reads");
}

#[test]
fn truncated_stream_corrupt_record_and_surplus_answer_fail_the_load() {
    let files = Files::new();
    let cut = secure(&files, |mut tls, mut stream| {
        answer(&mut tls, &mut stream, 1000, 1000);
        // WHY not closed: a close with unread data would reset the connection.
        stream.shutdown(Shutdown::Write).expect("the load is there");
        rest(&mut stream);
    });
    let changed = secure(&files, |mut tls, mut stream| {
        answer(&mut tls, &mut stream, 1000, 1000);
        let forged = [&[23, 3, 3, 0, 100][..], &[7; 100]].concat();
        stream.write_all(&forged).expect("the load reads");
        rest(&mut stream);
    });
    let lying = secure(&files, |mut tls, mut stream| {
        answer(&mut tls, &mut stream, 1000, 1001);
        rest(&mut stream);
    });
    for (address, answered, due) in [
        (cut, 1000, "the stream was cut: it ended without a close notification"),
        (changed, 1000, "cannot decrypt peer's message"),
        (lying, 0, "the server answered message 1000, which has not been sent"),
    ] {
        let plan = three_rounds(address, Strategy::SyncAck, files.client());
        let (found, done) = run(Plan { batch: 1000, ..plan });
        let error = done.expect_err("the second round fails, at the latest");
        assert!(error.to_string().contains(due), "{error}");
        assert!(!matches!(error, LoadError::Failed(failed) if failed.is_insecure()));
        assert_eq!(found.expect("it was connected").answered.messages, answered);
    }
}
