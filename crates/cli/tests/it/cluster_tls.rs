//! Tests of `purlin node` and `purlin call` over TLS.

#![cfg(unix)]

use std::path::Path;

use crate::support::certificates::{authority, certificate};
use crate::support::nodes::{COOKIE, free_port, keep_cookie, logged, node, run};
use crate::support::{line, until};

const OURS: [&str; 6] = ["--tls-cert", "ours.pem", "--tls-key", "ours.key", "--tls-ca", "ca.pem"];

/// Creates two CAs in `ca.pem` and `other.pem`, and of each a certificate for 127.0.0.1 in `ours.pem` and `theirs.pem`.
fn certificates(folder: &Path) {
    for (name, who) in [("ca", "ours"), ("other", "theirs")] {
        certificate(folder, &authority(folder, name), who, &["127.0.0.1"]);
    }
}

#[test]
fn a_node_with_a_certificate_accepts_only_callers_with_one() {
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
    for (words, why, due) in [
        (&[&theirs[..], &["--tls-ca", "ca.pem"]].concat()[..], "UnknownCA", "UnknownIssuer"),
        (&[&theirs[..], &["--tls-ca", "other.pem"]].concat(), "UnknownIssuer", "UnknownCA"),
        (&[], "it speaks TLS, which this node does not", "the caller does not speak TLS"),
    ] {
        let printed = line(&call(words), 2);
        assert!(printed.starts_with("purlin: no connection to ours@127.0.0.1: "), "{printed}");
        assert!(printed.contains(why), "{printed}");
        // The node logs after it has closed the connection, which may be after the caller has exited.
        until(&format!("the node reports {due}"), || {
            logged(folder.path()).last().is_some_and(|last| last.contains(due))
        });
    }
    assert_eq!(ours.end("-TERM").0, Some(0));
    let logged = logged(folder.path());
    assert_eq!(logged.len(), 3, "{logged:?}");
}

#[test]
fn invalid_tls_arguments_are_refused_in_one_line() {
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
            let printed =
                line(&run(folder.path(), &port, &[command, &["--cookie", "x"], words].concat()), 2);
            assert!(printed.contains(due), "{words:?}: {printed}");
        }
    }
}
