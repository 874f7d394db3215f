//! Graceful shutdown: a server acknowledges what it has read, and nothing it has not handled.

use std::collections::HashSet;
use std::io::Write as _;
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::common::over::{Case, cases};
use crate::common::{
    Client, Gated, Recorder, Running, for_each_at_once, message, start_with, untimed,
    untimed_server,
};
use purlin_ack::server::Limits;
use purlin_ack::strategy::Strategy;

/// Returns a server and a client whose first message is blocked in the handler.
fn with_a_waiting_handler(case: Case) -> (Gated, Running, Client) {
    let gated = Gated::default();
    let server = start_with(case.builder(), &gated);
    let mut client = Client::connect(server.address(), case);
    client.message(0, b"first");
    gated.wait();
    (gated, server, client)
}

#[test]
fn messages_read_before_a_drain_are_handled_and_acknowledged() {
    for_each_at_once(cases(), |case| {
        let (gated, server, mut client) = with_a_waiting_handler(case);
        // The drain may begin before the server has read these.
        let more: Vec<u8> =
            (1..50).flat_map(|id| message(id, b"more", case.strategy.order())).collect();
        client.send(&more);
        let drained = thread::spawn(move || server.drain());
        gated.open();
        let acknowledged = client.until_closed();
        drop(client);
        let counts = drained.join().expect("it drains");
        let handled = gated.kept.ids();
        assert_eq!(acknowledged, handled.last().copied(), "{case}");
        assert_eq!(counts.messages, handled.len() as u64, "{case}");
        assert!(handled.contains(&0), "{case}: what was read is not acknowledged");
    });
}

#[test]
fn drain_under_load_loses_no_acknowledged_message() {
    for_each_at_once(Strategy::ALL, |strategy| {
        let recorder = Recorder::default();
        let server = start_with(untimed_server().strategy(strategy), &recorder);
        let address = server.address();
        let clients: Vec<_> = (0..4).map(|_| Client::connect(address, strategy)).collect();
        // A client that is not accepted yet would be refused by the drain.
        server.until("all are let in", |counts| counts.connections == 4);
        let clients: Vec<_> = (0..4_u64)
            .zip(clients)
            .map(|(number, mut client)| {
                thread::spawn(move || send_until_closed(&mut client, number << 32))
            })
            .collect();
        server.until("some is acknowledged", |counts| counts.messages > 300);
        let counts = server.drain();
        let kept: HashSet<u64> =
            recorder.0.take().into_iter().map(|(_, payload)| number(&payload)).collect();
        let mut acknowledged = 0;
        for client in clients {
            let (base, newest) = client.join().expect("it ends");
            let count = newest.map_or(0, |newest| newest + 1);
            assert!((0..count).all(|id| kept.contains(&(base + id))), "{strategy}: lost");
            acknowledged += count;
        }
        assert_eq!(
            acknowledged,
            kept.len() as u64,
            "{strategy}: what was handled was acknowledged"
        );
        assert_eq!(counts.messages, acknowledged, "{strategy}");
    });
}

fn number(payload: &[u8]) -> u64 {
    u64::from_le_bytes(payload.try_into().expect("a number"))
}

/// Sends consecutively numbered messages from `base` until the server closes. Returns the newest
/// acknowledged id.
fn send_until_closed(client: &mut Client, base: u64) -> (u64, Option<u64>) {
    let mut writer = client.stream.try_clone().expect("there is a descriptor");
    let order = client.order;
    let sending = thread::spawn(move || {
        for first in (0..).step_by(50) {
            let segment: Vec<u8> = (first..first + 50)
                .flat_map(|id: u64| message(id, &(base + id).to_le_bytes(), order))
                .collect();
            if writer.write_all(&segment).is_err() {
                break;
            }
        }
    });
    let newest = client.until_closed();
    // Shutting the connection down ends the writer thread.
    let _ = client.stream.shutdown(Shutdown::Both);
    sending.join().expect("it ends");
    (base, newest)
}

#[test]
fn handler_exceeding_the_drain_timeout_is_killed_and_its_batch_unacknowledged() {
    for_each_at_once(Strategy::ALL, |strategy| {
        let gated = Gated::default();
        // WHY real time: the handler never returns, so the shutdown timeout must expire.
        let limits = Limits { drain: Duration::from_millis(50), ..untimed() };
        let server = start_with(untimed_server().strategy(strategy).limits(limits), &gated);
        let mut client = Client::connect(server.address(), strategy);
        client.message(0, b"hello");
        gated.wait();
        assert_eq!(server.drain().messages, 0, "{strategy}");
        assert_eq!(client.until_closed(), None, "{strategy}");
    });
}

#[test]
fn connections_acknowledge_read_messages_when_the_node_stops() {
    for_each_at_once(cases(), |case| {
        let (gated, server, mut client) = with_a_waiting_handler(case);
        let node = server.node.clone();
        let stopped = thread::spawn(move || node.stop_blocking());
        gated.open();
        assert_eq!(client.until_closed(), Some(0), "{case}");
        drop(client);
        stopped.join().expect("it stops");
    });
}
