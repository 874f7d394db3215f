//! How long acks take, as a server counts it.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::common::over::cases;
use crate::common::{
    Client, Gated, answer, connect, exactly, for_each_at_once, message, newest, start, until,
    untimed_server,
};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::Latency;
use purlin_ack::session::{Level, Opening};
use purlin_ack::wire::{Ack, Id, SizeOrder};

/// Waits at a gate, if it has one.
struct Behind(Option<Gated>);

impl Handler for Behind {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        match &mut self.0 {
            Some(gate) => gate.handle(batch).await,
            None => Ok(()),
        }
    }
}

/// Whether one time is that other, as far as is known.
fn is_about(told: Duration, least: Duration, most: Duration) -> bool {
    told >= least - least / 16 && told <= most + most / 16
}

#[test]
fn an_ack_that_the_handler_holds_up_takes_as_long_as_it_does_and_others_do_not() {
    const OTHERS: u64 = 10;
    for_each_at_once(cases(), |case| {
        let gated = Gated::default();
        let first = Arc::new(Mutex::new(Some(gated.clone())));
        let take = move || first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let server = start(case.builder().handler(move |_| Behind(take())));
        assert_eq!(server.server().latency(), Latency::default(), "{case}");

        let mut slow = Client::connect(server.address(), case);
        // WHY real time: the server's figures are compared with times that enclose them, on the same
        // clock, however long they are.
        let began = Instant::now();
        slow.message(0, b"slow");
        gated.wait();
        let at_gate = Instant::now();
        let mut quick = Client::connect(server.address(), case);
        for id in 0..OTHERS {
            quick.message(id, b"quick");
            quick.until(id);
        }
        let held = at_gate.elapsed();
        gated.open();
        slow.until(0);

        // Each is counted when it has been written, which is a moment before.
        until("all are counted", || server.server().latency().count() == OTHERS + 1);
        let total = began.elapsed();
        let latency = server.server().latency();
        let (half, most) = (latency.quantile(0.5), latency.max());
        assert!(
            most.is_some_and(|most| is_about(most, held, total)),
            "{case}: {held:?} {latency:?}"
        );
        assert!(
            half.is_some_and(|half| is_about(half, Duration::ZERO, held)),
            "{case}: {latency:?}"
        );
        assert_eq!(server.server().watch().latency(), latency);
        drop((slow, quick));
        server.drain();
    });
}

#[test]
fn in_a_session_each_answer_counts_and_neither_its_opening_nor_what_was_answered_before() {
    let server = start(untimed_server());
    let mut stream = connect(server.address());
    let opening = Opening { client: *b"sixteen letters!", epoch: 1, level: Level::Handled };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    assert_eq!(newest(answer(&mut stream)), None);
    for id in 0..2 {
        // The first one comes twice.
        for id in 0..=id {
            let message = message(id, b"hello", SizeOrder::Little);
            stream.write_all(&message).expect("the server reads");
        }
        let ack = Ack::from_bytes(exactly(&mut stream).expect("there is an ack"));
        assert_eq!(ack.id, Id::from(id));
    }
    drop(stream);
    let watch = server.server().watch();
    server.drain();
    assert_eq!(watch.latency().count(), 2);
}
