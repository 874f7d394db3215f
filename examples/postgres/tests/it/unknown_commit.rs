//! The connection to the database is lost during a COMMIT, so that the server does not know its
//! outcome. The database has each message once all the same.

use std::sync::mpsc::channel;

use purlin_ack::client::Client;
use purlin_ack::session::Level;
use purlin_polling::until;
use tokio::runtime;

use crate::database::{Database, database};
use crate::programs::{free_port, kill};
use crate::proxy::{Cut, Proxy};
use crate::server::start_server;

const MESSAGES: u64 = 300;

/// Sends messages through a server whose first COMMIT is cut. `during` runs after that, with a
/// function that kills the server and starts it again.
fn send(cut: Cut, during: impl FnOnce(&Database, &mut dyn FnMut())) {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(database.folder());
    let (address, _port) = free_port();
    let mut server = start_server(address, &proxy.connection());
    let mut restart = || {
        kill("KILL", &[server.pid()]);
        server.end();
        server = start_server(address, &proxy.connection());
    };
    let runtime = runtime::Runtime::new().expect("a runtime");
    proxy.cut(cut);
    let client = runtime.block_on(async {
        let client = Client::builder(address).session(Level::Durable).connect().await;
        let client = client.expect("there is a session");
        for number in 0..MESSAGES {
            let payload = number.to_string().into_bytes();
            let refused: &[u8] = if number == 42 { b"\xff" } else { b"" };
            client.send(&[refused, &payload].concat()).await.expect("it is accepted");
        }
        client
    });
    proxy.is_cut();
    during(&database, &mut restart);
    runtime.block_on(client.close()).expect("all are answered");
    let stored = database.query("select number, payload from messages order by client, number");
    let due = (0..MESSAGES).filter(|number| *number != 42);
    assert_eq!(stored, due.map(|number| format!("{number}|{number}")).collect::<Vec<_>>());
    assert_eq!(database.query("select number from refusals"), ["42"]);
    assert_eq!(database.query("select newest from positions"), [(MESSAGES - 1).to_string()]);
}

#[test]
fn transaction_that_was_not_committed_is_repeated() {
    send(Cut::Before, |_, _| ());
}

#[test]
fn transaction_that_was_committed_is_not_repeated() {
    send(Cut::After, |_, _| ());
}

/// Waits until a transaction waits for the lock of another, or until the database has ended that
/// other one, since its client was silent for too long.
fn until_it_waits(database: &Database) {
    let waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
    let stored = "select 1 from positions";
    let there = |statement| !database.query(statement).is_empty();
    until("the next transaction waits", || there(waiting) || there(stored));
}

#[test]
fn commit_that_arrives_after_the_next_transaction_has_begun_counts() {
    let (release, released) = channel();
    send(Cut::Held(released), |database, _| {
        until_it_waits(database);
        release.send(()).expect("the proxy waits");
    });
}

#[test]
fn commit_that_arrives_after_the_server_was_killed_and_started_again_counts() {
    let (release, released) = channel();
    send(Cut::Held(released), |database, restart| {
        restart();
        until_it_waits(database);
        release.send(()).expect("the proxy waits");
    });
}
