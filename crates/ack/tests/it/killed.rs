//! A server is repeatedly killed and restarted while a client keeps sending: no acknowledged
//! message is lost, and in a durable session none is handled twice. The server runs in a separate
//! process.

use crate::common;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use crate::common::over::uninterrupted;
use crate::common::programs::{self, Program};
use crate::common::{
    answer, anywhere, connect, message, newest, runtime, start, untimed, untimed_client,
};
use purlin::Node;
use purlin_ack::client::Builder;
use purlin_ack::client::outbox::Window;
use purlin_ack::handler::File;
use purlin_ack::server::Server;
use purlin_ack::session::{Level, Opening};
use purlin_ack::verifier::AckVerifier;
use purlin_ack::wire::SizeOrder;
use socket2::{Domain, Socket, Type};

/// Environment variables: the log of the server, and its listening address.
const STORE: &str = "PURLIN_ACK_STORE";
const AT: &str = "PURLIN_ACK_AT";
const MESSAGES: u64 = 5000;
const KILLS: u64 = 5;

#[test]
fn the_server_that_is_killed() {
    if !programs::is("killed::the_server_that_is_killed") {
        return;
    }
    let at = env::var(AT).expect("it is set").parse().expect("an address");
    let node = Node::builder().workers(1).build().expect("a node starts");
    let path = env::var_os(STORE).expect("it is set");
    let file = File::open(&node, path).expect("it can be written");
    let server = start(Server::builder(at).limits(untimed()).handler(move |_| file.clone()));
    println!("\nlistening on {}", server.address());
    // Runs until it is killed or its parent has ended.
    programs::next_line();
}

fn server(at: SocketAddr, store: &Path) -> (Program, SocketAddr) {
    let at = at.to_string();
    let settings = [(STORE, store.as_os_str()), (AT, OsStr::new(&at))];
    let mut server = Program::start("killed::the_server_that_is_killed", &settings);
    let address = server.said("listening on ").parse().expect("an address");
    (server, address)
}

/// Returns the ids and the numbers in a log.
fn stored(store: &Path) -> Vec<(u64, u64)> {
    common::stored(store).iter().map(|record| (record.id, common::number(record))).collect()
}

fn somewhere(name: &str) -> PathBuf {
    env::temp_dir().join(format!("purlin-ack-{name}-{}", std::process::id()))
}

/// Opens the session and returns its newest stored message.
fn open(stream: &mut TcpStream) -> Option<u64> {
    let opening = Opening { client: [7; 16], epoch: 1, level: Level::Durable };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    newest(answer(stream))
}

#[test]
fn acknowledged_messages_survive_kills_and_none_is_stored_twice() {
    let store = somewhere("killed");
    let mut acknowledged = None;
    for target in (1..=KILLS).map(|kill| MESSAGES * kill / KILLS - 1) {
        let (server, address) = server(anywhere(), &store);
        let mut stream = connect(address);
        let newest = open(&mut stream);
        assert!(newest >= acknowledged, "acknowledged up to {acknowledged:?}, and then {newest:?}");
        let mut verifier = AckVerifier::session(newest);
        let mut writer = stream.try_clone().expect("there is a descriptor");
        let sending = thread::spawn(move || {
            let first = newest.map_or(0, |newest| newest + 1);
            // The write fails when the server is killed.
            (first..MESSAGES)
                .map(|id| message(id, &id.to_le_bytes(), SizeOrder::Little))
                .all(|bytes| writer.write_all(&bytes).is_ok())
        });
        let mut room = [0; 4096];
        while verifier.newest().is_none_or(|newest| newest < target) {
            let read = uninterrupted(|| stream.read(&mut room));
            let count = read.expect("the server acknowledges");
            assert!(count > 0, "the server has closed");
            let mut bytes = &room[..count];
            while verifier.take(&mut bytes).expect("acks leave no gap").is_some() {}
        }
        acknowledged = verifier.newest();
        server.kill();
        // Shutting the connection down ends the writer thread.
        let _ = stream.shutdown(Shutdown::Both);
        sending.join().expect("it ends");
    }
    let stored = stored(&store);
    fs::remove_dir_all(&store).expect("it is there");
    assert!(stored.into_iter().eq((0..MESSAGES).map(|id| (id, id))), "each once, in order");
}

/// Reserves a port for the test while its server is down.
///
/// WHY bound and not listening: the kernel assigns the port to no other socket, and a server that
/// sets `SO_REUSEADDR` can still listen on it.
fn free_port() -> (SocketAddr, Socket) {
    let held = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    held.set_reuse_address(true).expect("it is new");
    held.bind(&anywhere().into()).expect("a port is free");
    let address = held.local_addr().expect("it is bound").as_socket().expect("it is of IP");
    (address, held)
}

/// Sends numbers with a library client while its server is repeatedly killed. Returns what is
/// stored in the end.
fn send_while_it_is_killed(name: &str, set: impl FnOnce(Builder) -> Builder) -> Vec<(u64, u64)> {
    let store = somewhere(name);
    let (address, _held) = free_port();
    let (mut running, _) = server(address, &store);
    let runtime = runtime();
    let window = Window { messages: 200, bytes: 1 << 20 };
    let builder = untimed_client(address).batch(1000).window(window);
    let client = runtime.block_on(set(builder).connect()).expect("the port is open");
    let client = std::sync::Arc::new(client);
    let sender = std::sync::Arc::clone(&client);
    let sending = runtime.spawn(async move {
        for number in 0..MESSAGES {
            sender.send(&number.to_le_bytes()).await.expect("it is taken");
        }
    });
    for target in (1..KILLS).map(|kill| MESSAGES * kill / KILLS) {
        common::until("some more are answered", || client.answered() >= Some(target));
        running.kill();
        let answered = client.answered().expect("some are");
        // Acknowledged messages are stored before the server is restarted.
        let there: BTreeSet<_> = stored(&store).into_iter().map(|(_, number)| number).collect();
        assert!((0..=answered).all(|number| there.contains(&number)), "up to {answered}");
        (running, _) = server(address, &store);
    }
    runtime.block_on(async {
        sending.await.expect("all are taken");
        client.close().await.expect("all are answered");
    });
    running.kill();
    let stored = stored(&store);
    fs::remove_dir_all(&store).expect("it is there");
    stored
}

#[test]
fn durable_session_stores_each_message_once_despite_kills() {
    let stored = send_while_it_is_killed("once", |builder| builder.session(Level::Durable));
    assert!(stored.into_iter().eq((0..MESSAGES).map(|id| (id, id))), "each once, in order");
}

#[test]
fn client_without_session_stores_each_message_at_least_once_despite_kills() {
    let stored = send_while_it_is_killed("least", |builder| builder);
    let numbers: BTreeSet<_> = stored.into_iter().map(|(_, number)| number).collect();
    assert!(numbers.into_iter().eq(0..MESSAGES));
}
