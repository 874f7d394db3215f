//! Level of acks without a session: a server acknowledges at no level that its handler does not offer.

use crate::common::{Client, Recorder, start, start_with, untimed_server};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;

/// Handler that offers a level and accepts batches of no other.
#[derive(Clone)]
struct Offering(Level);

impl Handler for Offering {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        assert_eq!(batch.level(), self.0);
        Ok(())
    }

    fn offers(&self) -> Level {
        self.0
    }
}

#[test]
fn connection_is_closed_unacknowledged_if_its_handler_does_not_offer_the_level() {
    let recorder = Recorder::default();
    let server = start_with(untimed_server().level(Level::Durable), &recorder);
    let mut client = Client::connect(server.address(), Strategy::Best);
    client.message(0, b"hello");
    assert_eq!(client.until_closed(), None);
    server.until("it is counted", |counts| counts.failed == 1);
    drop(client);
    assert_eq!((server.drain().acks, recorder.0.ids()), (0, vec![]));

    let server = start(untimed_server().handler(|_| Offering(Level::Received)));
    let mut client = Client::connect(server.address(), Strategy::Best);
    client.message(0, b"hello");
    assert_eq!(client.until_closed(), None);
    drop(client);
    assert_eq!(server.drain().acks, 0);
}

#[test]
fn level_that_the_handler_offers_is_acknowledged() {
    for level in [Level::Received, Level::Handled, Level::Durable] {
        let server = start_with(untimed_server().level(level), &Offering(level));
        let mut client = Client::connect(server.address(), Strategy::Best);
        client.message(0, b"hello");
        client.until(0);
        drop(client);
        assert_eq!(server.drain().failed, 0);
    }
}

#[test]
fn strategies_that_acknowledge_at_received_serve_every_handler() {
    for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::Best) {
        let builder = untimed_server().strategy(strategy).level(Level::Durable);
        let server = start_with(builder, &Offering(Level::Received));
        let mut client = Client::connect(server.address(), strategy);
        client.message(0, b"hello");
        client.until(0);
        drop(client);
        server.drain();
    }
}
