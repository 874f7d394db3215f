//! `purlin node` and `purlin call` over TLS.

#![forbid(unsafe_code)]
#![cfg(unix)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use support::nodes::{COOKIE, free_port, keep_cookie, node, run};

const OURS: [&str; 6] = ["--tls-cert", "ours.pem", "--tls-key", "ours.key", "--tls-ca", "ca.pem"];

/// Two authorities in `ca.pem` and `other.pem`, and of each a certificate for 127.0.0.1, in `ours.pem` and
/// `theirs.pem`.
fn certificates(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    for (authority, who) in [("ca", "ours"), ("other", "theirs")] {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, authority);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        write(&format!("{authority}.pem"), &issuer.pem());
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        write(&format!("{who}.pem"), &params.signed_by(&key, &issuer).unwrap().pem());
        write(&format!("{who}.key"), &key.serialize_pem());
    }
}

/// Why there is no value.
fn refused(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.lines().count() == 1 && told.starts_with("purlin: "), "{told}");
    told
}

#[test]
fn a_node_with_a_certificate_is_called_by_who_has_one_and_by_nobody_else() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    certificates(folder.path());
    keep_cookie(folder.path(), COOKIE, 0o600);
    let (ours, said) = node(folder.path(), &port, &OURS);
    let erl = "erl -name me@127.0.0.1 -proto_dist inet_tls -ssl_dist_optfile FILE";
    assert!(said[1].ends_with(erl), "{said:?}");
    let call = |words: &[&str]| {
        let call = ["call", "ours@127.0.0.1", "purlin", "echo", "[hello]"];
        run(folder.path(), &port, &[&call[..], words].concat())
    };
    assert_eq!(call(&OURS).stdout, b"hello\n");
    let theirs = ["--tls-cert", "theirs.pem", "--tls-key", "theirs.key"];
    for (words, why, line) in [
        (&[&theirs[..], &["--tls-ca", "ca.pem"]].concat()[..], "UnknownCA", "UnknownIssuer"),
        (&[&theirs[..], &["--tls-ca", "other.pem"]].concat(), "UnknownIssuer", "UnknownCA"),
        (&[], "it speaks TLS, which this node does not", "the caller does not speak TLS"),
    ] {
        let told = refused(&call(words));
        assert!(told.starts_with("purlin: no connection to ours@127.0.0.1: "), "{told}");
        assert!(told.contains(why), "{told}");
        let logged = fs::read_to_string(folder.path().join("errors")).unwrap();
        assert!(logged.lines().last().is_some_and(|last| last.contains(line)), "{logged}");
    }
    assert_eq!(ours.end("-TERM").0, Some(0));
    let logged = fs::read_to_string(folder.path().join("errors")).unwrap();
    assert_eq!(logged.lines().count(), 3, "{logged}");
}

#[test]
fn what_is_asked_wrongly_is_refused_in_one_line() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    certificates(folder.path());
    for command in [&["node", "--name", "ours@127.0.0.1"][..], &["call", "a@127.0.0.1", "m", "f"]] {
        for (words, due) in [
            (&["--tls-cert", "ours.pem"][..], "--tls-key"),
            (&["--tls-key", "ours.key"], "--tls-cert"),
            (&["--tls-ca", "ca.pem"], "--tls-cert"),
            (
                &["--tls-cert", "none", "--tls-key", "ours.key", "--tls-ca", "ca.pem"],
                "cannot read none",
            ),
            (
                &["--tls-cert", "ours.pem", "--tls-key", "theirs.key", "--tls-ca", "ca.pem"],
                "theirs.key is not that of",
            ),
        ] {
            let told =
                refused(&run(folder.path(), &port, &[command, &["--cookie", "x"], words].concat()));
            assert!(told.contains(due), "{words:?}: {told}");
        }
    }
}
