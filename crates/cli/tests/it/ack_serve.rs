//! Tests of `purlin ack serve` under `purlin ack load`.

#![cfg(unix)]

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::purlin;
use crate::support::running::Running;
use crate::support::serving::Serving;
use purlin_log::Reader;

fn load(folder: &Path, strategy: &str, address: &str, words: &[&str]) -> Output {
    let few = ["--rounds", "2", "--messages", "500"];
    let mut command = purlin(folder);
    command.args(["ack", "load", address, "--strategy", strategy]).args(few).args(words);
    command.output().expect("purlin runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn all_six_servers_serve_and_print_their_counters_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    // A loopback address that no other program is likely to use.
    let mut serving = Serving::start(folder.path(), &["--listen", "127.0.66.6"]);
    for (number, due) in ["request-reply", "throttle", "head-rest", "sync-ack", "async-ack", "best"]
        .iter()
        .enumerate()
    {
        let (strategy, address) = serving.listens();
        assert_eq!((strategy.as_str(), address), (*due, format!("127.0.66.6:{}", 8001 + number)));
    }
    for strategy in ["request-reply", "throttle", "head-rest", "sync-ack", "async-ack", "best"] {
        let port = purlin_ack::strategy::Strategy::port(strategy.parse().unwrap());
        let output = load(folder.path(), strategy, &format!("127.0.66.6:{port}"), &[]);
        assert_eq!(output.status.code(), Some(0), "{strategy}: {}", stderr(&output));
    }
    let (status, printed) = serving.end("-TERM");
    assert_eq!(status, Some(0));
    assert_eq!(printed.lines().count(), 6, "{printed}");
    assert!(printed.lines().all(|line| line.contains(": 1000 messages in ")), "{printed}");
    assert!(printed.lines().all(|line| line.ends_with(" on 1 connections")), "{printed}");
}

#[test]
fn log_that_cannot_be_closed_ends_the_server_with_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--strategy", "best", "--listen", "127.0.0.1:0", "--handler", "file", "kept"];
    let mut serving = Serving::start(folder.path(), &words);
    serving.listens();
    // The checkpoint that is written at a close has no place then.
    std::fs::rename(folder.path().join("kept"), folder.path().join("moved")).unwrap();
    assert_eq!(serving.end("-TERM").0, Some(1));
}

#[test]
fn a_session_of_any_level_stores_its_messages_in_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--strategy", "best", "--listen", "127.0.0.1:0", "--handler", "file", "kept"];
    let mut serving = Serving::start(folder.path(), &words);
    let (_, address) = serving.listens();
    for level in ["received", "handled", "durable"] {
        let output = load(folder.path(), "best", &address, &["--session", level]);
        assert_eq!(output.status.code(), Some(0), "{level}: {}", stderr(&output));
    }
    assert_eq!(serving.end("-INT").0, Some(0));
    let mut kept = Reader::open(folder.path().join("kept"), 0).unwrap();
    let records = std::iter::from_fn(|| kept.next().unwrap());
    assert_eq!(records.filter(|record| record.payload == b"hello").count(), 3000);
}

