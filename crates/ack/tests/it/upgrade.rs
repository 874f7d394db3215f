//! Upgrade under load: a second process takes over the listening socket, passed as a descriptor,
//! while the first drains. No client is refused, and no acknowledged message is lost.

use crate::common;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::common::programs::{self, Program};
use crate::common::{runtime, start, until, untimed, untimed_client, untimed_server};
use purlin::Node;
use purlin_ack::handler::File;
use purlin_ack::server::{Builder, Server};
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;

/// Environment variables: the log of the first process, from which the name of the second's log
/// is derived, and the strategy.
const STORE: &str = "PURLIN_ACK_STORE";
const STRATEGY: &str = "PURLIN_ACK_STRATEGY";

fn second(store: &Path) -> PathBuf {
    store.with_extension("second")
}

/// Starts a server. Also returns the node of its writer process.
fn serving<F>(builder: Builder<F>, store: &Path) -> (common::Running, Node) {
    let strategy: Strategy = env::var(STRATEGY).expect("it is set").parse().expect("a strategy");
    let node = Node::builder().workers(1).build().expect("a node starts");
    let file = File::open(&node, store).expect("it can be written");
    (start(builder.strategy(strategy).handler(move |_| file.clone())), node)
}

fn store() -> PathBuf {
    env::var_os(STORE).expect("it is set").into()
}

#[test]
fn the_first_program() {
    if !programs::is("upgrade::the_first_program") {
        return;
    }
    let (server, _node) = serving(untimed_server(), &store());
    println!("\nlistening on {}", server.address());
    assert_eq!(programs::next_line().as_deref(), Some("upgrade"));
    let listener = server.hand_over();
    // WHY as standard error: a child's standard stream can be set and read without unsafe code.
    let mut command = programs::command("upgrade::the_second_program");
    command.stderr(Stdio::from(OwnedFd::from(listener)));
    let mut successor = command.spawn().expect("it starts");
    println!("first {}", server.drain().messages);
    assert!(successor.wait().expect("it is a child").success(), "the second program failed");
}

#[test]
fn the_second_program() {
    if !programs::is("upgrade::the_second_program") {
        return;
    }
    let passed = io::stderr().as_fd().try_clone_to_owned().expect("there is a descriptor");
    let builder = Server::builder_on(TcpListener::from(passed)).limits(untimed());
    let (server, _node) = serving(builder, &second(&store()));
    // WHY a new line: on one core libtest runs a test on the line where it has just written its
    // name.
    println!("\ntook over {}", server.address());
    // Runs until the parent of the first process has ended.
    programs::next_line();
    println!("second {}", server.drain().messages);
}

/// Returns the numbers in a log, and removes it.
fn stored(path: &Path) -> Vec<u64> {
    let stored = common::stored(path).iter().map(common::number).collect();
    fs::remove_dir_all(path).expect("it is there");
    stored
}

/// Connects repeatedly, sends a few numbers each time, and returns the acknowledged ones.
fn come_and_go(
    address: SocketAddr,
    strategy: Strategy,
    base: u64,
    stop: &AtomicBool,
    visits: &AtomicU64,
) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        // Panics if the connection is refused.
        let mut client = common::Client::connect(address, strategy);
        let visit = visits.fetch_add(1, Ordering::Relaxed);
        let numbers: Vec<u64> = (0..20).map(|number| base + visit * 100 + number).collect();
        for (id, number) in (0..).zip(&numbers) {
            let bytes = common::message(id, &number.to_le_bytes(), strategy.order());
            // The server may be about to close.
            if std::io::Write::write_all(&mut client.stream, &bytes).is_err() {
                break;
            }
        }
        // A stopping server may have closed the connection.
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        let count = client.until_closed().map_or(0, |newest| newest + 1);
        acknowledged.extend(&numbers[..count as usize]);
    }
    acknowledged
}

#[test]
fn hand_over_under_load_refuses_no_client_and_loses_no_message() {
    for strategy in [Strategy::Best, Strategy::Throttle, Strategy::AsyncAck] {
        let name = format!("purlin-ack-upgrade-{strategy}-{}", std::process::id());
        let path = env::temp_dir().join(name);
        let settings = [(STORE, path.as_os_str()), (STRATEGY, OsStr::new(strategy.name()))];
        let mut server = Program::start("upgrade::the_first_program", &settings);
        let address: SocketAddr = server.said("listening on ").parse().expect("an address");

        let (stop, visits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clients: Vec<_> = (1..3_u64)
            .map(|number| {
                let (stop, visits) = (Arc::clone(&stop), Arc::clone(&visits));
                thread::spawn(move || come_and_go(address, strategy, number << 40, &stop, &visits))
            })
            .collect();
        // A long-lived client, which reconnects when the first process closes its connection.
        let runtime = runtime();
        let builder = untimed_client(address).batch(1000);
        let builder = match strategy {
            Strategy::Best => builder.session(Level::Durable),
            _ => builder,
        };
        let client = Arc::new(runtime.block_on(builder.connect()).expect("the port is open"));
        let (sender, ends) = (Arc::clone(&client), Arc::clone(&stop));
        let sending = runtime.spawn(async move {
            let mut number = 0_u64;
            while !ends.load(Ordering::Relaxed) {
                sender.send(&number.to_le_bytes()).await.expect("it is taken");
                number += 1;
                if number.is_multiple_of(100) {
                    sender.flush().await.expect("all are answered");
                }
            }
            number
        });

        let some_more = || {
            let (visit, answered) = (visits.load(Ordering::Relaxed), client.answered());
            until("clients come and go", || visits.load(Ordering::Relaxed) > visit + 20);
            until("the other is answered", || client.answered() > answered.map(|id| id + 500));
        };
        some_more();
        server.send_line("upgrade");
        server.said("took over ");
        some_more();
        stop.store(true, Ordering::Relaxed);
        let count = runtime.block_on(sending).expect("it ends");
        runtime.block_on(client.close()).expect("all are answered");
        let acknowledged: Vec<u64> = clients
            .into_iter()
            .flat_map(|client| client.join().expect("no message is refused"))
            .collect();
        server.finish();

        let (before, after) = (stored(&path), stored(&second(&path)));
        assert!(!before.is_empty() && !after.is_empty(), "{strategy}: both have served");
        let all: BTreeSet<u64> = before.iter().chain(&after).copied().collect();
        assert!(acknowledged.iter().all(|number| all.contains(number)), "{strategy}: lost");
        assert!((0..count).all(|number| all.contains(&number)), "{strategy}: lost");
    }
}
