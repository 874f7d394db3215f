//! A batch that the database rejects is not acknowledged, and is stored once the database accepts
//! it.

use std::net::SocketAddr;
use std::time::Duration;

use purlin_ack::client::{Builder, Client, Ended};
use purlin_ack::session::Level;
use tokio::runtime;

use crate::database::database;
use crate::programs::free_port;
use crate::server::start_server;

const MESSAGES: u64 = 300;

fn client(address: SocketAddr) -> Builder {
    Client::builder(address).session(Level::Durable).identity([7; 16]).epoch(1)
}

/// Sends messages until the client ends.
async fn send(client: &Client, messages: std::ops::Range<u64>) {
    for number in messages {
        if client.send(number.to_string().as_bytes()).await.is_err() {
            break;
        }
    }
}

// WHY real time: the client's give-up timeout. It counts from the first failure, and the batch always
// fails, so any time is long enough.
#[test]
fn rejected_batch_is_not_acknowledged_and_is_stored_when_the_constraint_is_gone() {
    let Some(database) = database() else { return };
    let (address, _port) = free_port();
    let _server = start_server(address, &database.connection());
    database.query("alter table messages add constraint rejects check (payload <> '200')");
    let runtime = runtime::Runtime::new().expect("a runtime");
    let answered = runtime.block_on(async {
        let client = client(address).give_up_after(Duration::from_millis(200)).connect().await;
        let client = client.expect("there is a session");
        send(&client, 0..100).await;
        client.flush().await.expect("they are stored");
        send(&client, 100..MESSAGES).await;
        let left = client.close().await.expect_err("one is never answered");
        assert!(matches!(left.why, Ended::GaveUp(..)), "{left}");
        client.answered()
    });
    assert!((Some(99)..Some(200)).contains(&answered), "{answered:?}");

    database.query("alter table messages drop constraint rejects");
    runtime.block_on(async {
        let client = client(address).resume(0).connect().await.expect("there is a session");
        assert!(client.answered() >= answered, "what is acknowledged is stored");
        let next = client.answered().map_or(0, |newest| newest + 1);
        send(&client, next..MESSAGES).await;
        client.close().await.expect("all are answered");
    });
    let stored = database.query("select number, payload from messages order by number");
    let due = (0..MESSAGES).map(|number| format!("{number}|{number}"));
    assert_eq!(stored, due.collect::<Vec<_>>());
}

#[test]
fn message_without_a_session_is_not_stored() {
    let Some(database) = database() else { return };
    let (address, _port) = free_port();
    let _server = start_server(address, &database.connection());
    let left = runtime::Runtime::new().expect("a runtime").block_on(async {
        let client = Client::builder(address).give_up_after(Duration::ZERO).connect().await;
        let client = client.expect("the port is open");
        client.send(b"hello").await.expect("it is accepted");
        client.close().await.expect_err("it is never answered")
    });
    assert_eq!(left.messages.len(), 1);
    assert!(database.query("select * from messages").is_empty());
}
