//! Latency of acks, as measured by the server.

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

/// Handler that waits for a permit, if it has a gate.
struct Behind(Option<Gated>);

impl Handler for Behind {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        match &mut self.0 {
            Some(gate) => gate.handle(batch).await,
            None => Ok(()),
        }
    }
}

/// Whether a reported time is between two bounds, within the resolution of the histogram.
fn is_about(measured: Duration, least: Duration, most: Duration) -> bool {
    measured >= least - least / 16 && measured <= most + most / 16
}

#[test]
fn latency_includes_the_handler_of_the_same_connection_only() {
    const OTHERS: u64 = 10;
    for_each_at_once(cases(), |case| {
        let gated = Gated::default();
        let first = Arc::new(Mutex::new(Some(gated.clone())));
        let take = move || first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let server = start(case.builder().handler(move |_| Behind(take())));
        assert_eq!(server.server().latency(), Latency::default(), "{case}");

        let mut slow = Client::connect(server.address(), case);
        // WHY real time: the reported latency is compared with bounds measured on the same clock,
        // however long it is.
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

        // The server counts an ack after it has written it, so the count may lag behind.
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
fn session_latency_counts_answers_but_not_openings_or_duplicates() {
    let server = start(untimed_server());
    let mut stream = connect(server.address());
    let opening = Opening { client: *b"sixteen letters!", epoch: 1, level: Level::Handled };
    stream.write_all(&opening.to_bytes()).expect("the server reads");
    assert_eq!(newest(answer(&mut stream)), None);
    for id in 0..2 {
        // The first message is sent twice.
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
