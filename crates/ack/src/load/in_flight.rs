//! In-flight messages of a load connection. Pure: time is an argument.
//!
//! Each connection has one. It verifies every answer: the answer must follow on the previous one
//! and refer to a message that was sent.
//!
//! INVARIANT: each answered message is in the histogram once, with the time from the start of its
//! write to the read of its answer.
//!
//! COST: 24 bytes per write until it is answered; [`Counters::add`] per read of answers.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counters::{Answered, Counters};
use crate::client::Lost;
use crate::client::outbox::NotSent;
use crate::wire::verifier::{AckVerifier, Answer};

/// In-flight messages of one connection.
#[derive(Debug)]
pub(super) struct InFlight {
    verifier: AckVerifier,
    /// First message not yet sent.
    next: u64,
    /// First unanswered message.
    first: u64,
    /// Writes with unanswered messages.
    writes: VecDeque<Write>,
    counters: Arc<Counters>,
}

/// A write of messages up to `end`, exclusive.
#[derive(Clone, Copy, Debug)]
struct Write {
    end: u64,
    at: Instant,
}

impl InFlight {
    /// Continues from the position of `verifier`.
    pub(super) fn new(verifier: AckVerifier, counters: Arc<Counters>) -> Self {
        let next = verifier.newest().map_or(0, |newest| newest + 1);
        Self { verifier, next, first: next, writes: VecDeque::new(), counters }
    }

    /// Returns the first message not yet sent.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the first unanswered message.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Records the start of a write of `messages` messages.
    pub(super) fn begin(&mut self, messages: u64, now: Instant) {
        self.next += messages;
        self.writes.push_back(Write { end: self.next, at: now });
    }

    /// Verifies and counts answers. Returns whether a complete answer was among them.
    pub(super) fn answered(&mut self, mut bytes: &[u8], now: Instant) -> Result<bool, Lost> {
        let before = self.first;
        let mut answered = Answered::default();
        while let Some(answer) = self.verifier.take(&mut bytes)? {
            let id = match answer {
                Answer::Acked { id, .. } => id,
                Answer::Refused(refusal) => {
                    answered.refused += 1;
                    refusal.id
                }
            };
            if id >= self.next {
                return Err(NotSent { id }.into());
            }
            answered.answers += 1;
            self.first = id + 1;
        }
        answered.messages = self.first - before;
        self.counters.add(answered, waits(&mut self.writes, before..self.first, now));
        Ok(answered.answers > 0)
    }
}

/// Iterates over the answered messages as pairs of count and waiting time. Removes fully answered
/// writes.
fn waits(
    writes: &mut VecDeque<Write>,
    mut answered: Range<u64>,
    now: Instant,
) -> impl Iterator<Item = (u64, Duration)> {
    std::iter::from_fn(move || {
        if answered.is_empty() {
            return None;
        }
        let &Write { end, at } = writes.front()?;
        let count = answered.end.min(end) - answered.start;
        answered.start += count;
        if answered.start == end {
            writes.pop_front();
        }
        Some((count, now.saturating_duration_since(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ack, Id};

    #[test]
    fn waiting_time_starts_at_the_write_of_the_message() {
        // WHY the clock: an `Instant` cannot be constructed otherwise; only differences matter.
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let writes = [(3, 0), (6, 10), (9, 20)].map(|(end, millis)| Write { end, at: at(millis) });
        let mut writes = VecDeque::from(writes);
        let mut waits = |answered, millis| {
            let waits = waits(&mut writes, answered, at(millis));
            waits.map(|(count, wait)| (count, wait.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(waits(0..2, 5), [(2, 5)]);
        assert_eq!(waits(2..7, 30), [(1, 30), (3, 20), (1, 10)]);
        assert_eq!(waits(7..7, 40), []);
        assert_eq!(waits(7..9, 50), [(2, 30)]);
        assert!(writes.is_empty());
    }

    #[test]
    fn answer_to_unsent_message_is_an_error() {
        // WHY: as above.
        let now = Instant::now();
        let mut in_flight = InFlight::new(AckVerifier::acks(), Arc::new(Counters::new()));
        in_flight.begin(50, now);
        let ack = |id: u64, skipped| Ack { id: Id::from(id), skipped }.to_bytes();
        let fifty = ack(49, 49);
        assert!(!in_flight.answered(&fifty[..5], now).unwrap());
        assert!(in_flight.answered(&fifty[5..], now).unwrap());
        assert_eq!((in_flight.first(), in_flight.next()), (50, 50));
        let lost = in_flight.answered(&ack(50, 0), now).unwrap_err().to_string();
        assert_eq!(lost, "the server answered message 50, which has not been sent");
        assert_eq!(in_flight.counters.answered().messages, 50);
    }
}
