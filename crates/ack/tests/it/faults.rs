//! Fault injection, checked against a ledger: every acknowledged message was handled.

use crate::common;
use std::io::Write as _;
use std::net::Shutdown;

use crate::common::{Client, Nervous, connect, message, start, start_with, untimed_server};
use purlin::ExitReason;
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::strategy::Strategy;

#[test]
fn panicking_handler_closes_the_connection_without_acks_of_its_batch() {
    for strategy in Strategy::ALL {
        let nervous = Nervous::default();
        let server = start_with(untimed_server().strategy(strategy), &nervous);
        let mut acknowledged = 0;
        for _ in 0..3 {
            let mut client = Client::connect(server.address(), strategy);
            let mut writer = client.stream.try_clone().expect("there is a descriptor");
            let order = strategy.order();
            let sending = std::thread::spawn(move || {
                (0..)
                    .map(|id| message(id, b"hello", order))
                    .all(|bytes| writer.write_all(&bytes).is_ok())
            });
            acknowledged += client.until_closed().map_or(0, |newest| newest + 1);
            // Shutting the connection down ends the writer thread.
            let _ = client.stream.shutdown(Shutdown::Both);
            sending.join().expect("it ends");
        }
        let kept = nervous.kept.ids().len() as u64;
        assert!(acknowledged <= kept, "{strategy}: {acknowledged} acknowledged, {kept} handled");
        server.until("all have ended", |counts| counts.connections == 0);
        let counts = server.drain();
        assert_eq!(counts.failed, 3, "{strategy}");
        assert!(counts.messages <= kept, "{strategy}: {} claimed, {kept} handled", counts.messages);
    }
}

/// Handler that fails at the message with id 3.
#[derive(Clone, Copy, Default)]
struct Failing;

impl Handler for Failing {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        if batch.frames().any(|frame| frame.id.number() == 3) {
            return Err(Unhandled::Failed(ExitReason::shutdown_with("on purpose")));
        }
        Ok(())
    }
}

#[test]
fn failing_handler_closes_the_connection_after_earlier_acks() {
    for strategy in Strategy::ALL {
        let server = start(untimed_server().strategy(strategy).handler(|_| Failing));
        let mut client = Client::connect(server.address(), strategy);
        for id in 0..3 {
            client.message(id, b"hello");
            client.until(id);
        }
        client.message(3, b"hello");
        assert_eq!(client.until_closed(), Some(2), "{strategy}");
        drop(client);
        server.until("it is counted", |counts| counts.failed == 1 && counts.connections == 0);
        server.drain();
    }
}

#[test]
fn clients_killed_mid_message_leave_no_processes_behind() {
    for strategy in Strategy::ALL {
        let server = start(untimed_server().strategy(strategy));
        let before = server.node.processes().len();
        for cut in 0..20 {
            let mut client = connect(server.address());
            let bytes = message(0, b"hello", strategy.order());
            client
                .write_all(&[&bytes[..], &bytes[..cut % bytes.len()]].concat())
                .expect("it reads");
        }
        server.until("all have gone", |counts| {
            counts.connections_ever == 20 && counts.connections == 0
        });
        common::until("their processes have ended", || server.node.processes().len() <= before);
        server.drain();
    }
}
