//! One side of an exchange, for runtimes that pass each message to a handler.
//!
//! Such an actor cannot poll for a message between two pieces of work. It sends itself a message
//! for each piece, and messages that arrived before that one are handled first. Owned by the actor;
//! independent of how it sends.

use std::time::Duration;

use crate::local::{Schedule, WORK_START, work};
use crate::payloads::Payloads;
use crate::run::Exchange;
use crate::sample::Sample;

/// State of one of the two actors.
#[derive(Debug)]
pub struct Side<G> {
    payload: G,
    asked: Exchange,
    schedule: Schedule,
    worked: u64,
    x: u64,
    sent: u64,
    received: u64,
}

impl<G: Payloads> Side<G> {
    /// Creates the initial state of a side.
    #[must_use]
    pub fn new(payload: G, asked: Exchange) -> Self {
        let schedule = Schedule::new(asked.n, asked.pieces);
        Side { payload, asked, schedule, worked: 0, x: WORK_START, sent: 0, received: 0 }
    }

    /// Does one piece of work. Returns the number of messages to send after it.
    pub fn work(&mut self) -> u64 {
        self.x = work(self.x, self.asked.work);
        self.worked += 1;
        self.schedule.next().unwrap_or(0)
    }

    /// Returns whether a piece of work is left.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.worked < self.asked.pieces
    }

    /// Returns the next message.
    pub fn supply(&mut self) -> G::Message {
        self.payload.supply()
    }

    /// Counts a message if it was sent.
    pub fn sent(&mut self, whether: bool) {
        self.sent += u64::from(whether);
    }

    /// Accepts a message.
    pub fn accept(&mut self, message: G::Message) {
        self.received += 1;
        self.payload.accept(message);
    }

    /// Returns whether all work is done and all messages of the other side have arrived.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.has_work() && self.received >= self.asked.n
    }
}

/// Totals over the repetitions of an exchange.
#[derive(Debug)]
pub struct Sides<G> {
    asked: Exchange,
    stores: [Option<G>; 2],
    elapsed: Duration,
    sent: u64,
    received: u64,
    sink: u64,
}

impl<G: Payloads> Sides<G> {
    /// Builds the payloads of both sides, before any clock starts.
    pub fn new(asked: Exchange, payload: impl Fn() -> G) -> Self {
        let stores = [Some(payload()), Some(payload())];
        Sides { asked, stores, elapsed: Duration::ZERO, sent: 0, received: 0, sink: 0 }
    }

    /// Returns the two sides of the next repetition. Their payloads are reused in each repetition,
    /// so that building them does not evict the caches. Returns `None` if the previous repetition
    /// has not ended.
    #[must_use]
    pub fn pair(&mut self) -> Option<[Side<G>; 2]> {
        let [one, other] = self.stores.each_mut().map(Option::take);
        Some([Side::new(one?, self.asked), Side::new(other?, self.asked)])
    }

    /// Records the duration of a repetition and takes back its two sides.
    pub fn ended(&mut self, elapsed: Duration, sides: [Side<G>; 2]) {
        self.elapsed += elapsed;
        self.stores = sides.map(|side| {
            self.sent += side.sent;
            self.received += side.received;
            self.sink += side.x;
            Some(side.payload)
        });
    }

    /// Returns the sample over all repetitions.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let stores = || self.stores.iter().flatten();
        Sample::new(self.elapsed, self.asked.n * self.asked.reps, self.sent, self.received)
            .with("sink", self.sink)
            .with("elements", stores().map(G::elements).sum())
            .with("allocated", stores().map(G::allocated).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::verdict;
    use crate::payloads::Copied;
    use crate::run::{Payload, Run};

    #[test]
    fn alternating_sides_report_the_figures_of_the_protocol() {
        let asked = Exchange { n: 7, pieces: 3, work: 5, reps: 2 };
        let mut sides = Sides::new(asked, || Copied::new(4));
        for _ in 0..asked.reps {
            let [mut one, mut other] = sides.pair().unwrap();
            while one.has_work() {
                for _ in 0..one.work() {
                    other.accept(one.supply());
                    one.sent(true);
                }
                assert!(!other.is_done());
                for _ in 0..other.work() {
                    one.accept(other.supply());
                    other.sent(true);
                }
            }
            assert!(one.is_done() && other.is_done());
            assert!(sides.pair().is_none());
            sides.ended(Duration::from_nanos(1), [one, other]);
        }
        let run = Run::MessageSize(Payload { exchange: asked, s: 4 });
        assert_eq!(verdict(&run, &sides.sample().to_json()), Ok(()));
    }
}