#[test]
fn server_ends_with_status_1_when_its_log_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_purlin");
    // WHY the signal is ignored: otherwise a write beyond the limit kills the program.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", script, program, "ack", "serve"]);
    command.args(["--strategy", "best", "--listen", "127.0.0.1:0", "--handler", "file", "kept"]);
    let errors = folder.path().join("errors");
    let mut serving = Running::start(command.stderr(File::create(&errors).unwrap()));
    let line = serving.line();
    let address = line.strip_prefix("best listens on ").expect(&line);
    let output = load(folder.path(), "best", address, &["--session", "durable"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let (status, told) = serving.wait();
    let errors = std::fs::read_to_string(errors).unwrap();
    assert_eq!(status, Some(1), "{errors}");
    assert!(told.starts_with("best: "), "{told}");
    let last = errors.lines().last().unwrap();
    assert!(last.starts_with("purlin ack serve: the log cannot be written"), "{errors}");
    assert!(last.contains("cannot write kept/00000000000000000000.log: "), "{errors}");
}

#[test]
fn messages_are_passed_to_a_process() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--strategy", "best", "--listen", "127.0.0.1:0", "--handler", "process"];
    let mut serving = Serving::start(folder.path(), &words);
    let (_, address) = serving.listens();
    let output = load(folder.path(), "best", &address, &["--connections", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (status, printed) = serving.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(printed.starts_with("best: 3000 messages in "), "{printed}");
}

#[test]
fn an_oversized_message_closes_its_connection_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--strategy", "sync-ack", "--listen", "127.0.0.1:0", "--largest", "99"];
    let mut serving = Serving::start(folder.path(), &words);
    let (_, address) = serving.listens();
    assert_eq!(load(folder.path(), "sync-ack", &address, &["--size", "99"]).status.code(), Some(0));
    let output = load(folder.path(), "sync-ack", &address, &["--size", "100"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let printed = serving.end("-TERM").1;
    assert!(printed.contains("1 connections closed for a message over the limit"), "{printed}");
}

#[test]
fn closed_connections_are_logged_on_standard_error_unless_the_log_is_off() {
    for (log, is_logged) in [("warn", true), ("off", false)] {
        let folder = tempfile::tempdir().unwrap();
        let errors = folder.path().join("errors");
        let mut command = purlin(folder.path());
        command.args(["ack", "serve", "--strategy", "best", "--listen", "127.0.0.1:0"]);
        command.args(["--largest", "99", "--log", log]);
        let mut serving = Running::start(command.stderr(File::create(&errors).unwrap()));
        let line = serving.line();
        let (_, address) = line.split_once(" listens on ").expect(&line);
        for _ in 0..3 {
            let output = load(folder.path(), "best", address, &["--size", "100"]);
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        }
        let (_, printed) = serving.end("-TERM");
        let logged = std::fs::read_to_string(errors).unwrap();
        assert_eq!(!logged.is_empty(), is_logged, "{logged}");
        if is_logged {
            // At most one line per second; the others are counted in it.
            let first = logged.lines().next().unwrap();
            assert!(first.contains("WARN") && first.contains("peer=127.0.0.1:"), "{logged}");
            assert!(first.contains("suppressed=0") && first.contains("100 bytes"), "{logged}");
        }
        assert!(printed.contains("connections closed for a message over the limit"), "{printed}");
    }
}

#[test]
fn invalid_serve_arguments_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (words, due) in [
        (&["--strategy", "bost"][..], "best"),
        (&["--listen", "127.0.0.1:9000"], "--strategy"),
        (&["--listen", "here"], "0.0.0.0:9000"),
        (&["--strategy", "best", "--listen", &taken], "another program"),
        (&["--handler", "file"], "--handler file PATH"),
        (&["--handler", "disk"], "give count, file PATH or process"),
        (&["--handler", "file", "no/such/place"], "no/such/place"),
        (&["--connections", "0"], "from 1"),
        (&["--largest", "-1"], "--largest"),
        (&["--idle-timeout", "0"], "above 0"),
        (&["--buffer-bytes", "-1"], "--buffer-bytes"),
        (&["--session-bytes", "many"], "--session-bytes"),
        (&["--log", "loud"], "--log"),
        (&["--level", "sure"], "durable"),
        (&["--level", "durable"], "--level durable requires --handler file"),
        (&["--strategy", "best", "--handler", "process", "--level", "durable"], "--handler file"),
        (&["--forward", "sink@shop@127.0.0.1", "--level", "durable"], "--handler file"),
        (&["--strategy", "sync-ack", "--level", "handled"], "sync-ack always acknowledges"),
        (&["--segment-bytes", "4096"], "--segment-bytes requires --handler file"),
        (&["--handler", "count", "--segment-age", "1"], "--segment-age requires --handler file"),
        (&["--handler", "process", "--keep-bytes", "1"], "--keep-bytes requires --handler file"),
        (&["--forward", "a@b@127.0.0.1", "--keep-age", "1"], "--keep-age requires --handler file"),
        (&["--keep-unconfirmed"], "--keep-unconfirmed requires --handler file"),
        (&["now"], "'now'"),
    ] {
        let output = purlin(folder.path()).args(["ack", "serve"]).args(words).output();
        let output = output.expect("purlin runs");
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {printed}");
        assert!(printed.lines().count() == 1 && printed.starts_with("purlin: "), "{printed}");
        assert!(printed.contains(due), "{words:?}: {printed}");
    }
}
