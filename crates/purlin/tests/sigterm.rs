//! A program under load that is stopped by a real SIGTERM.
//!
//! `cargo test -p purlin` builds the example; with `--test sigterm` alone, build it first with
//! `cargo build -p purlin --examples`.

#![cfg(unix)]

use std::collections::HashSet;
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::server::{self, Init, Mail, Server};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Node, Process};

const CLIENTS: usize = 8;
/// Number of answered lines before the program is stopped.
const WARM: usize = 1000;

fn program() -> PathBuf {
    // This test binary is target/PROFILE/deps/sigterm-HASH; the example is in
    // target/PROFILE/examples.
    let test = std::env::current_exe().expect("a test knows its own program");
    let profile = test.ancestors().nth(2).expect("a test is two folders below");
    profile.join("examples/ledger")
}

/// Starts the program; returns the child, its output lines and the address it listens on.
fn start(ledger: &PathBuf) -> (Child, impl Iterator<Item = String>, String) {
    let mut command = Command::new(program());
    command.arg(ledger).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("the example: {error}; `cargo build -p purlin --examples` builds it")
    });
    let output = child.stdout.take().expect("its output is a pipe");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let first = lines.next().expect("it says where it listens");
    let address = first.strip_prefix("listening on ").expect("it says where").to_owned();
    (child, lines, address)
}

/// Sends lines one at a time and reports each acknowledged line, until the connection is closed.
fn write(address: &str, client: usize, acknowledged: &Sender<String>) {
    let stream = TcpStream::connect(address).expect("it listens");
    let mut answers = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    let (mut stream, mut answer) = (stream, String::new());
    for number in 0.. {
        let line = format!("{client}-{number}");
        answer.clear();
        let sent = stream.write_all(format!("{line}\n").as_bytes());
        let answered = sent.and_then(|()| answers.read_line(&mut answer));
        if !answered.is_ok_and(|read| read > 0 && answer.ends_with('\n')) {
            return;
        }
        acknowledged.send(line).expect("the test waits for all");
    }
}

fn tell(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("there is kill").success());
}

// G4, E1: every acknowledged line is on disk; SIGTERM stops in order
#[test]
fn every_acknowledged_line_is_in_the_ledger_after_sigterm_under_load() {
    let ledger = std::env::temp_dir().join(format!("purlin-ledger-{}", std::process::id()));
    let (mut child, said, address) = start(&ledger);
    let (tell_acknowledged, acknowledged) = channel();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (address, acknowledged) = (address.clone(), tell_acknowledged.clone());
            std::thread::spawn(move || write(&address, client, &acknowledged))
        })
        .collect();
    drop(tell_acknowledged);
    let mut answered: Vec<String> = acknowledged.iter().take(WARM).collect();
    tell(&child, "-TERM");
    let status = child.wait().expect("it ends");
    clients.into_iter().for_each(|client| client.join().expect("a client does not panic"));
    answered.extend(acknowledged);
    let written = std::fs::read_to_string(&ledger).expect("there is a ledger");
    std::fs::remove_file(&ledger).expect("it can be removed");

    // The example gives its application 10 s; after that it exits with another status.
    assert_eq!(status.code(), Some(0), "an orderly end");
    assert_eq!(said.collect::<Vec<_>>(), ["stopping", "stopped"]);
    let lines: Vec<&str> = written.lines().collect();
    let written: HashSet<&str> = lines.iter().copied().collect();
    assert_eq!(written.len(), lines.len(), "nothing was written twice");
    let lost: Vec<_> = answered.iter().filter(|line| !written.contains(line.as_str())).collect();
    assert!(lost.is_empty(), "answered and not written: {lost:?}");
    assert!(lines.len() <= answered.len() + CLIENTS, "each client waits for one answer at most");
}

// G4: SIGINT stops in order as well
#[test]
fn ctrl_c_stops_the_program_in_order() {
    let ledger = std::env::temp_dir().join(format!("purlin-ledger-int-{}", std::process::id()));
    let (mut child, said, _) = start(&ledger);
    tell(&child, "-INT");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(said.collect::<Vec<_>>(), ["stopping", "stopped"]);
    std::fs::remove_file(&ledger).expect("it can be removed");
}

/// Server whose `init` prints a line and never returns.
#[derive(Debug)]
struct Hangs;

impl Server for Hangs {
    type Args = ();
    type Call = Infallible;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        println!("starting");
        std::future::pending().await
    }
}

const HANGS: &str = "a_program_whose_start_hangs_is_ended_all_the_same";

// G4: SIGTERM ends a program within its shutdown time, even during its start
#[test]
fn a_program_whose_start_hangs_is_ended_all_the_same() {
    if std::env::var_os(HANGS).is_some() {
        let node = Node::builder().build().expect("a node starts");
        let code = node.block_on(|_: Process<()>| {
            let tree = SupervisorSpec::one_for_one()
                .child(ChildSpec::server("hangs", |me| server::start_link::<Hangs>(me, ())));
            // WHY real time: the start never returns, so any time is too short for it.
            let hangs = ApplicationSpec::new("hangs", tree).shutdown(Duration::from_millis(100));
            application::run(hangs)
        });
        node.stop_blocking();
        std::process::exit(i32::from(code != ExitCode::SUCCESS));
    }
    // Run this test again in a child process.
    let test = std::env::current_exe().expect("a test knows its own program");
    let mut command = Command::new(test);
    command.args([HANGS, "--exact", "--nocapture"]).env(HANGS, "1").stdout(Stdio::piped());
    let mut child = command.spawn().expect("it runs again");
    let output = child.stdout.take().expect("its output is a pipe");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("starting")));
    tell(&child, "-TERM");
    // The start never completes: a program that waited for it would not end.
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "it was not stopped in its time");
}

// G4: an application that ends on its own ends its program and logs the reason
#[test]
fn an_application_that_cannot_be_started_ends_the_program_with_one_line_and_status_1() {
    let output = Command::new(program()).arg("/no/such/folder/ledger").output();
    let output = output.expect("the example is built");
    // The `book` process cannot open its file and ends after every restart, until its supervisor
    // gives up.
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("purlin: application ledger"), "{errors}");
}
