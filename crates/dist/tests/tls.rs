//! The same protocol inside of TLS, as `-proto_dist inet_tls` speaks it: a link lies over any stream.

mod support;

use std::sync::Arc;

use purlin_dist::connect::{self, Lengths};
use purlin_dist::frame::Signal;
use purlin_dist::handshake::Local;
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Flags, epmd};
use purlin_term::Term;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use support::{Beam, Epmd, cookie, welcome};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// One certificate for both, which both trust.
struct Certificate {
    folder: TempDir,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Certificate {
    fn new() -> Self {
        let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a name");
        let CertifiedKey::<KeyPair> { cert, signing_key } = made;
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name| folder.path().join(name).display().to_string();
        let both = cert.pem() + &signing_key.serialize_pem();
        std::fs::write(path("both.pem"), both).expect("there is room");
        let both = path("both.pem");
        let options = format!(
            "[{{server, [{{certfile, {both:?}}}, {{verify, verify_none}}]}},
              {{client, [{{verify, verify_none}}]}}]."
        );
        std::fs::write(path("options"), options).expect("there is room");
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
        Self { folder, certificate: cert.der().clone(), key }
    }

    async fn beam(&self, epmd: &Epmd) -> Beam {
        let options = self.folder.path().join("options").display().to_string();
        let more = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", &options];
        Beam::start_with(epmd.port, "beam", &more).await
    }

    fn acceptor(&self) -> TlsAcceptor {
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key());
        Arc::new(config.expect("the key fits")).into()
    }

    fn connector(&self) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a certificate");
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Arc::new(config).into()
    }
}

fn local() -> Local {
    let name = "ours@127.0.0.1".parse().expect("a name");
    Local { name, creation: 5, flags: Flags::OFFERED }
}

#[tokio::test]
async fn we_call_a_beam_over_tls_and_are_told_something() {
    let (epmd, certificate) = (Epmd::start(), Certificate::new());
    let mut beam = certificate.beam(&epmd).await;
    let tcp = connect::dial(&epmd.ask(), &beam.name).await.expect("it listens");
    let host = "127.0.0.1".try_into().expect("an address");
    let mut stream = certificate.connector().connect(host, tcp).await.expect("it speaks TLS");
    let name = beam.name.clone();
    let peer = connect::call(&mut stream, Lengths::Four, &local(), name, cookie(), || true).await;
    let (receive, mut signals) = mpsc::channel(64);
    let peer = peer.expect("it knows the cookie");
    let _link = Link::start(stream, peer, Settings::default(), receive);
    beam.eval("{somebody, 'ours@127.0.0.1'} ! lists:duplicate(100000, a)").await;
    let Signal { payload, .. } = signals.recv().await.expect("it goes on");
    assert_eq!(payload, Some(Term::list(vec![Term::atom("a"); 100_000])));
}

#[tokio::test]
async fn a_beam_calls_us_over_tls_and_tells_us_something() {
    let (epmd, certificate) = (Epmd::start(), Certificate::new());
    let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = socket.local_addr().expect("an address").port();
    let alive = epmd::Alive { alive: "ours".to_owned(), port, kind: epmd::Kind::Hidden };
    let registration = epmd::Registration::new(epmd.ask(), alive).await;
    let creation = registration.as_ref().expect("epmd is there").creation();
    let mut beam = certificate.beam(&epmd).await;
    beam.tell("{somebody, 'ours@127.0.0.1'} ! hello").await;
    let (tcp, _) = socket.accept().await.expect("it calls");
    let mut stream = certificate.acceptor().accept(tcp).await.expect("it speaks TLS");
    let peer =
        connect::answer(&mut stream, Lengths::Four, Local { creation, ..local() }, welcome).await;
    let (receive, mut signals) = mpsc::channel(64);
    let peer = peer.expect("it knows the cookie");
    assert_eq!(peer.peer, beam.name);
    let _link = Link::start(stream, peer, Settings::default(), receive);
    let Signal { payload, .. } = signals.recv().await.expect("it goes on");
    assert_eq!(payload, Some(Term::atom("hello")));
    beam.line().await;
}
