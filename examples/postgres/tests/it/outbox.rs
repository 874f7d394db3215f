//! The outbox in a file.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use example_postgres::outbox::Outbox;
use purlin_polling::until_some;
use tempfile::TempDir;

use crate::database::database;
use crate::programs::free_port;
use crate::server::start_server;

fn new() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("outbox");
    (folder, path)
}

fn messages(outbox: &Outbox, from: u64) -> Vec<Vec<u8>> {
    outbox.messages_from(from).expect("it is there").map(|one| one.expect("it is read")).collect()
}

/// Opens an outbox again after it was dropped.
///
/// WHY repeated: while another test of the same program starts a process, that process has the lock,
/// too.
fn reopen(path: &Path) -> Outbox {
    until_some("the outbox is whole", || Outbox::open(path).ok())
}

#[tokio::test]
async fn messages_keep_their_numbers_when_the_outbox_is_opened_again() {
    let (_folder, path) = new();
    let mut outbox = Outbox::open(&path).expect("it is created");
    outbox.append(b"zero\n\n").await.expect("there is room");
    outbox.append(b"\xff\n").await.expect("there is room");
    let client = outbox.client();
    drop(outbox);
    let outbox = reopen(&path);
    assert_eq!((outbox.client(), outbox.epoch(), outbox.count()), (client, 1, 3));
    assert_eq!(messages(&outbox, 1), [b"".to_vec(), b"\xff".to_vec()]);
    assert!(messages(&outbox, 3).is_empty());
}

#[tokio::test]
async fn incomplete_line_is_cut_off_and_its_number_is_used_again() {
    let (_folder, path) = new();
    let mut outbox = Outbox::open(&path).expect("it is created");
    outbox.append(b"zero\n").await.expect("there is room");
    drop(outbox);
    let mut file = OpenOptions::new().append(true).open(&path).expect("it is there");
    file.write_all(b"on").expect("there is room");
    let mut outbox = reopen(&path);
    assert_eq!(outbox.count(), 1);
    outbox.append(b"one\n").await.expect("there is room");
    assert_eq!(messages(&outbox, 0), [b"zero".to_vec(), b"one".to_vec()]);
}

#[tokio::test]
async fn cleared_outbox_keeps_its_client_and_begins_the_next_epoch() {
    let (_folder, path) = new();
    let mut outbox = Outbox::open(&path).expect("it is created");
    outbox.append(b"zero\n").await.expect("there is room");
    let client = outbox.client();
    let mut outbox = outbox.clear().expect("it is replaced");
    assert_eq!((outbox.client(), outbox.epoch(), outbox.count()), (client, 2, 0));
    outbox.append(b"one\n").await.expect("there is room");
    drop(outbox);
    let outbox = reopen(&path);
    assert_eq!((outbox.client(), outbox.epoch()), (client, 2));
    assert_eq!(messages(&outbox, 0), [b"one".to_vec()]);
}

#[tokio::test]
async fn second_client_and_another_file_are_rejected() {
    let (_folder, path) = new();
    let outbox = Outbox::open(&path).expect("it is created");
    let error = Outbox::open(&path).expect_err("it is locked").to_string();
    assert_eq!(error, "another client uses it");
    drop(outbox);
    for other in ["", "zero\n", "0123 1\n", &format!("{:032x} 1", 7), &format!("{:032x} x\n", 7)] {
        fs::write(&path, other).expect("it is written");
        let error = until_some("it is unlocked", || {
            let error = Outbox::open(&path).expect_err(other).to_string();
            (error != "another client uses it").then_some(error)
        });
        assert_eq!(error, "not an outbox", "{other}");
    }
}

#[test]
fn message_is_synced_before_it_is_sent() {
    let Some(database) = database() else { return };
    if Command::new("strace").arg("--version").output().is_err() {
        eprintln!("not checked: there is no strace here");
        return;
    }
    let (address, _port) = free_port();
    let _server = start_server(address, &database.connection());
    let (folder, path) = new();
    let log = folder.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=write,fdatasync,sendto", "-o"]).arg(&log);
    strace.arg(env!("CARGO_BIN_EXE_postgres_client")).arg(address.to_string()).arg(&path);
    let mut client = strace.stdin(Stdio::piped()).spawn().expect("strace is there");
    client.stdin.take().expect("it is piped").write_all(b"a message\n").expect("it reads");
    assert!(client.wait().expect("it ends").success());
    let calls = fs::read_to_string(&log).expect("strace has written");
    let find = |what: &str, holds: &dyn Fn(&str) -> bool| {
        calls.lines().position(holds).unwrap_or_else(|| panic!("no {what}:\n{calls}"))
    };
    let write = |line: &str| line.contains("write(") && line.contains("a message");
    // With several threads, the end of a call may be in another line than its begin.
    let synced = |line: &str| line.contains("fdatasync") && line.ends_with("= 0");
    let send = |line: &str| line.contains("sendto(") && line.contains("a message");
    let order = [find("write", &write), find("sync", &synced), find("send", &send)];
    assert!(order.is_sorted(), "{order:?}:\n{calls}");
}
